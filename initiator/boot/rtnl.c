// SPDX-License-Identifier: BSD-2-Clause
// See rtnl.h.
#include "initiator/boot/rtnl.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { ANSWER_MAX = 65536, PATIENCE = 30 }; // bytes, seconds

// ---- messages ----

static void append(struct rtnl_message *m, const void *data, size_t len)
{
	size_t padded = NLMSG_ALIGN(len);
	if (m->len > RTNL_BYTES_MAX || padded > RTNL_BYTES_MAX - m->len) {
		m->len = RTNL_BYTES_MAX + 1;
		return;
	}
	memset(m->bytes + m->len, 0, padded);
	if (len)
		memcpy(m->bytes + m->len, data, len);
	m->len += padded;
}

void rtnl_begin(struct rtnl_message *m, uint16_t type, uint16_t flags, const void *fixed,
		size_t len)
{
	struct nlmsghdr header = { .nlmsg_type = type, .nlmsg_flags = flags | NLM_F_REQUEST };
	m->len = 0;
	append(m, &header, sizeof header);
	append(m, fixed, len);
}

void rtnl_put(struct rtnl_message *m, uint16_t type, const void *data, size_t len)
{
	struct rtattr header = { .rta_len = (uint16_t)(sizeof header + len), .rta_type = type };
	append(m, &header, sizeof header);
	append(m, data, len);
}

void rtnl_put_u32(struct rtnl_message *m, uint16_t type, uint32_t value)
{
	rtnl_put(m, type, &value, sizeof value);
}

size_t rtnl_nest(struct rtnl_message *m, uint16_t type)
{
	size_t at = m->len;
	rtnl_put(m, type, NULL, 0);
	return at;
}

void rtnl_nest_end(struct rtnl_message *m, size_t at)
{
	uint16_t len = (uint16_t)(m->len - at);
	if (m->len <= RTNL_BYTES_MAX)
		memcpy(m->bytes + at + offsetof(struct rtattr, rta_len), &len, sizeof len);
}

const uint8_t *rtnl_attribute(const uint8_t *at, size_t len, uint16_t type, size_t *ret_len)
{
	struct rtattr a;
	while (len >= sizeof a) {
		memcpy(&a, at, sizeof a);
		if (a.rta_len < sizeof a || a.rta_len > len)
			break;
		if ((a.rta_type & NLA_TYPE_MASK) == type) {
			*ret_len = a.rta_len - sizeof a;
			return at + sizeof a;
		}
		size_t step = RTA_ALIGN(a.rta_len);
		if (step > len)
			break;
		at += step;
		len -= step;
	}
	return NULL;
}

// ---- answers ----

// 1: more follow, else the verdict.
static int judge(const struct rtnl *r, const uint8_t *at, size_t len, rtnl_found *found, void *arg)
{
	struct nlmsghdr header;
	int32_t code;
	memcpy(&header, at, sizeof header);
	at += NLMSG_HDRLEN;
	len -= NLMSG_HDRLEN;
	if (header.nlmsg_seq != r->sequence)
		return 1; // a notice
	if (header.nlmsg_type == NLMSG_DONE)
		return 0;
	if (header.nlmsg_type == NLMSG_ERROR) {
		if (len < sizeof code)
			return -EBADMSG;
		memcpy(&code, at, sizeof code);
		return code > 0 ? -EBADMSG : code;
	}
	if (found)
		found(arg, header.nlmsg_type, at, len);
	return 1;
}

static int receive(struct rtnl *r, rtnl_found *found, void *arg)
{
	static _Alignas(8) uint8_t answer[ANSWER_MAX];
	ssize_t got;
	do
		got = recv(r->fd, answer, sizeof answer, 0);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return got < 0 ? errno == ENOBUFS ? 1 : -errno : -EBADMSG;
	size_t len = (size_t)got;
	for (size_t at = 0; len - at >= NLMSG_HDRLEN;) {
		struct nlmsghdr header;
		memcpy(&header, answer + at, sizeof header);
		if (header.nlmsg_len < NLMSG_HDRLEN || header.nlmsg_len > len - at)
			return -EBADMSG;
		int verdict = judge(r, answer + at, header.nlmsg_len, found, arg);
		if (verdict <= 0)
			return verdict;
		size_t step = NLMSG_ALIGN(header.nlmsg_len);
		if (step > len - at)
			break;
		at += step;
	}
	return 1;
}

int rtnl_do(struct rtnl *r, struct rtnl_message *m, rtnl_found *found, void *arg)
{
	struct nlmsghdr header;
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	int verdict;
	if (m->len > RTNL_BYTES_MAX)
		return -EMSGSIZE;
	memcpy(&header, m->bytes, sizeof header);
	header.nlmsg_len = (uint32_t)m->len;
	header.nlmsg_seq = ++r->sequence;
	if ((header.nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP) // its bits have other names, too
		header.nlmsg_flags |= NLM_F_ACK;
	memcpy(m->bytes, &header, sizeof header);
	if (sendto(r->fd, m->bytes, m->len, 0, (struct sockaddr *)&kernel, sizeof kernel) < 0)
		return -errno;
	do
		verdict = receive(r, found, arg);
	while (verdict > 0);
	return verdict;
}

void rtnl_drain(struct rtnl *r)
{
	uint8_t ignored[64];
	while (recv(r->fd, ignored, sizeof ignored, MSG_DONTWAIT) >= 0 || errno == ENOBUFS)
		;
}

// ---- life ----

int rtnl_open(struct rtnl *r, uint32_t groups)
{
	struct timeval patience = { .tv_sec = PATIENCE };
	struct sockaddr_nl own = { .nl_family = AF_NETLINK, .nl_groups = groups };
	*r = (struct rtnl){ .fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE) };
	if (r->fd < 0)
		return -errno;
	setsockopt(r->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	if (bind(r->fd, (struct sockaddr *)&own, sizeof own) < 0) {
		int code = -errno;
		close(r->fd);
		return code;
	}
	return 0;
}

void rtnl_close(struct rtnl *r)
{
	close(r->fd);
}
