// SPDX-License-Identifier: BSD-2-Clause
// The target's iSER mover between a role and the fake provider, at whose other end the test is the
// initiator. All on the test's thread.
#pragma once

#include "transport/iscsi/target_role.h"

#include "core/counter.h"
#include "transport/iser/dm_iser.h"
#include "transport/iser/iser.h"
#include "transport/rdma/fake_rnic.h"

// --- the rig ---

static inline int make_workers(void **state)
{
	struct worker_options o = { .name = "test", .cpu = -1, .pool_bytes = 8 << 20 };
	struct err e;
	return worker_new(&worker, &o, &e);
}

static inline int free_workers(void **state)
{
	worker_free(worker);
	return 0;
}

static inline int setup(void **state)
{
	fake_init(worker);
	role_reset();
	for (unsigned i = 0; i < FAKE_REMOTE; i++)
		fake.remote[i] = (uint8_t)(i * 7 + i / 256);
	params.immediate_data = params.rdma_extensions = true;
	params.max_recv_data = 8192;
	params.max_send_data = 128;
	return 0;
}

static inline void open_login(void)
{
	struct err e;
	assert_int_equal(dm_iser_new(&dm, &fake.request, NULL, &up, NULL, &e), 0);
	dm->sns = &sns;
}

static inline void open_full(void)
{
	open_login();
	dm->window = 16;
	dm->ops->full_feature(dm, &params);
}

// Ends what is open; nothing may be left behind.
static inline void shut(void)
{
	if (!closes)
		fake_end(-ECONNRESET);
	dm->ops->free(dm);
	assert_int_equal(fake.rx_out, 0);
	assert_int_equal(fake.reserved, 0);
	assert_all_released();
}

// --- the initiator ---

struct say {
	uint32_t itt, edtl, imm, ttt, offset, sn;
	uint8_t opcode, flags; // flags 0: of a read or write, by the tags
	uint64_t base;
	uint32_t stag;				     // 0: FAKE_RKEY
	bool is_read, is_write, has_no_tag, is_open; // is_open: more unsolicited data follows
};

// The data of a message is what the initiator's memory has at its place in the command, which
// begins at base - imm.
static inline void say(struct say s)
{
	uint8_t msg[ISER_HDR_LEN + ISCSI_BHS_LEN + 8192 + 4] = { 0 }, *bhs = msg + ISER_HDR_LEN;
	struct iser_tag tag = { s.stag ? s.stag : FAKE_RKEY, s.base };
	bool has_tag = !s.has_no_tag;
	iser_hdr_put(msg, s.is_write && has_tag ? &tag : NULL, s.is_read && has_tag ? &tag : NULL);
	bhs[0] = s.opcode ? s.opcode : ISCSI_OP_SCSI_CMD;
	bhs[1] = s.flags;
	if (!s.flags)
		bhs[1] = (s.is_open ? 0 : ISCSI_F) | (s.is_read ? ISCSI_CMD_R : 0) |
			 (s.is_write ? ISCSI_CMD_W : 0);
	put_be24(bhs + 5, s.imm);
	put_be32(bhs + 16, s.itt);
	put_be32(bhs + 20, bhs[0] == ISCSI_OP_SCSI_CMD ? s.edtl : ISCSI_TAG_NONE);
	if (s.opcode == ISCSI_OP_DATA_OUT) {
		put_be32(bhs + 20, s.ttt ? s.ttt : ISCSI_TAG_NONE);
		put_be32(bhs + 36, s.sn);
		put_be32(bhs + 40, s.offset);
	}
	for (uint32_t i = 0; i < s.imm; i++)
		bhs[ISCSI_BHS_LEN + i] = (uint8_t)(0x80 + s.itt + s.offset + i);
	fake_receive(msg, ISER_HDR_LEN + ISCSI_BHS_LEN + s.imm);
}

static inline void assert_unsolicited(unsigned i, uint32_t from, uint32_t to)
{
	for (uint32_t at = from; at < to; at++)
		assert_int_equal(memory[i][at], (uint8_t)(0x80 + i + at));
}

// The n-th send, taken apart.
static inline struct iser_msg heard(unsigned n)
{
	struct iser_msg m;
	struct err e;
	assert_true(n < fake.sent_count);
	assert_int_equal(iser_msg_parse(&m, fake.sent[n].data, fake.sent[n].len, &e), 0);
	assert_false(m.has_read || m.has_write);
	return m;
}

static inline uint64_t copied_bytes(void)
{
	return counter_get(&worker_counters(worker)->payload_copy_bytes);
}

// --- as a carrier ---

static unsigned heard_count;

static inline int iser_setup(void **state)
{
	setup(state);
	role_splits();
	params.initial_r2t = false;
	params.first_burst = 8192;
	heard_count = 0;
	return 0;
}

// Memory is advertised for each command that reads or writes.
static inline void iser_send(uint8_t *bhs, const void *data, uint32_t len)
{
	uint8_t msg[RNIC_RX_SIZE] = { 0 };
	struct iser_tag tag = { FAKE_RKEY, 0 };
	bool is_command = bhs[0] == ISCSI_OP_SCSI_CMD;
	iser_hdr_put(msg, is_command && bhs[1] & ISCSI_CMD_W ? &tag : NULL,
		     is_command && bhs[1] & ISCSI_CMD_R ? &tag : NULL);
	put_be24(bhs + 5, len);
	memcpy(msg + ISER_HDR_LEN, bhs, ISCSI_BHS_LEN);
	if (len)
		memcpy(msg + ISER_HDR_LEN + ISCSI_BHS_LEN, data, len);
	fake_receive(msg, ISER_HDR_LEN + ISCSI_BHS_LEN + ((len + 3) & ~3u));
}

static inline void iser_recv(uint8_t *bhs, void *data)
{
	fake_run();
	struct iser_msg m = heard(heard_count++);
	memcpy(bhs, m.bhs, ISCSI_BHS_LEN);
	if (m.pdu.data_len)
		memcpy(data, m.data, m.pdu.data_len);
}

static const struct carrier iser_carrier = {
	.make_worker = make_workers,
	.setup = iser_setup,
	.open = open_full,
	.send = iser_send,
	.recv = iser_recv,
	.close = shut,
};
