// SPDX-License-Identifier: BSD-2-Clause
// Limits of block commands of a logical unit, computed in one place from its settings and its
// backstore, so that VPD pages B0, B1 and B2, READ CAPACITY(16) and the handlers agree (SBC-4 6.6.3
// to 6.6.6). Any worker; cheap, allocates nothing.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct lu;

struct sbc_limits {
	// Provisioning: READ CAPACITY(16) LBPME and LBPRZ, VPD B2.
	bool is_thin;		    // LBPME: blocks can be unmapped
	bool can_unmap;		    // LBPU: UNMAP
	bool can_write_same_unmap;  // LBPWS and LBPWS10: WRITE SAME with the UNMAP bit
	bool unmap_zeroes;	    // LBPRZ: unmapped blocks read as zeroes
	bool can_anchor;	    // ANC_SUP
	uint8_t provisioning_type;  // 0 not thin, 2 thin
	uint8_t threshold_exponent; // B2 byte 4: 0, no threshold sets are reported
	// Block limits, VPD B0; in blocks unless noted otherwise.
	bool wsnz;		       // WRITE SAME of 0 blocks is refused
	uint8_t max_compare_and_write; // 0: not supported
	uint16_t transfer_granularity; // OPTIMAL TRANSFER LENGTH GRANULARITY
	uint32_t max_transfer;	       // 0: no limit
	uint32_t optimal_transfer;     // 0: not known
	uint32_t max_prefetch;	       // 0: no limit
	uint32_t max_unmap_blocks;     // sum over one UNMAP's descriptors
	uint32_t max_unmap_descriptors;
	uint32_t unmap_granularity; // 0: not known
	uint32_t unmap_alignment;   // valid (UGAVALID) if has_unmap_alignment
	bool has_unmap_alignment;
	uint64_t max_write_same;
	uint32_t atomic_max;			       // longest WRITE ATOMIC(16); 0: not supported
	uint32_t atomic_alignment, atomic_granularity; // 0: no restriction
	uint32_t atomic_max_with_boundary, atomic_boundary; // longest with an atomic boundary,
							    // largest boundary
	// Block device characteristics, VPD B1.
	uint16_t rotation_rate; // 1: does not rotate
	uint8_t wabereq;	// 1: reads succeed after a BLOCK ERASE; 0: no BLOCK ERASE
	uint8_t wacereq;	// 0: no CRYPTO ERASE
	// READ CAPACITY(16).
	uint8_t lbppb_exponent; // a physical block has 2^n logical blocks
};

struct sbc_limits sbc_limits_of(const struct lu *lu);

// For is_available of the dispatch rows.
bool sbc_has_unmap(const struct lu *lu);
bool sbc_has_compare_and_write(const struct lu *lu);
bool sbc_has_write_atomic(const struct lu *lu);
bool sbc_has_block_erase(const struct lu *lu);
