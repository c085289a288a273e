// SPDX-License-Identifier: BSD-2-Clause
// Parameter lists of EXTENDED COPY, against a RAM disk that holds a pattern at its start.
// Byte 0 says which CSCD descriptors get the disk's own name. The command must end, and not
// well if the disk is not named.
#include <stdlib.h>
#include <string.h>

#include "target/scsi/copy/extended_copy.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/scsi_bench.h"
#include "transport/wire/be.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct bench bench;
static struct bench_cmd cmd;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t list[8192];
	struct xcopy_request r;
	int field;
	if (size < 1 || size - 1 > sizeof list)
		return 0;
	if (!bench.lu)
		bench_init(&bench, NULL);
	uint8_t named = data[0];
	data++;
	size--;
	memcpy(list, data, size);
	for (unsigned i = 0; i < 8 && 16 + 32 * (i + 1) <= size; i++)
		if (named & 1u << i)
			memcpy(list + 16 + 32 * i + 8, bench.lu->naa, 16);
	// In memory of its exact size, for the parser alone.
	uint8_t *exact = malloc(size ? size : 1);
	memcpy(exact, list, size);
	uint32_t sense = xcopy_parse(&r, exact, (uint32_t)size, &field);
	if (!sense && (r.ncscds > XCOPY_CSCD_MAX || r.nsegments > XCOPY_SEGMENT_MAX))
		abort();
	uint8_t cdb[16] = { 0x83 };
	put_be32(cdb + 10, (uint32_t)size);
	int status = bench_run(&bench, 0, &cmd, cdb, sizeof cdb, exact, (uint32_t)size, 0);
	if (status == STATUS_CHECK_CONDITION ? !cmd.sense_len : status != STATUS_GOOD)
		abort();
	if (sense && size && status == STATUS_GOOD)
		abort();
	free(exact);
	return 0;
}
