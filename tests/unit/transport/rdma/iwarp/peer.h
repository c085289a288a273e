// SPDX-License-Identifier: BSD-2-Clause
// A scripted peer on a socket, and the tested side.
#pragma once

#include "transport/rdma/iwarp/rig.h"

#include <arpa/inet.h>
#include <poll.h>

#include "transport/rdma/iwarp/crc.h"
#include "transport/rdma/iwarp/ddp.h"
#include "transport/rdma/iwarp/mpa.h"

static struct side b; // the tested side
static int peer = -1; // our end of its socket
static bool has_crc;

struct frame {
	uint8_t bytes[70000];
	uint32_t len;
};
static struct frame f;

static int setup(void **state)
{
	side_start(&b, "b");
	has_crc = false;
	return 0;
}

static int teardown(void **state)
{
	side_stop(&b);
	if (peer >= 0)
		close(peer);
	peer = -1;
	return 0;
}

// --- the peer ---

static inline void put(const void *p, size_t len)
{
	assert_int_equal(send(peer, p, len, MSG_NOSIGNAL), len);
}

static inline void get(void *p, size_t len)
{
	size_t n = 0;

	while (n < len) {
		ssize_t r = recv(peer, (uint8_t *)p + n, len - n, 0);
		if (r <= 0)
			fail_msg("the socket ended after %zu of %zu bytes", n, len);
		n += (size_t)r;
	}
}

static inline bool is_at_end(void)
{
	uint8_t byte;

	return recv(peer, &byte, 1, 0) <= 0;
}

// Pad and CRC behind what is in f.
static inline void seal(void)
{
	uint32_t pad = -f.len & 3;

	memset(f.bytes + f.len, 0, pad + 4);
	f.len += pad;
	if (has_crc)
		iw_crc_put(iw_crc(IW_CRC_START, f.bytes, f.len), f.bytes + f.len);
	f.len += 4;
}

static inline void payload(const void *p, uint32_t len)
{
	if (len)
		memcpy(f.bytes + f.len, p, len);
	f.len += len;
	seal();
}

static inline void send_frame(enum rdmap_opcode op, bool is_last, uint32_t key, uint32_t qn,
			      uint32_t msn, uint32_t mo, const void *p, uint32_t len)
{
	f.len = ddp_put_untagged(f.bytes, op, is_last, len, key, qn, msn, mo);
	payload(p, len);
	put(f.bytes, f.len);
}

static inline void tagged_frame(enum rdmap_opcode op, uint32_t stag, uint64_t to, const void *p,
				uint32_t len)
{
	f.len = ddp_put_tagged(f.bytes, op, true, len, stag, to);
	payload(p, len);
	put(f.bytes, f.len);
}

static inline void read_frame(uint32_t msn, uint32_t len, uint32_t stag, uint64_t to)
{
	f.len = ddp_put_read_request(f.bytes, msn, 0xabcd, 0x500, len, stag, to);
	seal();
	put(f.bytes, f.len);
}

static inline void raw_header(const char *bytes, uint32_t len)
{
	put(bytes, len);
}

// Reads one FPDU of b's into f, and its header.
static inline struct ddp_segment receive(void)
{
	struct ddp_segment s;

	get(f.bytes, 4);
	assert_int_equal(ddp_begin(f.bytes, &s), 0);
	f.len = s.header_len + s.len + s.tail_len;
	get(f.bytes + 4, f.len - 4);
	assert_int_equal(ddp_decode(f.bytes, &s), 0);
	if (has_crc)
		assert_true(
			iw_crc_is(iw_crc(IW_CRC_START, f.bytes, f.len - 4), f.bytes + f.len - 4));
	return s;
}

static inline void expect_terminate(unsigned code)
{
	struct ddp_segment s = receive();

	assert_int_equal(s.opcode, RDMAP_TERMINATE);
	assert_int_equal(s.msn, 1);
	assert_int_equal(get_be16(f.bytes + s.header_len), code);
	assert_true(is_at_end());
	WAIT(b.closed);
	assert_int_equal(b.why.code, -EPROTO);
}

// --- b's startup ---

static inline void passive_here(void *fd, void *unused)
{
	struct err e;

	MUST(!iwarp_passive(b.w, (int)(intptr_t)fd, &listener_ops, &b, &e));
}

// Our socket to b, which accepts at the other end.
static inline void passive(void)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	peer = fds[1];
	run(&b, passive_here, (void *)(intptr_t)fds[0], NULL);
}

static inline void ask(uint8_t flags, uint8_t revision, uint16_t ird, uint16_t ord)
{
	uint8_t out[MPA_STARTUP_LEN + MPA_PRIVATE_MAX];
	struct mpa_frame q = {
		.flags = flags,
		.revision = revision,
		.ird = ird,
		.ord = ord,
		.private_data = (const uint8_t *)"\x80\0\0\0",
		.private_len = 4,
	};

	put(out, mpa_build(&q, out));
}

static uint8_t reply[MPA_STARTUP_LEN + MPA_PRIVATE_MAX];

static inline struct mpa_frame answer(void)
{
	struct mpa_frame r;
	struct err e;

	get(reply, MPA_STARTUP_LEN);
	int len = mpa_frame_len(reply, true, &e);
	assert_true(len > 0);
	get(reply + MPA_STARTUP_LEN, (size_t)len - MPA_STARTUP_LEN);
	assert_int_equal(mpa_parse(reply, &r, &e), 0);
	return r;
}

// A connection as Linux makes it.
static inline void connected(void)
{
	passive();
	ask(MPA_S | (has_crc ? MPA_C : 0), 2, 16, 4);
	struct mpa_frame r = answer();
	assert_int_equal(r.flags & MPA_R, 0);
	WAIT(b.established);
	run(&b, reserve_here, &b, (void *)8);
}

static uint8_t memory[4096], other[4096];

static inline void exposed(unsigned access)
{
	struct sg sg[2] = {
		{memory, 1000, NULL},
		{ other, 1000, NULL}
	};

	memset(memory, 0, sizeof memory);
	memset(other, 0, sizeof other);
	connected();
	expose(&b, sg, 2, 2000, access);
}
