// SPDX-License-Identifier: BSD-2-Clause
// REPORT TARGET PORT GROUPS (SPC-4 6.37). Task's worker.
#include <stdlib.h>
#include <string.h>

#include "target/scsi/alua/access.h"
#include "target/scsi/alua/commands.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/task_status.h"
#include "transport/wire/be.h"

enum { PARAMETER_FORMAT_EXTENDED = 1 };

static uint8_t *put_port(uint8_t *p, uint16_t relative_port)
{
	put_be16(p + 2, relative_port);
	return p + 4;
}

// One group with its ports. self: the port of this path, if it is not registered. A group without
// ports is omitted: every target port group contains at least one (SPC-4 6.37), even if LIO reports
// its empty ones.
static uint8_t *put_group(uint8_t *p, const struct alua *a, const struct alua_slot *s, uint32_t id,
			  uint32_t self)
{
	uint8_t *head = p, n = 0;
	uint32_t state = alua_load(&s->attr.alua_access_state) & 15;
	head[0] = (uint8_t)((alua_load(&s->attr.preferred) ? 0x80 : 0) | state);
	head[1] = alua_supported(&s->attr);
	put_be16(head + 2, (uint16_t)id);
	head[5] = (uint8_t)alua_load(&s->attr.alua_access_status);
	p += 8;
	// The count is one byte wide.
	for (uint32_t i = 0; i < a->nports && n < 255; i++)
		if (a->ports[i].group == id) {
			p = put_port(p, a->ports[i].relative_port);
			n++;
		}
	if (self && n < 255) {
		p = put_port(p, (uint16_t)self);
		n++;
	}
	head[7] = n;
	return n ? p : head;
}

static bool knows_port(const struct alua *a, uint16_t relative_port)
{
	for (uint32_t i = 0; i < a->nports; i++)
		if (a->ports[i].relative_port == relative_port)
			return true;
	return false;
}

static uint8_t *put_groups(uint8_t *p, const struct task *t)
{
	const struct alua *a = t->lu->alua;
	uint16_t port = t->nexus->info.relative_port;
	bool is_known = knows_port(a, port);
	for (unsigned i = 0; i < a->nslots; i++) {
		uint32_t id = alua_load(&a->slots[i].id);
		if (id == ALUA_SLOT_FREE)
			continue;
		p = put_group(p, a, &a->slots[i], id,
			      !is_known && id == t->nl->alua_group ? port : 0);
	}
	return p;
}

static uint8_t longest_transition(const struct alua *a)
{
	uint32_t secs = 0;
	for (unsigned i = 0; i < a->nslots; i++) {
		uint32_t v = alua_load(&a->slots[i].attr.implicit_trans_secs);
		if (alua_load(&a->slots[i].id) != ALUA_SLOT_FREE && v > secs)
			secs = v;
	}
	return (uint8_t)(secs > 255 ? 255 : secs);
}

void report_target_port_groups_run(struct task *t)
{
	struct lu *lu = t->lu;
	const struct alua *a = lu->alua;
	unsigned format = t->cdb[1] >> 5;
	if (format > PARAMETER_FORMAT_EXTENDED) {
		task_invalid_cdb(t, 1, 7);
		return;
	}
	pthread_mutex_lock(&lu->lock);
	uint8_t *out = calloc(1, 8 + ALUA_GROUPS_MAX * 8 + (size_t)(a->nports + 1) * 4);
	uint8_t *p = out ? out + 4 : NULL;
	if (p && format == PARAMETER_FORMAT_EXTENDED) {
		p[0] = 0x10;
		p[1] = longest_transition(a);
		p += 4;
	}
	if (p)
		p = put_groups(p, t);
	pthread_mutex_unlock(&lu->lock);
	if (!out) {
		task_finish(t, STATUS_BUSY);
		return;
	}
	put_be32(out, (uint32_t)(p - out - 4));
	task_reply(t, out, (uint32_t)(p - out), get_be32(t->cdb + 6));
	free(out);
}

bool alua_is_available(const struct lu *lu)
{
	return lu_setting(&lu->attr.alua_support);
}
