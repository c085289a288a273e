// SPDX-License-Identifier: BSD-2-Clause
// What happens before the clock starts: connect, log in without authentication
// (RFC 7143 §6.3), single commands one at a time, logout. Blocking.
#include "load.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { TEXT_MAX = 8192, PEER_WAIT_SECONDS = 20 };

struct pdu {
	uint8_t h[BHS_LEN];
	uint32_t len;
	uint8_t data[65536 + 4];
};

int session_connect(const struct options *opt)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	struct timeval wait = { .tv_sec = PEER_WAIT_SECONDS };
	int fd, one = 1;

	if (getaddrinfo(opt->host, opt->port, &hints, &list))
		die("%s: no such host", opt->host);
	fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, list->ai_addr, list->ai_addrlen))
		die("connect %s:%s: %s", opt->host, opt->port, strerror(errno));
	freeaddrinfo(list);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	return fd;
}

static void send_all(int fd, const void *data, size_t len)
{
	for (const uint8_t *p = data; len;) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n <= 0)
			die("send: %s", strerror(errno));
		p += n;
		len -= (size_t)n;
	}
}

static void receive_all(int fd, void *data, size_t len)
{
	for (uint8_t *p = data; len;) {
		ssize_t n = recv(fd, p, len, 0);

		if (n == 0)
			die("the target closed the connection");
		if (n < 0)
			die("receive: %s", strerror(errno));
		p += n;
		len -= (size_t)n;
	}
}

static void pdu_send(struct session *s, struct pdu *pdu, bool has_digests)
{
	uint32_t padded = (pdu->len + 3) & ~3u, crc;

	put24(pdu->h + AT_DATA_LEN, pdu->len);
	send_all(s->fd, pdu->h, BHS_LEN);
	if (has_digests && s->has_header_digest) {
		crc = htole32(digest(pdu->h, BHS_LEN));
		send_all(s->fd, &crc, DIGEST_LEN);
	}
	memset(pdu->data + pdu->len, 0, padded - pdu->len);
	send_all(s->fd, pdu->data, padded);
	if (has_digests && s->has_data_digest && padded) {
		crc = htole32(digest(pdu->data, padded));
		send_all(s->fd, &crc, DIGEST_LEN);
	}
}

static void pdu_receive(struct session *s, struct pdu *pdu, bool has_digests)
{
	uint8_t trailer[DIGEST_LEN];
	uint32_t padded;

	receive_all(s->fd, pdu->h, BHS_LEN);
	pdu->len = get24(pdu->h + AT_DATA_LEN);
	padded = (pdu->len + 3) & ~3u;
	if (pdu->h[AT_AHS_LEN] || padded > 65536)
		die("login: PDU of %u bytes with %u words of AHS", pdu->len, pdu->h[AT_AHS_LEN]);
	if (has_digests && s->has_header_digest)
		receive_all(s->fd, trailer, DIGEST_LEN);
	receive_all(s->fd, pdu->data, padded);
	if (has_digests && s->has_data_digest && padded)
		receive_all(s->fd, trailer, DIGEST_LEN);
	pdu->data[pdu->len] = 0;
}

static void __attribute__((format(printf, 2, 3))) key_add(struct pdu *pdu, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf((char *)pdu->data + pdu->len, TEXT_MAX - pdu->len, fmt, args);
	va_end(args);
	pdu->len += (uint32_t)n + 1; // the NUL ends the pair
}

static const char *yes_no(bool v)
{
	return v ? "Yes" : "No";
}

static void offer_names(struct pdu *pdu, const struct options *opt)
{
	key_add(pdu, "InitiatorName=iqn.2025-01.org.farblock:iscsi-load");
	key_add(pdu, "SessionType=Normal");
	key_add(pdu, "TargetName=%s", opt->iqn);
	key_add(pdu, "AuthMethod=None");
}

static void offer_parameters(struct pdu *pdu, const struct options *opt)
{
	key_add(pdu, "HeaderDigest=%s", opt->has_header_digest ? "CRC32C,None" : "None");
	key_add(pdu, "DataDigest=%s", opt->has_data_digest ? "CRC32C,None" : "None");
	key_add(pdu, "InitialR2T=%s", yes_no(opt->initial_r2t));
	key_add(pdu, "ImmediateData=%s", yes_no(opt->immediate_data));
	key_add(pdu, "MaxRecvDataSegmentLength=%u", RX_SEGMENT);
	key_add(pdu, "MaxBurstLength=%u", opt->max_burst);
	key_add(pdu, "FirstBurstLength=%u",
		opt->first_burst < opt->max_burst ? opt->first_burst : opt->max_burst);
	key_add(pdu, "DefaultTime2Wait=2");
	key_add(pdu, "DefaultTime2Retain=0");
	key_add(pdu, "MaxOutstandingR2T=1");
	key_add(pdu, "ErrorRecoveryLevel=0");
	key_add(pdu, "MaxConnections=1");
	key_add(pdu, "DataPDUInOrder=Yes");
	key_add(pdu, "DataSequenceInOrder=Yes");
}

static bool is_yes(const char *value)
{
	return !strcmp(value, "Yes");
}

