// SPDX-License-Identifier: BSD-2-Clause
// See netlink.h. mnl_cb_run() over a whole answer would end at a message of another sequence
// number, so that each message is looked at alone.
#include "initiator/netlink/netlink.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

enum { ANSWER_MAX = 32768 }; // the kernel makes no longer part of a list

// ---- messages ----

void netlink_begin(struct netlink_message *m, uint16_t type, uint16_t flags, const void *fixed,
		   size_t len)
{
	memset(m->bytes, 0, sizeof m->bytes); // libmnl 1.0.4 pads attributes with what is there
	mnl_nlmsg_put_header(m->bytes);
	m->header.nlmsg_type = type;
	m->header.nlmsg_flags = flags | NLM_F_REQUEST;
	m->is_too_long = len > NETLINK_BYTES_MAX - MNL_NLMSG_HDRLEN;
	if (len && !m->is_too_long)
		memcpy(mnl_nlmsg_put_extra_header(&m->header, len), fixed, len);
}

void netlink_put(struct netlink_message *m, uint16_t type, const void *data, size_t len)
{
	m->is_too_long |= len > sizeof m->bytes ||
			  !mnl_attr_put_check(&m->header, sizeof m->bytes, type, len, data);
}

void netlink_put_u32(struct netlink_message *m, uint16_t type, uint32_t value)
{
	m->is_too_long |= !mnl_attr_put_u32_check(&m->header, sizeof m->bytes, type, value);
}

void netlink_put_u64(struct netlink_message *m, uint16_t type, uint64_t value)
{
	m->is_too_long |= !mnl_attr_put_u64_check(&m->header, sizeof m->bytes, type, value);
}

void netlink_put_text(struct netlink_message *m, uint16_t type, const char *text)
{
	m->is_too_long |= !mnl_attr_put_strz_check(&m->header, sizeof m->bytes, type, text);
}

struct nlattr *netlink_nest(struct netlink_message *m, uint16_t type)
{
	struct nlattr *nest = mnl_attr_nest_start_check(&m->header, sizeof m->bytes, type);
	m->is_too_long |= !nest;
	return nest;
}

void netlink_nest_end(struct netlink_message *m, struct nlattr *nest)
{
	if (nest)
		mnl_attr_nest_end(&m->header, nest);
}

// ---- attributes ----

static const struct nlattr *search(const void *at, size_t len, uint16_t type)
{
	const struct nlattr *attr;
	mnl_attr_for_each_payload (at, len)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

const struct nlattr *netlink_attribute(const struct nlmsghdr *m, size_t fixed, uint16_t type)
{
	size_t len = mnl_nlmsg_get_payload_len(m);
	if (len < MNL_ALIGN(fixed))
		return NULL;
	return search(mnl_nlmsg_get_payload_offset(m, fixed), len - MNL_ALIGN(fixed), type);
}

const struct nlattr *netlink_nested(const struct nlattr *nest, uint16_t type)
{
	if (!nest)
		return NULL;
	return search(mnl_attr_get_payload(nest), mnl_attr_get_payload_len(nest), type);
}

bool netlink_value(const struct nlattr *a, void *ret, size_t len)
{
	if (!a || mnl_attr_get_payload_len(a) != len)
		return false;
	memcpy(ret, mnl_attr_get_payload(a), len);
	return true;
}

// ---- answers ----

// libmnl 1.0.4 and 1.0.5 take a length of 2 GiB and more for a negative one.
static bool is_whole(const struct nlmsghdr *m, int len)
{
	return mnl_nlmsg_ok(m, len) && m->nlmsg_len <= (unsigned)len;
}

// 1: more follow, else the verdict. A list that something has changed meanwhile, which libmnl
// refuses, is taken: the notice of the change has the caller look again.
static int judge(const struct netlink *n, struct nlmsghdr *m, mnl_cb_t found, void *arg)
{
	if (m->nlmsg_seq != n->sequence)
		return 1;
	m->nlmsg_flags &= (uint16_t)~NLM_F_DUMP_INTR;
	int r = mnl_cb_run(m, m->nlmsg_len, n->sequence, 0, found, arg);
	return r >= 0 ? r : errno > 0 ? -errno : -EBADMSG;
}

// Likewise. Lost notices (-ENOBUFS) are not missed; -ENOSPC: the answer is too long.
static int receive(const struct netlink *n, mnl_cb_t found, void *arg)
{
	_Alignas(8) uint8_t answer[ANSWER_MAX];
	ssize_t got;
	int r;
	do
		got = mnl_socket_recvfrom(n->socket, answer, sizeof answer);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == ENOBUFS ? 1 : errno == ENOSPC ? -EBADMSG : -errno;
	int len = (int)got;
	struct nlmsghdr *m = (struct nlmsghdr *)answer;
	do {
		if (!is_whole(m, len))
			return -EBADMSG;
		r = judge(n, m, found, arg);
		m = mnl_nlmsg_next(m, &len);
	} while (r > 0 && len >= (int)sizeof *m);
	return r;
}

int netlink_do(struct netlink *n, struct netlink_message *m, mnl_cb_t found, void *arg)
{
	int r;
	if (m->is_too_long)
		return -EMSGSIZE;
	m->header.nlmsg_seq = ++n->sequence;
	if ((m->header.nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP) // its bits have other names, too
		m->header.nlmsg_flags |= NLM_F_ACK;
	if (mnl_socket_sendto(n->socket, m->bytes, m->header.nlmsg_len) < 0)
		return -errno;
	do
		r = receive(n, found, arg);
	while (r > 0);
	return r;
}

void netlink_drain(struct netlink *n)
{
	uint8_t ignored[64];
	while (recv(mnl_socket_get_fd(n->socket), ignored, sizeof ignored, MSG_DONTWAIT) >= 0 ||
	       errno == ENOBUFS)
		;
}

// ---- life ----

int netlink_open(struct netlink *n, int bus, unsigned groups, unsigned patience)
{
	struct timeval limit = { .tv_sec = patience };
	*n = (struct netlink){ .socket = mnl_socket_open2(bus, SOCK_CLOEXEC) };
	if (!n->socket)
		return -errno;
	if (setsockopt(mnl_socket_get_fd(n->socket), SOL_SOCKET, SO_RCVTIMEO, &limit,
		       sizeof limit) < 0 ||
	    mnl_socket_bind(n->socket, groups, MNL_SOCKET_AUTOPID) < 0) {
		int r = -errno;
		netlink_close(n);
		return r;
	}
	return 0;
}

void netlink_close(struct netlink *n)
{
	mnl_socket_close(n->socket);
}
