// SPDX-License-Identifier: BSD-2-Clause
// Parameter lists of POPULATE TOKEN and WRITE USING TOKEN against a RAM disk. Byte 0: bit 0
// the command, bit 1 put a good token in, bit 2 the zero token. Then RECEIVE ROD TOKEN
// INFORMATION must tell of what was carried out.
#include <stdlib.h>
#include <string.h>

#include "target/scsi/copy/odx.h"
#include "target/scsi/scsi_bench.h"
#include "transport/wire/be.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct bench bench;
static struct bench_cmd cmd;

static int token_cmd(uint8_t sa, const uint8_t *list, uint32_t len)
{
	uint8_t cdb[16] = { 0x83, sa };
	put_be32(cdb + 10, len);
	return bench_run(&bench, 0, &cmd, cdb, sizeof cdb, list, len, 0);
}

static int information(void)
{
	uint8_t cdb[16] = { 0x84, 0x07 };
	put_be32(cdb + 10, 1024);
	return bench_run(&bench, 0, &cmd, cdb, sizeof cdb, NULL, 0, 1024);
}

static void put_token(uint8_t *at)
{
	uint8_t list[32] = { 0, 30, [15] = 16, [27] = 64 }; // 64 blocks from 0
	if (token_cmd(0x10, list, sizeof list) || information())
		abort();
	memcpy(at, cmd.data + 38, ROD_TOKEN_LEN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t list[2048];
	if (size < 1 || size - 1 > sizeof list)
		return 0;
	if (!bench.lu)
		bench_init(&bench, NULL);
	uint8_t how = data[0];
	bool writes = how & 1;
	size--;
	memcpy(list, data + 1, size);
	if (writes && (how & 2) && size >= 16 + ROD_TOKEN_LEN)
		put_token(list + 16);
	if (writes && (how & 4) && size >= 24) {
		put_be32(list + 16, ROD_TYPE_ZERO);
		put_be16(list + 22, ROD_TOKEN_LEN - 8);
	}
	uint8_t *exact = malloc(size ? size : 1);
	memcpy(exact, list, size);
	int status = token_cmd(writes ? 0x11 : 0x10, exact, (uint32_t)size);
	if (status == STATUS_CHECK_CONDITION ? !cmd.sense_len : status != STATUS_GOOD)
		abort();
	if (status == STATUS_GOOD && size && information())
		abort();
	free(exact);
	return 0;
}
