// SPDX-License-Identifier: BSD-2-Clause
// Asynchronous events (T10 SRP 6.13): unit attentions reported by AER_REQ, to initiators whose
// login has asked for them. The session's worker.
#pragma once

#include "target/srp/session.h"

// A unit attention is pending; sent now, or, while the last event has no answer, by events_tick().
void event_notice(struct srp_session *s, uint16_t lun, uint32_t sense_code);
void events_tick(struct srp_session *s);
