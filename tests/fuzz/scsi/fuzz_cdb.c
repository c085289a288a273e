// SPDX-License-Identifier: BSD-2-Clause
// Fuzzes the whole device server: a script of commands, any CDB with any data, from two
// nexuses against a thin, removable RAM disk. Each input meets a new logical unit.
#include <stdlib.h>
#include <string.h>

#include "target/scsi/scsi_bench.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SCRIPT_MAX 12

struct script {
	const uint8_t *at;
	size_t left;
};

static void take(struct script *s, void *to, size_t n)
{
	size_t have = n < s->left ? n : s->left;
	memset(to, 0, n);
	memcpy(to, s->at, have);
	s->at += have;
	s->left -= have;
}

static unsigned cdb_length(const uint8_t *cdb)
{
	static const uint8_t of_group[8] = { 6, 10, 10, 32, 16, 12, 16, 16 };
	return of_group[cdb[0] >> 5];
}

// One command: a byte of flags, 32 of CDB, two each of data-out and data-in length, the data.
static void run_one(struct bench *b, struct script *s, struct bench_cmd *c, uint8_t *out)
{
	uint8_t head[37];
	take(s, head, sizeof head);
	uint32_t out_len = (uint32_t)(head[33] << 8 | head[34]);
	uint32_t in_len = (uint32_t)(head[35] << 8 | head[36]) * 4;
	take(s, out, out_len);
	memset(c, 0, offsetof(struct bench_cmd, data));
	memcpy(c->cdb, head + 1, 32);
	c->cdb_len = cdb_length(c->cdb);
	c->attr = head[0] & 0x03;
	c->lun = head[0] & 0x04 ? 1 : 0;
	c->out = out;
	c->out_len = out_len;
	c->expected_in = in_len;
	bench_start(b, head[0] & 0x08 ? 1 : 0, c);
	bench_wait(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bench b;
	static struct bench_cmd c;
	static uint8_t out[65536];
	static const char *const attrs[] = { "emulate_tpu=1", "emulate_tpws=1", "removable=1",
					     NULL };
	struct bench_options o = { .nexuses = 2, .size = 256 << 10, .attrs = attrs };
	struct script s = { data, size };
	bench_init(&b, &o);
	for (unsigned i = 0; i < SCRIPT_MAX && s.left; i++)
		run_one(&b, &s, &c, out);
	bench_done(&b);
	return 0;
}
