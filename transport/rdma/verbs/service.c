// SPDX-License-Identifier: BSD-2-Clause
// Service ids of InfiniBand's connection manager, by librdmacm's address family AF_IB: no IP
// address is needed, nor IPoIB. The private data of a request is the peer's from its first byte on;
// the kernel delivers it if that cannot be a header of RDMA-CM (IBA volume 1, annex A11): the first
// byte is 0, the upper half of the second neither 4 nor 6. RoCE has no such requests.
#include <endian.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <string.h>

#include "transport/rdma/verbs/priv.h"

const struct verbs_cm_ops verbs_cm_system = {
	.create_id = rdma_create_id,
	.bind_addr = rdma_bind_addr,
	.listen = rdma_listen,
	.destroy_id = rdma_destroy_id,
};

static int service_error(struct err *e, uint64_t service, int error)
{
	static const struct {
		int error, code;
		const char *text;
	} rows[] = {
		{EADDRINUSE,	      -EADDRINUSE, "already in use"				    },
		{ EADDRNOTAVAIL,	 -EADDRINUSE, "already in use"				       },
		{ ENODEV,	  -ENODEV,	   "no RDMA device"				    },
		{ EINVAL,	  -EOPNOTSUPP, "the kernel or librdmacm does not support AF_IB"},
		{ EAFNOSUPPORT,	-EOPNOTSUPP, "the kernel or librdmacm does not support AF_IB"},
		{ EPROTONOSUPPORT, -EOPNOTSUPP, "the kernel or librdmacm does not support AF_IB"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].error == error)
			return err_set(e, rows[i].code, "service id %016llx: listen: %s",
				       (unsigned long long)service, rows[i].text);
	return err_errno(e, -error, "service id %016llx: listen", (unsigned long long)service);
}

int verbs_service_open(const struct verbs_cm_ops *cm, struct rdma_cm_id **ret,
		       struct rdma_event_channel *channel, void *context, uint16_t port,
		       int backlog, struct err *e)
{
	uint64_t service = rnic_service_id(port);
	struct sockaddr_ib any = { .sib_family = AF_IB,
				   .sib_sid = htobe64(service),
				   .sib_sid_mask = UINT64_MAX };
	struct rdma_cm_id *id;

	if (cm->create_id(channel, &id, context, RDMA_PS_IB) < 0)
		return service_error(e, service, errno);
	if (cm->bind_addr(id, (struct sockaddr *)&any) == 0 && cm->listen(id, backlog) == 0) {
		*ret = id;
		return 0;
	}
	int error = errno;
	cm->destroy_id(id);
	return service_error(e, service, error);
}

bool verbs_id_is_service(struct rdma_cm_id *id)
{
	return rdma_get_local_addr(id)->sa_family == AF_IB;
}

void verbs_addr_read(struct tcp_addr *ret, const struct sockaddr *sa)
{
	struct sockaddr_ib ib;

	tcp_addr_from_sockaddr(ret, sa, sizeof(struct sockaddr_in6));
	if (sa->sa_family != AF_IB)
		return;
	memcpy(&ib, sa, sizeof ib);
	ret->in6.sin6_family = AF_INET6;
	ret->in6.sin6_port = htons((uint16_t)be64toh(ib.sib_sid));
	memcpy(&ret->in6.sin6_addr, &ib.sib_addr, sizeof ret->in6.sin6_addr);
}
