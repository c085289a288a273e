// SPDX-License-Identifier: BSD-2-Clause
// Access under a reservation, as a table (SPC-4 table 65, SBC-3 table 13), and the check on the I/O
// path. Nexus's worker; reads only the channel's snapshot.
#include "target/scsi/lu_channel.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/opcode.h"
#include "target/scsi/reservations/reservations.h"
#include "target/scsi/reservations/state.h"

enum { ANYONE, REGISTERED, HOLDER };

// Permitted nexuses, by class of the command and type of the reservation.
static const uint8_t rules[][PR_EA_AR + 1] = {
	[PR_ALWAYS] = {[PR_WE] = ANYONE,
			[PR_EA] = ANYONE,
			[PR_WE_RO] = ANYONE,
			[PR_EA_RO] = ANYONE,
			[PR_WE_AR] = ANYONE,
			[PR_EA_AR] = ANYONE    },
	[PR_READ] = { [PR_WE] = ANYONE,
		       [PR_EA] = HOLDER,
		       [PR_WE_RO] = ANYONE,
		       [PR_EA_RO] = REGISTERED,
		       [PR_WE_AR] = ANYONE,
		       [PR_EA_AR] = REGISTERED},
	[PR_WRITE] = { [PR_WE] = HOLDER,
		       [PR_EA] = HOLDER,
		       [PR_WE_RO] = REGISTERED,
		       [PR_EA_RO] = REGISTERED,
		       [PR_WE_AR] = REGISTERED,
		       [PR_EA_AR] = REGISTERED},
	[PR_SPECIAL] = { [PR_WE] = ANYONE,
			 [PR_EA] = ANYONE,
			 [PR_WE_RO] = ANYONE,
			 [PR_EA_RO] = ANYONE,
			 [PR_WE_AR] = ANYONE,
			 [PR_EA_AR] = ANYONE    },
};

enum {
	OPCODE_TEST_UNIT_READY = 0x00,
	OPCODE_PR_IN = 0x5e,
	OPCODE_PR_OUT = 0x5f,
};

// RESERVE(6/10) excludes others from everything except commands that identify the LU and that query
// or end the reservation (SPC-2 table 10), and excludes persistent reservations for all (SPC-4
// 5.13.2).
static bool reserve_conflict(const struct lu_channel *c, const struct nexus_lun *nl,
			     const struct opcode_row *row)
{
	if (row->opcode == OPCODE_PR_IN || row->opcode == OPCODE_PR_OUT)
		return true;
	if (c->reserved_by == nl->nexus->id)
		return false;
	if (row->opcode == OPCODE_TEST_UNIT_READY)
		return true;
	return row->pr != PR_ALWAYS && row->pr != PR_SPECIAL;
}

// ANYONE, REGISTERED or HOLDER: the nexus's standing, computed once per table.
static uint8_t standing(const struct pr_view *v, struct nexus_lun *nl)
{
	struct pr_port port;
	if (nl->pr_version == v->version)
		return nl->pr_standing;
	uint32_t i = pr_port_of_nexus(&port, nl->nexus) ? pr_find(v, &port) : PR_NOBODY;
	nl->pr_standing = pr_is_holder(v, i) ? HOLDER : i != PR_NOBODY ? REGISTERED : ANYONE;
	nl->pr_version = v->version;
	return nl->pr_standing;
}

bool pr_conflict_slow(struct nexus_lun *nl, const struct opcode_row *row)
{
	const struct lu_channel *c = nl->channel;
	if (c->reserved_by && pr_is_reserved(c->lu->pr) && reserve_conflict(c, nl, row))
		return true;
	if (!c->pr)
		return false;
	return standing(c->pr, nl) < rules[row->pr][c->pr->type];
}
