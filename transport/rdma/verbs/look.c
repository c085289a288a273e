// SPDX-License-Identifier: BSD-2-Clause
// Detects devices removed without an event. `rdma link del` waits in the kernel until programs
// close the device, and rxe and siw raise no event before that: so the sysfs node of each open
// device is checked periodically. Any thread, under the lock of the list.
//
// librdmacm opens a device for the first cm id on it and never closes it while it is the only
// device, even if it was removed. So its descriptors are replaced by /dev/null, which closes them
// for the kernel; the context remains librdmacm's. A cm id bound to the device keeps librdmacm from
// freeing the context earlier.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transport/rdma/verbs/look.h"
#include "transport/rdma/verbs/priv.h"

static bool node_find(struct verbs_node *ret, const char *folder, const char *name)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	if (stat(path, &st) < 0)
		return false;
	*ret = (struct verbs_node){ .dev = st.st_dev, .ino = st.st_ino };
	return true;
}

// Another device may have the name meanwhile.
static bool is_there(const struct verbs_look *l, const struct verbs_open *o)
{
	struct verbs_node now;

	return !o->has_node || (node_find(&now, l->ops->folder, o->context->device->dev_name) &&
				now.dev == o->node.dev && now.ino == o->node.ino);
}

void verbs_look_init(struct verbs_look *l, const struct verbs_look_ops *ops)
{
	pthread_mutex_init(&l->lock, NULL);
	list_init(&l->open);
	l->ops = ops;
}

static struct verbs_open *find(struct verbs_look *l, const struct ibv_context *context)
{
	list_for_each (it, &l->open) {
		struct verbs_open *o = list_entry(it, struct verbs_open, link);
		if (o->context == context)
			return o;
	}
	return NULL;
}

static void let_go(struct verbs_look *l, struct verbs_open *o)
{
	if (!l->ops->let_go(o))
		return; // the next check tries again
	list_remove(&o->link);
	free(o);
}

static int add(struct verbs_look *l, struct verbs_open **ret, struct rdma_cm_id *id)
{
	struct verbs_open *o = calloc(1, sizeof *o);

	if (!o)
		return -ENOMEM;
	o->context = id->verbs;
	o->has_node = node_find(&o->node, l->ops->folder, id->verbs->device->dev_name);
	if (!o->has_node && access(l->ops->folder, F_OK) == 0) {
		free(o);
		return -ENODEV;
	}
	o->pin = l->ops->pin(id);
	list_push_back(&l->open, &o->link);
	*ret = o;
	return 0;
}

int verbs_look_use(struct verbs_look *l, struct verbs_open **ret, struct rdma_cm_id *id)
{
	int r = 0;

	pthread_mutex_lock(&l->lock);
	*ret = find(l, id->verbs);
	if (!*ret)
		r = add(l, ret, id);
	else if ((*ret)->is_gone)
		r = -ENODEV;
	if (r == 0)
		(*ret)->is_used = true;
	pthread_mutex_unlock(&l->lock);
	return r;
}

void verbs_look_unuse(struct verbs_look *l, struct verbs_open *o)
{
	pthread_mutex_lock(&l->lock);
	o->is_used = false;
	if (o->is_gone || !o->pin)
		let_go(l, o);
	pthread_mutex_unlock(&l->lock);
}

void verbs_look(struct verbs_look *l)
{
	pthread_mutex_lock(&l->lock);
	list_for_each_safe (it, &l->open) {
		struct verbs_open *o = list_entry(it, struct verbs_open, link);
		if (!o->is_gone && !is_there(l, o))
			__atomic_store_n(&o->is_gone, true, __ATOMIC_RELEASE);
		if (o->is_gone && !o->is_used)
			let_go(l, o);
	}
	pthread_mutex_unlock(&l->lock);
}

bool verbs_open_is_gone(const struct verbs_open *o)
{
	return __atomic_load_n(&o->is_gone, __ATOMIC_ACQUIRE);
}

// --- librdmacm's side ---

// An id at the same address, without a port. NULL: it resolved to another device.
static struct rdma_cm_id *pin(struct rdma_cm_id *id)
{
	struct rdma_cm_id *ret = NULL;
	struct tcp_addr addr;

	tcp_addr_from_sockaddr(&addr, rdma_get_local_addr(id), sizeof(struct sockaddr_in6));
	tcp_addr_set_port(&addr, 0);
	if (rdma_create_id(NULL, &ret, NULL, RDMA_PS_TCP) < 0)
		return NULL;
	if (rdma_bind_addr(ret, &addr.sa) == 0 && ret->verbs == id->verbs)
		return ret;
	rdma_destroy_id(ret);
	return NULL;
}

static bool release(struct verbs_open *o)
{
	if (o->is_gone) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (null < 0)
			return !o->pin; // without it the context may be freed before the next check
		dup3(null, o->context->cmd_fd, O_CLOEXEC);
		dup3(null, o->context->async_fd, O_CLOEXEC);
		close(null);
	}
	if (o->pin)
		rdma_destroy_id(o->pin);
	return true;
}

const struct verbs_look_ops verbs_look_system = {
	.folder = "/sys/class/infiniband_verbs",
	.pin = pin,
	.let_go = release,
};
