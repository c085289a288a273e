// SPDX-License-Identifier: BSD-2-Clause
// PDUs from a test to a mover of the target over any carrier, and expected PDUs.
#pragma once

#include "transport/iscsi/target_role.h"

static const struct carrier *carrier;
static uint8_t payload[ROOM]; // data-out with the expected content

// now: bytes of immediate data.
static inline void put_command(uint32_t tag, uint8_t flags, uint32_t edtl, uint32_t now)
{
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_OP_SCSI_CMD, flags };
	put_be32(bhs + 16, tag);
	put_be32(bhs + 20, edtl);
	carrier->send(bhs, payload, now);
}

static inline void data_out_head(uint8_t *bhs, uint32_t tag, uint32_t ttt, uint32_t sn,
				 uint32_t offset, bool is_final)
{
	memset(bhs, 0, ISCSI_BHS_LEN);
	bhs[0] = ISCSI_OP_DATA_OUT;
	bhs[1] = is_final ? ISCSI_F : 0;
	put_be32(bhs + 16, tag);
	put_be32(bhs + 20, ttt);
	put_be32(bhs + 36, sn);
	put_be32(bhs + 40, offset);
}

static inline void put_data_out(uint32_t tag, uint32_t ttt, uint32_t sn, uint32_t offset,
				uint32_t len, bool is_final)
{
	uint8_t bhs[ISCSI_BHS_LEN];
	data_out_head(bhs, tag, ttt, sn, offset, is_final);
	carrier->send(bhs, payload + offset, len);
}

// The next PDU; its data to data.
static inline void expect(uint8_t opcode, uint8_t bhs[ISCSI_BHS_LEN], void *data)
{
	carrier->recv(bhs, data);
	assert_int_equal(bhs[0], opcode);
}

static inline void expect_status(uint32_t tag)
{
	uint8_t bhs[ISCSI_BHS_LEN];
	expect(ISCSI_OP_SCSI_RSP, bhs, NULL);
	assert_int_equal(get_be32(bhs + 16), tag);
}

// The next PDU is the response to a ping: nothing else was queued.
static inline void expect_nothing(void)
{
	uint8_t ping[ISCSI_BHS_LEN] = { ISCSI_OP_NOP_OUT, ISCSI_F }, bhs[ISCSI_BHS_LEN];
	carrier->send(ping, NULL, 0);
	expect(ISCSI_OP_NOP_IN, bhs, NULL);
}
