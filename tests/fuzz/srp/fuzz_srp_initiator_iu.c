// SPDX-License-Identifier: BSD-2-Clause
// IUs that a target receives: the parts of a command that are found lie inside it, in order, and
// fit together. The first two bytes are the login's offset of immediate data.
#include <errno.h>

#include "exact.h"
#include "transport/srp/iu.h"
#include "transport/wire/be.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum_of(const struct srp_data *d)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < d->count; i++) {
		struct srp_desc desc;
		uint8_t raw[SRP_DIRECT_LEN];
		srp_desc_parse(&desc, d->descs + (size_t)i * SRP_DIRECT_LEN);
		srp_desc_put(raw, &desc);
		must(!memcmp(raw, d->descs + (size_t)i * SRP_DIRECT_LEN, sizeof raw));
		sum += desc.len;
	}
	return sum;
}

// Returns where its part of the IU ends.
static const uint8_t *check_data(const struct srp_data *d, const uint8_t *from, const uint8_t *iu,
				 size_t len)
{
	switch (d->format) {
	case SRP_NO_DATA:
		must(!d->len && !d->count);
		return from;
	case SRP_DIRECT:
		must(d->descs == from && d->count == 1 && sum_of(d) == d->len);
		break;
	case SRP_INDIRECT:
		must(d->descs == from + SRP_INDIRECT_LEN && d->table.len % SRP_DIRECT_LEN == 0);
		must(d->count <= d->table.len / SRP_DIRECT_LEN &&
		     d->table.len / SRP_DIRECT_LEN <= SRP_TABLE_MAX);
		must(d->count < d->table.len / SRP_DIRECT_LEN || sum_of(d) == d->len);
		break;
	default:
		must(d->format == SRP_IMMEDIATE && is_inside(d->imm, d->len, iu, len));
		return from + SRP_IMMEDIATE_LEN;
	}
	must(is_inside(d->descs, (uint64_t)d->count * SRP_DIRECT_LEN, iu, len));
	return d->descs + (size_t)d->count * SRP_DIRECT_LEN;
}

static void command(const uint8_t *iu, uint32_t len, uint16_t imm_offset)
{
	struct srp_command c;
	struct err e;
	int r = srp_command_parse(&c, iu, len, imm_offset, &e);
	if (r == -EINVAL)
		must(!memcmp(&c.tag, iu + 8, 8)); // what is refused is answered
	if (r) {
		must((r == -EPROTO || r == -EINVAL) && e.code == r);
		return;
	}
	must(c.lun == iu + 20 && c.cdb == iu + 32 && is_inside(c.cdb, c.cdb_len, iu, len));
	must(c.cdb_len >= SRP_CDB_LEN && c.attr <= SRP_ATTR_MASK);
	const uint8_t *at = check_data(&c.out, c.cdb + c.cdb_len, iu, len);
	at = check_data(&c.in, at, iu, len);
	must(at <= iu + len && c.in.format != SRP_IMMEDIATE);
	if (c.out.format == SRP_IMMEDIATE)
		must(imm_offset && c.out.imm == iu + imm_offset && c.out.imm >= at);
}

static void task_mgmt(const uint8_t *iu, uint32_t len)
{
	struct srp_task_mgmt m, again;
	struct err e;
	uint8_t out[SRP_TSK_MGMT_LEN];
	if (srp_task_mgmt_parse(&m, iu, len, &e))
		return;
	srp_task_mgmt_put(out, &m);
	must(!srp_task_mgmt_parse(&again, out, sizeof out, &e));
	must(m.tag == again.tag && m.task_tag == again.task_tag && m.function == again.function &&
	     m.sol_not == again.sol_not && !memcmp(m.lun, again.lun, 8));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t tag;
	uint32_t value;
	if (size < 2)
		return 0;
	uint32_t len = (uint32_t)size - 2;
	uint8_t *iu = exact_copy(data + 2, len);
	command(iu, len, get_be16(data));
	task_mgmt(iu, len);
	srp_short_parse(&tag, &value, iu, len, NULL);
	free(iu);
	return 0;
}
