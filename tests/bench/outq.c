// SPDX-License-Identifier: BSD-2-Clause
// The way out: PDUs queue up while a batch of answers is worked off and leave
// together in as few sendmsg calls as the socket allows.
#include "load.h"

#include <errno.h>
#include <isa-l/crc.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { IOV_MAX_OUT = 512 };

// CRC32C as RFC 7143 §13.1 puts it on the wire, read as little endian.
uint32_t digest(const uint8_t *data, uint32_t len)
{
	return ~crc32_iscsi((unsigned char *)data, (int)len, 0xffffffffu);
}

struct out_pdu *out_add(struct session *s)
{
	struct out_pdu *pdu;

	if (s->out_tail - s->out_head == s->out_size)
		die("more PDUs to send than commands allow");
	pdu = &s->out[s->out_tail++ & (s->out_size - 1)];
	memset(pdu->head, 0, BHS_LEN);
	pdu->head_len = BHS_LEN;
	pdu->data_len = pdu->tail_len = 0;
	return pdu;
}

// The header is complete: adds what was negotiated about digests.
void out_seal(struct session *s, struct out_pdu *pdu)
{
	uint32_t crc;

	put24(pdu->head + AT_DATA_LEN, pdu->data_len);
	if (s->has_header_digest) {
		crc = htole32(digest(pdu->head, BHS_LEN));
		memcpy(pdu->head + BHS_LEN, &crc, DIGEST_LEN);
		pdu->head_len = BHS_LEN + DIGEST_LEN;
	}
	if (s->has_data_digest && pdu->data_len) {
		crc = htole32(digest(pdu->data, pdu->data_len));
		memcpy(pdu->tail, &crc, DIGEST_LEN);
		pdu->tail_len = DIGEST_LEN;
	}
}

static int iov_part(struct iovec *iov, const uint8_t *base, size_t len, size_t *skip)
{
	size_t off = *skip < len ? *skip : len;

	*skip -= off;
	if (off == len)
		return 0;
	iov->iov_base = (void *)(base + off);
	iov->iov_len = len - off;
	return 1;
}

static int iov_fill(const struct session *s, struct iovec *iov, size_t *ret_bytes)
{
	size_t skip = s->out_done, bytes = 0;
	int n = 0;

	for (uint32_t i = s->out_head; i != s->out_tail && n + 3 <= IOV_MAX_OUT; i++) {
		const struct out_pdu *pdu = &s->out[i & (s->out_size - 1)];

		n += iov_part(iov + n, pdu->head, pdu->head_len, &skip);
		n += iov_part(iov + n, pdu->data, pdu->data_len, &skip);
		n += iov_part(iov + n, pdu->tail, pdu->tail_len, &skip);
	}
	for (int i = 0; i < n; i++)
		bytes += iov[i].iov_len;
	*ret_bytes = bytes;
	return n;
}

static void drop_sent(struct session *s, size_t sent)
{
	s->out_done += sent;
	while (!out_is_empty(s)) {
		const struct out_pdu *pdu = &s->out[s->out_head & (s->out_size - 1)];
		size_t len = pdu->head_len + pdu->data_len + pdu->tail_len;

		if (s->out_done < len)
			break;
		s->out_done -= len;
		s->out_head++;
	}
}

bool out_flush(struct load *l, struct session *s)
{
	struct iovec iov[IOV_MAX_OUT];
	struct msghdr msg = { .msg_iov = iov };
	size_t bytes;

	while (!out_is_empty(s)) {
		ssize_t sent;

		msg.msg_iovlen = (size_t)iov_fill(s, iov, &bytes);
		sent = sendmsg(s->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
		l->tx_calls++;
		if (sent < 0 && errno == EAGAIN)
			return true;
		if (sent < 0)
			die("session %u: send: %s", s->index, strerror(errno));
		drop_sent(s, (size_t)sent);
		if ((size_t)sent < bytes)
			return true;
	}
	return false;
}
