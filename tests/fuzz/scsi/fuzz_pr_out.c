// SPDX-License-Identifier: BSD-2-Clause
// PERSISTENT RESERVE OUT: a run of commands by four initiator ports, each with the parameter
// list that the input says. After each the table must hold together, and survive its file.
#include <stdlib.h>
#include <string.h>

#include "target/scsi/reservations/aptpl.h"
#include "target/scsi/reservations/request.h"
#include "target/scsi/ua.h"
#include "transport/wire/be.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void port_make(struct pr_port *port, unsigned i)
{
	uint8_t tid[44] = { 0x45, 0, 0, 40 };
	size_t used;
	memcpy(tid + 4, "iqn.2026-01.t:a,i,0x000000000000", 33);
	tid[4 + 14] = (uint8_t)('a' + (i & 1));
	tid[4 + 31] = (uint8_t)('0' + (i >> 1));
	memset(port, 0, sizeof *port);
	must(!pr_tid_parse(&port->tid, tid, sizeof tid, &used) && used == sizeof tid);
	port->relative_port = (uint16_t)(1 + (i >> 1));
	memcpy(port->target_port, "iqn.2026-01.t,t,0x0001", 23);
	port->target_port[21] = (char)('1' + (i >> 1));
}

static void check_table(const struct pr_view *v)
{
	must(v->count <= PR_REGS_MAX);
	must(!v->type || v->count);
	if (v->type && !pr_type_is_all_registrants(v->type))
		must(v->holder < v->count);
	else
		must(v->holder == PR_NOBODY);
	for (uint32_t i = 0; i < v->count; i++)
		must(v->regs[i].key && v->regs[i].port.tid.len >= 24);
}

static void check_file(const struct pr_view *v)
{
	size_t len;
	struct pr_view *back = NULL;
	char *text = pr_store_format(v, &len);
	must(text && !pr_store_parse(&back, text, len));
	must(back->count == v->count && back->type == v->type && back->holder == v->holder);
	for (uint32_t i = 0; i < v->count; i++)
		must(!memcmp(&back->regs[i].port, &v->regs[i].port, sizeof v->regs[i].port));
	pr_view_put(back);
	free(text);
}

static void check_effects(const struct pr_view *old, const uint8_t *effects)
{
	for (uint32_t i = 0; old && i < old->count; i++) {
		unsigned ua = effects[i] & ~(unsigned)PR_EFFECT_ABORT;
		must(ua == PR_EFFECT_NONE || ua < UA_MAX);
	}
}

// One command: who, CDB bytes 1 and 2, policy, length of the list, the list.
static struct pr_view *one(struct pr_view *v, const uint8_t *p, const uint8_t *list, uint32_t len)
{
	const uint8_t cdb[10] = { 0x5f, p[1], p[2] };
	struct pr_policy policy = { p[3] & 1, p[3] & 2, p[3] & 4 };
	struct pr_request r;
	struct pr_result res;
	struct pr_port self;
	int field;
	uint8_t *exact = malloc(len ? len : 1);
	memcpy(exact, list, len);
	port_make(&self, p[0] & 3);
	if (!pr_request_parse(&r, cdb, exact, len, &field)) {
		r.move_port = self.relative_port;
		r.move_protocol = self.tid.bytes[0] & 15;
		memcpy(r.move_port_name, self.target_port, sizeof r.move_port_name);
		pr_apply(&res, v, &r, &self, &policy);
		if (res.status == STATUS_GOOD) {
			check_table(res.view);
			check_file(res.view);
			check_effects(v, res.effects);
			pr_view_put(v);
			v = res.view;
			free(res.effects);
		}
	}
	pr_request_done(&r);
	free(exact);
	return v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pr_view *v = NULL;
	while (size >= 6) {
		uint32_t len = get_be16(data + 4);
		if (len > size - 6)
			len = (uint32_t)(size - 6);
		v = one(v, data, data + 6, len);
		data += 6 + len;
		size -= 6 + len;
	}
	pr_view_put(v);
	return 0;
}
