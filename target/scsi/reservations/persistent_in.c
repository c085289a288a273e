// SPDX-License-Identifier: BSD-2-Clause
// PERSISTENT RESERVE IN (SPC-4 6.15): answered on the task's worker from the current table.
#include <string.h>

#include "target/scsi/handler.h"
#include "target/scsi/lu_part.h"
#include "target/scsi/reservations/commands.h"
#include "target/scsi/reservations/state.h"
#include "transport/wire/be.h"

// All registrants: each of them holds the reservation; its key is 0.
static uint64_t reservation_key(const struct pr_view *v)
{
	return v->holder == PR_NOBODY ? 0 : v->regs[v->holder].key;
}

static uint32_t read_keys(const struct pr_view *v, uint8_t *out)
{
	for (uint32_t i = 0; v && i < v->count; i++)
		put_be64(out + 8 + 8 * (size_t)i, v->regs[i].key);
	return v ? 8 + 8 * v->count : 8;
}

static uint32_t read_reservation(const struct pr_view *v, uint8_t *out)
{
	if (!v || !v->type)
		return 8;
	put_be64(out + 8, reservation_key(v));
	out[21] = v->type;
	return 24;
}

static uint32_t read_full_status(const struct pr_view *v, uint8_t *out)
{
	uint32_t at = 8;
	for (uint32_t i = 0; v && i < v->count; i++) {
		const struct pr_reg *r = &v->regs[i];
		uint8_t *d = out + at;
		put_be64(d, r->key);
		d[12] = (uint8_t)((r->all_tg_pt ? 0x02 : 0) | (pr_is_holder(v, i) ? 0x01 : 0));
		if (pr_is_holder(v, i))
			d[13] = v->type;
		put_be16(d + 18, r->all_tg_pt ? 0 : r->port.relative_port);
		put_be32(d + 20, r->port.tid.len);
		memcpy(d + 24, r->port.tid.bytes, r->port.tid.len);
		at += 24u + r->port.tid.len;
	}
	return at;
}

// PRGENERATION, ADDITIONAL LENGTH, then what fill wrote. max_each: maximum bytes of a registration.
static void reply(struct task *t, uint32_t (*fill)(const struct pr_view *v, uint8_t *out),
		  size_t max_each)
{
	struct pr_view *v = pr_view_of(t->lu);
	uint8_t *out = task_scratch(t, 24 + (v ? v->count * max_each : 0));
	if (!out) {
		pr_view_put(v);
		return;
	}
	uint32_t len = fill(v, out);
	put_be32(out, v ? v->generation : 0);
	put_be32(out + 4, len - 8);
	pr_view_put(v);
	task_reply(t, out, len, get_be16(t->cdb + 7));
}

void pr_read_keys_run(struct task *t)
{
	reply(t, read_keys, 8);
}

void pr_read_reservation_run(struct task *t)
{
	reply(t, read_reservation, 0);
}

void pr_read_full_status_run(struct task *t)
{
	reply(t, read_full_status, 24 + PR_TID_MAX);
}

void pr_report_capabilities_run(struct task *t)
{
	uint8_t out[8] = { 0, 8 };
	bool can_persist = t->lu->state_dir;
	struct pr_view *v = pr_view_of(t->lu);
	// CRH, SIP_C, ATP_C and, with a state directory, PTPL_C.
	out[2] = (uint8_t)(0x10 | 0x08 | 0x04 | (can_persist ? 0x01 : 0));
	// TMV; ALLOW COMMANDS 001b: TEST UNIT READY passes exclusive types; PTPL_A.
	out[3] = (uint8_t)(0x80 | 0x10 | (v && v->aptpl ? 0x01 : 0));
	out[4] = 0x80 | 0x40 | 0x20 | 0x08 | 0x02; // WE_AR, EA_RO, WE_RO, EA, WE
	out[5] = 0x01;				   // EA_AR
	pr_view_put(v);
	task_reply(t, out, sizeof out, get_be16(t->cdb + 7));
}

bool pr_is_available(const struct lu *lu)
{
	return lu_setting(&lu->attr.emulate_pr);
}
