// SPDX-License-Identifier: BSD-2-Clause
// A worker with one end of a socket pair, the test with the other: PDUs as bytes, sent and read
// by blocking calls of the test's thread; what belongs to the worker is done by worker_call().
#pragma once

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/worker.h"
#include "transport/iscsi/digest.h"
#include "transport/iscsi/pdu.h"
#include "transport/wire/be.h"

static struct worker *worker;

static inline int wire_setup(void **state)
{
	struct worker_options o = { .name = "test", .cpu = -1 };
	struct err e;
	return worker_new(&worker, &o, &e) < 0 || worker_start(worker, &e) < 0;
}

static inline int wire_teardown(void **state)
{
	worker_free(worker);
	return 0;
}

static inline void wire_pair(int fds[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
}

static inline void wire_send(int fd, const void *p, size_t len)
{
	for (const uint8_t *at = p; len;) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL);
		assert_true(n > 0);
		at += n;
		len -= (size_t)n;
	}
}

// Reads len bytes; fewer only at the end of the stream. Returns how many.
static inline size_t wire_recv(int fd, void *p, size_t len)
{
	size_t have = 0;
	while (have < len) {
		ssize_t n = recv(fd, (uint8_t *)p + have, len - have, 0);
		if (n <= 0)
			break;
		have += (size_t)n;
	}
	return have;
}

// Appends a PDU with its digests to out; returns its length. bhs' lengths are filled in.
static inline size_t wire_pdu(uint8_t *out, const uint8_t *bhs, const uint8_t *ahs, size_t ahs_len,
			      const void *data, size_t len, bool has_header_digest,
			      bool has_data_digest)
{
	size_t n = ISCSI_BHS_LEN;
	memcpy(out, bhs, n);
	out[4] = (uint8_t)(ahs_len / 4);
	put_be24(out + 5, (uint32_t)len);
	if (ahs_len)
		memcpy(out + n, ahs, ahs_len);
	n += ahs_len;
	if (has_header_digest) {
		digest_header(out, n, out + n);
		n += ISCSI_DIGEST_LEN;
	}
	if (!len)
		return n;
	memcpy(out + n, data, len);
	memset(out + n + len, 0, 3);
	uint32_t crc = digest_update_pad(digest_update(ISCSI_CRC_START, data, len), len);
	n += len + (-len & 3);
	if (has_data_digest) {
		digest_put(crc, out + n);
		n += ISCSI_DIGEST_LEN;
	}
	return n;
}

static inline void fill_pattern(uint8_t *p, size_t len, unsigned seed)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(i * 31 + i / 251 + seed);
}
