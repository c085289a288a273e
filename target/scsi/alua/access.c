// SPDX-License-Identifier: BSD-2-Clause
// The commands permitted in an access state (SPC-4 5.15.2.4 to 5.15.2.8), as a table, and whether
// any group restricts them. Any thread; readers use relaxed atomics.
#include "target/scsi/alua/access.h"

#include "target/scsi/sense.h"

// By access state: the lowest refused class of commands, and the sense code.
static const struct {
	uint8_t refuses; // enum alua_class
	uint8_t ascq;	 // of 04h NOT READY
} rules[16] = {
	[ALUA_OPTIMIZED] = {ALUA_ACTIVE + 1,  0	},
	       [ALUA_NONOPTIMIZED] = { ALUA_ACTIVE + 1, 0	  },
	[ALUA_IN_STANDBY] = { ALUA_ACTIVE,	   0x0b},
	       [ALUA_UNAVAILABLE] = { ALUA_STANDBY,    0x0c},
	[ALUA_LBA_DEPENDENT] = { ALUA_ACTIVE + 1, 0   },
	       [ALUA_OFFLINE] = { ALUA_STANDBY,	0x12},
	[ALUA_TRANSITIONING] = { ALUA_STANDBY,    0x0a},
};

unsigned alua_slot_of(const struct lu *lu, uint32_t id)
{
	const struct alua *a = lu->alua;
	unsigned n = __atomic_load_n(&a->nslots, __ATOMIC_ACQUIRE);
	for (unsigned i = 0; i < n; i++)
		if (__atomic_load_n(&a->slots[i].id, __ATOMIC_RELAXED) == id)
			return i;
	return ALUA_GROUPS_MAX;
}

void alua_refresh_plain(struct lu *lu)
{
	struct alua *a = lu->alua;
	bool is_plain = true;
	pthread_mutex_lock(&lu->lock);
	for (unsigned i = 0; i < a->nslots; i++)
		if (alua_load(&a->slots[i].id) != ALUA_SLOT_FREE &&
		    alua_load(&a->slots[i].attr.alua_access_state) != ALUA_OPTIMIZED)
			is_plain = false;
	__atomic_store_n(&a->is_plain, is_plain, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lu->lock);
}

uint32_t alua_check_slow(const struct lu *lu, uint16_t group, const struct opcode_row *row)
{
	unsigned slot = alua_slot_of(lu, group);
	if (slot == ALUA_GROUPS_MAX)
		return 0;
	uint32_t state = alua_load(&lu->alua->slots[slot].attr.alua_access_state) & 15;
	if (!rules[state].ascq || row->alua < rules[state].refuses)
		return 0;
	return SENSE(SK_NOT_READY, 0x04, rules[state].ascq);
}

uint32_t alua_delay_slow(const struct lu *lu, uint16_t group)
{
	unsigned slot = alua_slot_of(lu, group);
	if (slot == ALUA_GROUPS_MAX)
		return 0;
	const struct alua_attr *a = &lu->alua->slots[slot].attr;
	return alua_load(&a->alua_access_state) == ALUA_NONOPTIMIZED
		       ? alua_load(&a->nonop_delay_msecs)
		       : 0;
}

uint8_t alua_tpgs(const struct lu *lu, uint16_t group)
{
	static const uint8_t bits[] = { 0x00, 0x10, 0x20, 0x30 };
	unsigned slot =
		lu_setting(&lu->attr.alua_support) ? alua_slot_of(lu, group) : ALUA_GROUPS_MAX;
	if (slot == ALUA_GROUPS_MAX)
		return 0;
	return bits[alua_load(&lu->alua->slots[slot].attr.alua_access_type) & 3];
}

uint8_t alua_supported(const struct alua_attr *a)
{
	return (uint8_t)((alua_load(&a->alua_support_transitioning) ? 0x80 : 0) |
			 (alua_load(&a->alua_support_offline) ? 0x40 : 0) |
			 (alua_load(&a->alua_support_lba_dependent) ? 0x10 : 0) |
			 (alua_load(&a->alua_support_unavailable) ? 0x08 : 0) |
			 (alua_load(&a->alua_support_standby) ? 0x04 : 0) |
			 (alua_load(&a->alua_support_active_nonoptimized) ? 0x02 : 0) |
			 (alua_load(&a->alua_support_active_optimized) ? 0x01 : 0));
}

bool alua_can_enter(const struct alua_attr *a, uint32_t state)
{
	static const uint8_t bit[16] = {
		[ALUA_OPTIMIZED] = 0x01,   [ALUA_NONOPTIMIZED] = 0x02, [ALUA_IN_STANDBY] = 0x04,
		[ALUA_UNAVAILABLE] = 0x08, [ALUA_OFFLINE] = 0x40,
	};
	return state < 16 && (alua_supported(a) & bit[state]);
}
