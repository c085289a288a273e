// SPDX-License-Identifier: BSD-2-Clause
// The groups' access states as they decide on commands (SPC-4 5.15.2): read on the I/O path.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "target/scsi/alua/alua.h"
#include "target/scsi/home_queue.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/opcode.h"

#define ALUA_SLOT_FREE 0x10000u
struct alua_slot {
	uint32_t id;		  // or ALUA_SLOT_FREE; relaxed atomic
	uint32_t order;		  // of creation
	char name[ALUA_NAME_MAX]; // control thread
	struct alua_attr attr;	  // single fields, relaxed atomics
};

struct alua_port {
	uint16_t relative_port, group;
	uint8_t protocol;
	char *name;
};

struct alua_saved { // a state saved by the last run
	uint16_t id;
	uint8_t state, status;
};

struct alua {
	uint32_t is_plain; // every group is active/optimized: nothing to check. Relaxed atomic
	uint32_t nslots;   // used so far, including freed ones
	struct alua_slot slots[ALUA_GROUPS_MAX];
	struct alua_port *ports; // nports, by number; under lu->lock
	uint32_t nports;
	uint32_t next_order;
	struct home_queue changes; // of struct alua_change. Home worker
	uint32_t nsaved;
	struct alua_saved saved[ALUA_GROUPS_MAX]; // for alua_group_configure(). Control thread
};

uint32_t alua_check_slow(const struct lu *lu, uint16_t group, const struct opcode_row *row);
uint32_t alua_delay_slow(const struct lu *lu, uint16_t group);

// 0, or the sense code for refusing row's command on a path of group. Any thread.
static inline uint32_t alua_check(const struct lu *lu, uint16_t group, const struct opcode_row *row)
{
	if (__builtin_expect(__atomic_load_n(&lu->alua->is_plain, __ATOMIC_RELAXED), 1))
		return 0;
	return alua_check_slow(lu, group, row);
}

// The delay of commands that access the medium, in ms: of a group that is active/non-optimized and
// has nonop_delay_msecs. Any thread.
static inline uint32_t alua_delay(const struct lu *lu, uint16_t group)
{
	if (__builtin_expect(__atomic_load_n(&lu->alua->is_plain, __ATOMIC_RELAXED), 1))
		return 0;
	return alua_delay_slow(lu, group);
}

// TPGS bits of INQUIRY byte 5 (30h) for a path of this group. Any thread.
uint8_t alua_tpgs(const struct lu *lu, uint16_t group);

// The slot of a group id, or ALUA_GROUPS_MAX. Any thread.
unsigned alua_slot_of(const struct lu *lu, uint32_t id);
// Supported states for REPORT TARGET PORT GROUPS.
uint8_t alua_supported(const struct alua_attr *a);
// Whether a group supports state, by command or administrator.
bool alua_can_enter(const struct alua_attr *a, uint32_t state);
// Updates is_plain. Any thread.
void alua_refresh_plain(struct lu *lu);

static inline uint32_t alua_load(const uint32_t *field)
{
	return __atomic_load_n(field, __ATOMIC_RELAXED);
}
