// SPDX-License-Identifier: BSD-2-Clause
// Block commands with parameter lists or several steps, against a thin RAM disk: byte 0 is the
// command, byte 1 says how; then follow the CDB from its second byte on and the data-out.
// Beyond not crashing: the command ends, and an end without GOOD has sense data.
#include <stdlib.h>
#include <string.h>

#include "target/scsi/lu_state.h"
#include "target/scsi/medium.h"
#include "target/scsi/scsi_bench.h"

struct command {
	uint8_t opcode, action, len;
	uint8_t lba_at; // where the LBA begins, 0: none
	uint8_t lba_len;
};

static const struct command commands[] = {
	{0x42,	0,	   10, 0, 0},
	  { 0x48, 1,    10, 0, 0},
	 { 0x48, 2,    10, 0, 0},
	{ 0x48, 0x1f, 10, 0, 0},
	  { 0x41, 0,    10, 2, 4},
	 { 0x93, 0,    16, 2, 8},
	{ 0x89, 0,	   16, 2, 8},
	  { 0x8b, 0,    16, 2, 8},
	 { 0x8e, 0,    16, 2, 8},
	{ 0x8f, 0,	   16, 2, 8},
	  { 0x9c, 0,    16, 2, 8},
	 { 0x9e, 0x12, 16, 2, 8},
	{ 0x1b, 0,	   6,  0, 0},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

enum { NEAR = 1, THROUGH_STORE = 2, EXACT = 4 };

static struct bench bench;
static struct bench_cmd cmd;
static uint8_t *memory;

static void open_bench(void)
{
	static const char *const attrs[] = { "emulate_tpu=1", "emulate_tpws=1", "removable=1",
					     "max_transfer_kib=1024", NULL };
	struct bench_options o = { .attrs = attrs };
	bench_init(&bench, &o);
	memory = bench.lu->memory;
}

static void make_cdb(const struct command *k, uint8_t how, const uint8_t *data, size_t size)
{
	memset(&cmd, 0, offsetof(struct bench_cmd, status));
	cmd.cdb_len = k->len;
	memcpy(cmd.cdb + 1, data, size < k->len - 1u ? size : k->len - 1u);
	cmd.cdb[0] = k->opcode;
	if (k->action)
		cmd.cdb[1] = (uint8_t)((cmd.cdb[1] & 0xe0) | k->action);
	if ((how & NEAR) && k->lba_at) {
		memset(cmd.cdb + k->lba_at, 0, k->lba_len - 2u);
		cmd.cdb[k->lba_at + k->lba_len - 2] &= 0x07; // 2,048 blocks
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	if (!memory)
		open_bench();
	const struct command *k = &commands[data[0] % COMMANDS];
	uint8_t how = data[1];
	data += 2;
	size -= 2;
	make_cdb(k, how, data, size);
	size_t skip = size < k->len - 1u ? size : k->len - 1u;
	static uint8_t out[BENCH_DATA];
	size_t len = size - skip < sizeof out ? size - skip : sizeof out;
	memcpy(out, data + skip, len);
	cmd.out = out;
	// Data for the longest transfer without an input of that size.
	cmd.out_len = how & EXACT ? (uint32_t)len : (uint32_t)sizeof out;
	cmd.expected_in = 4096;
	struct lu *lu = bench.lu;
	__atomic_store_n(&lu->memory, how & THROUGH_STORE ? NULL : memory, __ATOMIC_RELAXED);
	bench_start(&bench, 0, &cmd);
	bench_wait(&cmd);
	if (!cmd.is_done || (cmd.status == STATUS_CHECK_CONDITION && !cmd.sense_len))
		abort();
	while (__atomic_load_n(&lu->sanitize, __ATOMIC_ACQUIRE) != SANITIZE_IDLE)
		bench_settle(&bench);
	__atomic_store_n(&lu->medium, LU_MEDIUM_PRESENT, __ATOMIC_RELAXED);
	return 0;
}
