// SPDX-License-Identifier: BSD-2-Clause
// Unit attentions (SAM-5 5.14, SPC-4 table of ASC/ASCQ). A mask belongs to its nexus's
// worker; ua_raise_lu() sends a message to every worker that has a channel.
#include "target/scsi/ua.h"

#include <stdlib.h>

#include "core/log.h"
#include "target/scsi/lu.h"
#include "target/scsi/lu_channel.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_ops.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/power_on.h"
#include "target/scsi/sense.h"

#define UA(asc, ascq) SENSE(SK_UNIT_ATTENTION, asc, ascq)
static const uint32_t codes[UA_MAX] = {
	[UA_POWER_ON] = UA(0x29, 0x00),
	[UA_DEVICE_RESET] = UA(0x29, 0x03),
	[UA_NEXUS_LOSS] = UA(0x29, 0x07),
	[UA_MEDIUM_CHANGED] = UA(0x28, 0x00),
	[UA_MODE_CHANGED] = UA(0x2a, 0x01),
	[UA_RESERVATIONS_PREEMPTED] = UA(0x2a, 0x03),
	[UA_RESERVATIONS_RELEASED] = UA(0x2a, 0x04),
	[UA_REGISTRATIONS_PREEMPTED] = UA(0x2a, 0x05),
	[UA_ALUA_CHANGED] = UA(0x2a, 0x06),
	[UA_ALUA_FAILED] = UA(0x2a, 0x07),
	[UA_CAPACITY_CHANGED] = UA(0x2a, 0x09),
	[UA_COMMANDS_CLEARED] = UA(0x2f, 0x00),
	[UA_INQUIRY_CHANGED] = UA(0x3f, 0x03),
	[UA_LUNS_CHANGED] = UA(0x3f, 0x0e),
	[UA_THIN_SOFT_THRESHOLD] = UA(0x38, 0x07),
	[UA_CLEARED_BY_PROTOCOL] = UA(0x47, 0x7f),
	[UA_PREVIOUS_BUSY] = UA(0x2c, 0x07),
	[UA_PREVIOUS_FULL] = UA(0x2c, 0x08),
	[UA_PREVIOUS_CONFLICT] = UA(0x2c, 0x09),
};

uint32_t ua_code(enum ua u)
{
	return u < UA_MAX ? codes[u] : SENSE(SK_NO_SENSE, 0, 0);
}

void ua_set(struct nexus_lun *nl, enum ua u)
{
	nl->ua |= (ua_mask)1 << u;
}

enum ua ua_peek(const struct nexus_lun *nl)
{
	return nl->ua ? (enum ua)__builtin_ctz(nl->ua) : UA_MAX;
}

enum ua ua_take(struct nexus_lun *nl)
{
	enum ua u = ua_peek(nl);
	nl->ua &= nl->ua - 1;
	if (u == UA_POWER_ON)
		power_on_reported(nl);
	return u;
}

struct ua_message {
	struct msg msg;
	struct lu_channel *channel; // its LU is referenced
	enum ua ua;
	uint64_t except;
};

static void raise_on_channel(struct lu_channel *c, enum ua u, uint64_t except)
{
	list_for_each_safe (it, &c->nexus_luns) {
		struct nexus_lun *nl = list_entry(it, struct nexus_lun, channel_link);
		if (nl->nexus->id == except)
			continue;
		ua_set(nl, u);
		nl->nexus->ops->notice(nl->nexus, nl->number, ua_code(u));
	}
}

static void ua_arrived(struct msg *m)
{
	struct ua_message *u = container_of(m, struct ua_message, msg);
	struct lu *lu = u->channel->lu;
	raise_on_channel(u->channel, u->ua, u->except);
	free(u);
	lu_put(lu);
}

static void ua_send(struct lu_channel *c, enum ua u, uint64_t except)
{
	struct ua_message *m = malloc(sizeof *m);
	if (!m) {
		log_error("%s: unit attention %06x lost: out of memory", c->lu->name, ua_code(u));
		return;
	}
	*m = (struct ua_message){ .msg.fn = ua_arrived, .channel = c, .ua = u, .except = except };
	lu_get(c->lu);
	worker_post(c->worker, &m->msg);
}

void ua_raise_lu(struct lu *lu, enum ua u, const struct nexus *except)
{
	uint64_t except_id = except ? except->id : 0;
	struct worker *self = worker_self();
	for (unsigned i = 0; i < WORKER_MAX; i++) {
		struct lu_channel *c = __atomic_load_n(&lu->channels[i], __ATOMIC_ACQUIRE);
		if (!c)
			continue;
		if (c->worker == self)
			raise_on_channel(c, u, except_id);
		else
			ua_send(c, u, except_id);
	}
}
