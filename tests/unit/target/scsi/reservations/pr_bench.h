// SPDX-License-Identifier: BSD-2-Clause
// PERSISTENT RESERVE commands in one line each, for the tests of reservations.
#pragma once

#include <string.h>

#include "target/scsi/scsi_bench.h"
#include "target/scsi/ua.h"
#include "transport/wire/be.h"

enum {
	OUT_REGISTER,
	OUT_RESERVE,
	OUT_RELEASE,
	OUT_CLEAR,
	OUT_PREEMPT,
	OUT_PREEMPT_ABORT,
	OUT_REGISTER_IGNORE,
	OUT_REGISTER_MOVE,
};
enum { APTPL = 0x01, ALL_TG_PT = 0x04, SPEC_I_PT = 0x08 };

static struct bench b;
static struct bench_cmd c;

// PERSISTENT RESERVE OUT with a list of len bytes; the status.
static inline int pr_out_list(unsigned nexus, unsigned action, unsigned type, const uint8_t *list,
			      uint32_t len)
{
	uint8_t cdb[10] = { 0x5f, (uint8_t)action, (uint8_t)type };
	put_be32(cdb + 5, len);
	return bench_run(&b, nexus, &c, cdb, sizeof cdb, list, len, 0);
}

static inline int pr_out(unsigned nexus, unsigned action, unsigned type, uint64_t key,
			 uint64_t sa_key, unsigned flags)
{
	uint8_t list[24] = { 0 };
	put_be64(list, key);
	put_be64(list + 8, sa_key);
	list[20] = (uint8_t)flags;
	return pr_out_list(nexus, action, type, list, sizeof list);
}

static inline int pr_in(unsigned nexus, unsigned action, uint16_t alloc)
{
	uint8_t cdb[10] = { 0x5e, (uint8_t)action };
	put_be16(cdb + 7, alloc);
	return bench_run(&b, nexus, &c, cdb, sizeof cdb, NULL, 0, alloc);
}

// Nexus i registers key 0x10 + i.
static inline uint64_t key_of(unsigned nexus)
{
	return 0x10 + nexus;
}

static inline void pr_register(unsigned nexus)
{
	pr_out(nexus, OUT_REGISTER_IGNORE, 0, 0, key_of(nexus), 0);
}

// Number of registered keys.
static inline uint32_t pr_keys(unsigned nexus)
{
	pr_in(nexus, 0, 8);
	return get_be32(c.data + 4) / 8;
}

static inline uint32_t pr_generation(unsigned nexus)
{
	pr_in(nexus, 0, 8);
	return get_be32(c.data);
}

// Type of the reservation, 0 none; *ret_key (or NULL) its key.
static inline unsigned pr_reserved(unsigned nexus, uint64_t *ret_key)
{
	pr_in(nexus, 1, 24);
	if (!get_be32(c.data + 4))
		return 0;
	if (ret_key)
		*ret_key = get_be64(c.data + 8);
	return c.data[21];
}

static inline int read_one(unsigned nexus)
{
	return BENCH_IN(&b, nexus, &c, 512, 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0);
}

static inline int write_one(unsigned nexus)
{
	static const uint8_t block[512];
	return BENCH_OUT(&b, nexus, &c, block, 512, 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0);
}

// Sense code of the next TEST UNIT READY: the pending unit attention, 0 none.
static inline uint32_t pending_ua(unsigned nexus)
{
	BENCH_NONE(&b, nexus, &c, 0, 0, 0, 0, 0, 0);
	return c.code;
}

static inline uint32_t ua_sense(enum ua ua)
{
	return ua_code(ua);
}

// The TransportID of the bench's nexus i; its length.
static inline uint32_t tid_of(unsigned nexus, uint8_t *out)
{
	const struct nexus_info *info = &b.nexuses[nexus]->info;
	memcpy(out, info->transport_id, info->transport_id_len);
	return info->transport_id_len;
}
