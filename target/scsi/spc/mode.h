// SPDX-License-Identifier: BSD-2-Clause
// Mode pages (SPC-4 7.5, SBC-3 6.5): one set of values for all nexuses. Nothing is saved: a reset
// restores the defaults.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lu;
struct lu_part;

// Values that MODE SELECT can change.
struct mode_values {
	bool d_sense; // Control: descriptor format sense data
	bool swp;     // Control: software write protect
	bool wce;     // Caching: write cache enabled
};

enum mode_pc { MODE_CURRENT, MODE_CHANGEABLE, MODE_DEFAULT, MODE_SAVED };

struct mode_values mode_current(const struct lu *lu); // any thread
// Applies v; home worker.
void mode_set(struct lu *lu, const struct mode_values *v);
// A reset restores the defaults.
extern const struct lu_part mode_part;

// Writes page/subpage (3Fh: all pages, subpage FFh: all subpages) to out, which has room for
// MODE_PAGES_MAX bytes. Returns the length, 0: no such page.
#define MODE_PAGES_MAX 256
unsigned mode_pages_build(const struct lu *lu, uint8_t page, uint8_t subpage, enum mode_pc pc,
			  uint8_t *out);

// Parses a MODE SELECT parameter list of len bytes (is_ten: the 10-byte command's header) into
// *v, which holds the current values. 0, or the sense code; *ret_byte is then the invalid byte for
// INVALID FIELD IN PARAMETER LIST. Pure function over hostile data.
uint32_t mode_select_parse(const struct lu *lu, const uint8_t *list, size_t len, bool is_ten,
			   struct mode_values *v, unsigned *ret_byte);