static void key_take(struct session *s, const char *key, const char *value)
{
	uint32_t n = (uint32_t)strtoul(value, NULL, 10);

	if (!strcmp(key, "MaxRecvDataSegmentLength") && n >= 512)
		s->max_send_segment = n;
	else if (!strcmp(key, "FirstBurstLength"))
		s->first_burst = n;
	else if (!strcmp(key, "MaxBurstLength"))
		s->max_burst = n;
	else if (!strcmp(key, "ImmediateData"))
		s->immediate_data = is_yes(value);
	else if (!strcmp(key, "InitialR2T"))
		s->initial_r2t = is_yes(value);
	else if (!strcmp(key, "HeaderDigest"))
		s->has_header_digest = !strcmp(value, "CRC32C");
	else if (!strcmp(key, "DataDigest"))
		s->has_data_digest = !strcmp(value, "CRC32C");
}

static void keys_take(struct session *s, struct pdu *pdu)
{
	char *text = (char *)pdu->data;

	for (uint32_t at = 0; at < pdu->len;) {
		size_t len = strlen(text + at);
		char *equals = strchr(text + at, '=');

		if (equals) {
			*equals = 0;
			key_take(s, text + at, equals + 1);
		}
		at += (uint32_t)len + 1;
	}
}

static void login_request(struct session *s, struct pdu *pdu, unsigned stage, uint16_t tsih)
{
	memset(pdu->h, 0, BHS_LEN);
	pdu->h[0] = OP_LOGIN | OP_IMMEDIATE;
	pdu->h[AT_FLAGS] = (uint8_t)(0x80 | stage << 2 | (stage == 0 ? 1 : 3));
	pdu->h[8] = 0x80; // ISID of the random kind
	put32(pdu->h + 9, (uint32_t)getpid());
	put16(pdu->h + 12, (uint16_t)s->index);
	put16(pdu->h + 14, tsih);
	put32(pdu->h + AT_ITT, 0);
	put32(pdu->h + AT_CMDSN, s->cmdsn);
	put32(pdu->h + AT_EXPSTATSN, s->expstatsn);
	pdu_send(s, pdu, false);
}

static void login_answer(struct session *s, struct pdu *pdu)
{
	pdu_receive(s, pdu, false);
	if ((pdu->h[0] & OP_MASK) != OP_LOGIN_RESPONSE)
		die("login: answered with opcode %02x", pdu->h[0]);
	if (pdu->h[AT_LOGIN_STATUS])
		die("login refused: status %02x%02x", pdu->h[AT_LOGIN_STATUS],
		    pdu->h[AT_LOGIN_STATUS + 1]);
	s->expstatsn = get32(pdu->h + AT_STATSN) + 1;
	s->maxcmdsn = get32(pdu->h + AT_MAXCMDSN);
	keys_take(s, pdu);
}

void session_login(struct session *s, const struct options *opt)
{
	static struct pdu pdu;
	unsigned stage = 0;
	uint16_t tsih = 0;
	bool was_offered = false;

	s->cmdsn = 1;
	s->max_send_segment = 8192;
	s->first_burst = opt->first_burst;
	s->max_burst = opt->max_burst;
	s->immediate_data = opt->immediate_data;
	s->initial_r2t = true;
	for (int round = 0; round < 10; round++) {
		pdu.len = 0;
		if (round == 0)
			offer_names(&pdu, opt);
		if (stage == 1 && !was_offered) {
			offer_parameters(&pdu, opt);
			was_offered = true;
		}
		login_request(s, &pdu, stage, tsih);
		login_answer(s, &pdu);
		tsih = get16(pdu.h + 14);
		if (!(pdu.h[AT_FLAGS] & 0x80))
			continue;
		stage = pdu.h[AT_FLAGS] & 3;
		if (stage == 3)
			return;
	}
	die("login: no end after 10 rounds");
}

int session_command(struct session *s, unsigned lun, const uint8_t cdb[16], uint8_t *ret_data,
		    uint32_t len)
{
	static struct pdu pdu;

	memset(pdu.h, 0, BHS_LEN);
	pdu.len = 0;
	command_header(s, pdu.h, lun, 0, len ? FLAG_READ : 0, len);
	memcpy(pdu.h + AT_CDB, cdb, 16);
	pdu_send(s, &pdu, true);
	for (;;) {
		unsigned op;

		pdu_receive(s, &pdu, true);
		op = pdu.h[0] & OP_MASK;
		if (op == OP_DATA_IN && get32(pdu.h + AT_OFFSET) + (uint64_t)pdu.len <= len)
			memcpy(ret_data + get32(pdu.h + AT_OFFSET), pdu.data, pdu.len);
		else if (op != OP_RESPONSE && op != OP_NOP_IN)
			die("single command: answered with opcode %02x", op);
		if (op == OP_NOP_IN || (op == OP_DATA_IN && !(pdu.h[AT_FLAGS] & FLAG_STATUS)))
			continue;
		s->expstatsn = get32(pdu.h + AT_STATSN) + 1;
		s->maxcmdsn = get32(pdu.h + AT_MAXCMDSN);
		return pdu.h[AT_STATUS];
	}
}

// Politely, so that the target frees the session at once; the answer is not
// waited for.
void session_logout(struct session *s)
{
	struct out_pdu *pdu;

	if (out_is_empty(s)) {
		pdu = out_add(s);
		pdu->head[0] = OP_LOGOUT | OP_IMMEDIATE;
		pdu->head[AT_FLAGS] = FLAG_FINAL;
		put32(pdu->head + AT_ITT, NO_TAG - 1);
		put32(pdu->head + AT_CMDSN, s->cmdsn);
		put32(pdu->head + AT_EXPSTATSN, s->expstatsn);
		out_seal(s, pdu);
		if (send(s->fd, pdu->head, pdu->head_len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			die("logout: %s", strerror(errno));
	}
	close(s->fd);
}
