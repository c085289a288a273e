// SPDX-License-Identifier: BSD-2-Clause
// Generic netlink. The program's thread.
#include "initiator/attach/nbd/genl.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { ANSWER_MAX = 8192, PATIENCE = 60 };

// ---- messages ----

static uint8_t *reserve(struct genl_message *m, uint32_t len)
{
	uint32_t at = m->len, padded = NLA_ALIGN(len);

	if (at > GENL_BYTES_MAX || padded > GENL_BYTES_MAX - at) {
		m->len = GENL_BYTES_MAX + 1;
		return NULL;
	}
	memset(m->bytes + at, 0, padded);
	m->len += padded;
	return m->bytes + at;
}

void genl_begin(struct genl_message *m, const struct genl *g, uint8_t command)
{
	struct nlmsghdr header = {
		.nlmsg_type = g->family,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
	};
	struct genlmsghdr second = { .cmd = command, .version = 1 };

	m->len = 0;
	memcpy(reserve(m, sizeof header), &header, sizeof header);
	memcpy(reserve(m, sizeof second), &second, sizeof second);
}

void genl_put(struct genl_message *m, uint16_t type, const void *data, uint16_t len)
{
	struct nlattr header = { .nla_len = (uint16_t)(sizeof header + len), .nla_type = type };
	uint8_t *to = reserve(m, sizeof header + (uint32_t)len);

	if (!to)
		return;
	memcpy(to, &header, sizeof header);
	if (len)
		memcpy(to + sizeof header, data, len);
}

void genl_put_u32(struct genl_message *m, uint16_t type, uint32_t value)
{
	genl_put(m, type, &value, sizeof value);
}

void genl_put_u64(struct genl_message *m, uint16_t type, uint64_t value)
{
	genl_put(m, type, &value, sizeof value);
}

void genl_put_text(struct genl_message *m, uint16_t type, const char *text)
{
	size_t len = strlen(text) + 1;

	genl_put(m, type, text, len < GENL_BYTES_MAX ? (uint16_t)len : GENL_BYTES_MAX);
}

uint32_t genl_nest(struct genl_message *m, uint16_t type)
{
	uint32_t at = m->len;

	genl_put(m, type | NLA_F_NESTED, NULL, 0);
	return at;
}

void genl_nest_end(struct genl_message *m, uint32_t at)
{
	uint16_t len = (uint16_t)(m->len - at);

	if (m->len <= GENL_BYTES_MAX)
		memcpy(m->bytes + at + offsetof(struct nlattr, nla_len), &len, sizeof len);
}

// ---- answers ----

static void take(const uint8_t *at, size_t len, const struct genl_wanted *wanted)
{
	struct nlattr a;

	while (len >= sizeof a) {
		memcpy(&a, at, sizeof a);
		if (a.nla_len < sizeof a || a.nla_len > len)
			return;
		if ((a.nla_type & NLA_TYPE_MASK) == wanted->type &&
		    a.nla_len - sizeof a == wanted->len)
			memcpy(wanted->value, at + sizeof a, wanted->len);
		size_t step = NLA_ALIGN(a.nla_len);
		if (step > len)
			return;
		at += step;
		len -= step;
	}
}

// One message of an answer of len bytes. 1: more follow, else the verdict.
static int judge(const struct genl *g, const uint8_t *at, size_t len,
		 const struct genl_wanted *wanted)
{
	struct nlmsghdr header;
	int32_t code;

	memcpy(&header, at, sizeof header);
	at += NLMSG_HDRLEN;
	len -= NLMSG_HDRLEN;
	if (header.nlmsg_seq != g->sequence)
		return 1; // of an earlier request
	if (header.nlmsg_type == NLMSG_ERROR) {
		if (len < sizeof code)
			return -EBADMSG;
		memcpy(&code, at, sizeof code);
		return code > 0 ? -EBADMSG : code;
	}
	if (wanted && len >= GENL_HDRLEN)
		take(at + GENL_HDRLEN, len - GENL_HDRLEN, wanted);
	return 1;
}

static int receive(struct genl *g, const struct genl_wanted *wanted)
{
	_Alignas(8) uint8_t answer[ANSWER_MAX];
	ssize_t got;

	do
		got = recv(g->fd, answer, sizeof answer, 0);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return got < 0 ? -errno : -EBADMSG;
	size_t len = (size_t)got;
	for (size_t at = 0; len - at >= NLMSG_HDRLEN;) {
		struct nlmsghdr header;
		memcpy(&header, answer + at, sizeof header);
		if (header.nlmsg_len < NLMSG_HDRLEN || header.nlmsg_len > len - at)
			return -EBADMSG;
		int r = judge(g, answer + at, header.nlmsg_len, wanted);
		if (r <= 0)
			return r;
		size_t step = NLMSG_ALIGN(header.nlmsg_len);
		if (step > len - at)
			break;
		at += step;
	}
	return 1;
}

int genl_do(struct genl *g, struct genl_message *m, const struct genl_wanted *wanted)
{
	struct nlmsghdr *header = (struct nlmsghdr *)m->bytes;
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	if (m->len > GENL_BYTES_MAX)
		return -EMSGSIZE;
	header->nlmsg_len = m->len;
	header->nlmsg_seq = ++g->sequence;
	if (sendto(g->fd, m->bytes, m->len, 0, (struct sockaddr *)&kernel, sizeof kernel) < 0)
		return -errno;
	int r;
	do
		r = receive(g, wanted);
	while (r > 0);
	return r;
}

// ---- life ----

static int find_family(struct genl *g, const char *family)
{
	struct genl_message m;
	uint16_t found = 0;
	struct genl_wanted wanted = { CTRL_ATTR_FAMILY_ID, sizeof found, &found };

	g->family = GENL_ID_CTRL;
	genl_begin(&m, g, CTRL_CMD_GETFAMILY);
	genl_put_text(&m, CTRL_ATTR_FAMILY_NAME, family);
	int r = genl_do(g, &m, &wanted);
	g->family = found;
	return !r && !found ? -EBADMSG : r;
}

int genl_open(struct genl *g, const char *family)
{
	struct timeval patience = { .tv_sec = PATIENCE };

	*g = (struct genl){ .fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC) };
	if (g->fd < 0)
		return -errno;
	setsockopt(g->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	int r = find_family(g, family);
	if (r < 0)
		close(g->fd);
	return r;
}

void genl_close(struct genl *g)
{
	close(g->fd);
}
