// SPDX-License-Identifier: BSD-2-Clause
#include "target/srp/events.h"

#include "target/scsi/lun_map.h"
#include "target/scsi/sense.h"
#include "target/scsi/ua.h"

static bool report(struct srp_session *s, uint16_t lun, uint32_t sense_code)
{
	uint8_t sense[SENSE_MAX], address[8];
	unsigned len = sense_encode(sense, sense_code, NULL, false);
	lun_encode(address, lun);
	list_for_each (it, &s->channels) {
		struct session_channel *c = channel_of(it);
		if (c->wants_events && !c->is_closed && srp_send_event(c->ch, address, sense, len))
			return true;
	}
	return false;
}

static bool wants_events(const struct srp_session *s)
{
	list_for_each (it, (struct list *)&s->channels)
		if (channel_of(it)->wants_events)
			return true;
	return false;
}

void event_notice(struct srp_session *s, uint16_t lun, uint32_t sense_code)
{
	if (s->is_closing || !wants_events(s) || report(s, lun, sense_code))
		return;
	// Initiators act on REPORTED LUNS DATA HAS CHANGED: no other event replaces it.
	if (s->held_notice == ua_code(UA_LUNS_CHANGED))
		return;
	s->held_notice = sense_code;
	s->held_notice_lun = lun;
}

void events_tick(struct srp_session *s)
{
	if (s->held_notice && report(s, s->held_notice_lun, s->held_notice))
		s->held_notice = 0;
}
