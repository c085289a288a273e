// SPDX-License-Identifier: BSD-2-Clause
// The settings of a logical unit: what they are, their check and their change.
#pragma once

#include <stdint.h>

#include "backstores/backstore.h"
#include "core/attr.h"
#include "core/err.h"

struct lu;

// Settings of a storage object; the rows are in lu_attr.c. Written by the control thread
// with relaxed atomic stores of single fields, read anywhere.
struct lu_attr {
	// Fields read by every command come first: see struct lu.
	uint32_t block_size, queue_depth, max_transfer_kib, emulate_fua_write;
	uint32_t emulate_tpu, emulate_tpws;
	uint32_t emulate_caw, emulate_3pc, emulate_pr, emulate_tas, emulate_ua_intlck_ctrl;
	uint32_t emulate_write_cache, emulate_fua_read, emulate_dpo;
	uint32_t emulate_model_alias, emulate_rest_reord, emulate_rsoc;
	uint32_t enforce_pr_isids, force_pr_aptpl;
	uint32_t is_nonrot, optimal_sectors, max_write_same_len;
	uint32_t max_unmap_lba_count, max_unmap_block_desc_count;
	uint32_t unmap_granularity, unmap_granularity_alignment, unmap_zeroes_data;
	uint32_t pi_prot_type, pi_prot_format, pi_prot_verify, alua_support, pgr_support;
	uint32_t hw_block_size, hw_queue_depth, hw_max_sectors, hw_pi_prot_type, submit_type;
	// ours
	uint32_t removable, max_caw_blocks, atomic_write_kib;
	uint32_t thin_threshold_percent;
	struct bs_faults faults; // filters error and delay
	char vendor[9], product[17], revision[5];
};

extern const struct attr_row lu_attr_rows[]; // of struct lu_attr, targetcli's names first

// A setting; the control thread may change it concurrently.
static inline uint32_t lu_setting(const uint32_t *field)
{
	return __atomic_load_n(field, __ATOMIC_RELAXED);
}

const struct lu_attr *lu_attr_of(const struct lu *lu); // any thread

// Checks the settings before use: -EINVAL with text for contradictory ones. Applies one setting to
// a live LU and raises its unit attention. Control thread.
int lu_attr_check(const struct lu_attr *attr, const struct bs_limits *limits, struct err *e);
int lu_attr_apply(struct lu *lu, const struct attr_row *row, const char *text, struct err *e);
// For lu_new(): adds the filters of attr.faults to the stack.
int lu_faults_apply(struct lu *lu, struct err *e);
// For lu_new(), on failure: restores the original stack.
void lu_faults_remove(struct lu *lu);
