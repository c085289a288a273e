// SPDX-License-Identifier: BSD-2-Clause
// Preloaded into ibsrpdm and srp_daemon, for what ibsim does not simulate:
//
// - They open a device of libibverbs for the traps of a subnet manager even if they look only once,
//   and ibsim has datagrams alone. This device has one partition and receives nothing.
// - They send requests of device management as the agent of the subnet administrator's class, whose
//   number in the transaction id brings the replies to them; the simulator's libumad2sim goes by
//   the class of the reply. So they are the agent of both classes.
// - They read which targets are connected from /sys/class/scsi_host, which a machine may not have:
//   then no target is connected.
#include <dirent.h>
#include <dlfcn.h>
#include <infiniband/umad.h>
#include <infiniband/verbs.h>
#include <stddef.h>
#include <string.h>

#undef ibv_query_port
#undef ibv_reg_mr
enum { DEVICE_MANAGEMENT = 6 };
#define FAKE __attribute__((visibility("default")))

static struct ibv_device device = { .name = "ibsim0", .dev_name = "ibsim0" };
static struct ibv_device *devices[] = { &device, NULL };
static struct ibv_context context = { .device = &device };
static struct ibv_comp_channel channel = { .context = &context };
static struct ibv_pd pd = { .context = &context };
static struct ibv_cq cq = { .context = &context };
static struct ibv_qp qp = { .context = &context, .qp_num = 2 };
static struct ibv_ah ah = { .context = &context };
static struct ibv_mr mr = { .context = &context };

static int post_recv(struct ibv_qp *q, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return 0;
}

static int req_notify_cq(struct ibv_cq *q, int is_solicited)
{
	return 0;
}

FAKE int umad_register(int fd, int class, int version, uint8_t rmpp,
		       long methods[16 / sizeof(long)])
{
	int (*real)(int, int, int, uint8_t, long *) =
		(int (*)(int, int, int, uint8_t, long *))dlsym(RTLD_NEXT, "umad_register");
	int agent = real(fd, class, version, rmpp, methods);

	real(fd, DEVICE_MANAGEMENT, 1, 0, NULL);
	return agent;
}

FAKE DIR *opendir(const char *path)
{
	DIR *(*real)(const char *) = (DIR * (*)(const char *)) dlsym(RTLD_NEXT, "opendir");
	DIR *found = real(path);

	return !found && strstr(path, "/scsi_host") ? real("no-scsi-host") : found;
}

FAKE struct ibv_device **ibv_get_device_list(int *count)
{
	if (count)
		*count = 1;
	return devices;
}

FAKE void ibv_free_device_list(struct ibv_device **list)
{
}

FAKE const char *ibv_get_device_name(struct ibv_device *d)
{
	return d->name;
}

FAKE struct ibv_context *ibv_open_device(struct ibv_device *d)
{
	context.ops.post_recv = post_recv;
	context.ops.req_notify_cq = req_notify_cq;
	return &context;
}

FAKE struct ibv_pd *ibv_alloc_pd(struct ibv_context *c)
{
	return &pd;
}

FAKE struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *c)
{
	return &channel;
}

FAKE struct ibv_cq *ibv_create_cq(struct ibv_context *c, int depth, void *arg,
				  struct ibv_comp_channel *ch, int vector)
{
	return &cq;
}

FAKE struct ibv_mr *ibv_reg_mr(struct ibv_pd *p, void *addr, size_t len, int access)
{
	return &mr;
}

FAKE struct ibv_qp *ibv_create_qp(struct ibv_pd *p, struct ibv_qp_init_attr *attr)
{
	return &qp;
}

FAKE struct ibv_ah *ibv_create_ah(struct ibv_pd *p, struct ibv_ah_attr *attr)
{
	return &ah;
}

FAKE int ibv_modify_qp(struct ibv_qp *q, struct ibv_qp_attr *attr, int mask)
{
	return 0;
}

FAKE int ibv_query_port(struct ibv_context *c, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	struct ibv_port_attr *a = (struct ibv_port_attr *)attr;

	memset(attr, 0, offsetof(struct ibv_port_attr, port_cap_flags2));
	a->state = IBV_PORT_ACTIVE;
	return 0;
}

FAKE int ibv_query_pkey(struct ibv_context *c, uint8_t port, int index, __be16 *pkey)
{
	*pkey = 0xffff;
	return index ? -1 : 0;
}

FAKE int ibv_get_pkey_index(struct ibv_context *c, uint8_t port, __be16 pkey)
{
	return 0;
}

FAKE int ibv_close_device(struct ibv_context *c)
{
	return 0;
}

FAKE int ibv_dealloc_pd(struct ibv_pd *p)
{
	return 0;
}

FAKE int ibv_destroy_comp_channel(struct ibv_comp_channel *ch)
{
	return 0;
}

FAKE int ibv_destroy_cq(struct ibv_cq *q)
{
	return 0;
}

FAKE int ibv_dereg_mr(struct ibv_mr *m)
{
	return 0;
}

FAKE int ibv_destroy_qp(struct ibv_qp *q)
{
	return 0;
}

FAKE int ibv_destroy_ah(struct ibv_ah *a)
{
	return 0;
}
