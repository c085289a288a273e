// SPDX-License-Identifier: BSD-2-Clause
// The negotiation of the NBD protocol, as the server: fixed newstyle, one export. Pure functions:
// bytes in, bytes out. The client is not trusted.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	NEGOTIATION_IN_MAX = 8192,  // bytes of an option
	NEGOTIATION_OUT_MAX = 1024, // bytes of the answers to one option
	NEGOTIATION_OPTIONS_MAX = 64,
	NEGOTIATION_QUERIES_MAX = 64, // for meta contexts, of an option
};

struct negotiation_export {
	const char *name;
	uint64_t bytes;
	uint32_t block_size, preferred, data_max; // bytes
	uint16_t flags;				  // a structured reply adds NBD_CAN_DF
	uint32_t context;			  // id of base:allocation
};

enum negotiation_state {
	NEGOTIATION_WANTS_FLAGS,
	NEGOTIATION_WANTS_OPTION,
	NEGOTIATION_WANTS_DATA,
	NEGOTIATION_DONE,   // transmission follows
	NEGOTIATION_FAILED, // or ended by the client: close
};

struct negotiation {
	enum negotiation_state state;
	uint32_t want; // bytes that the state needs
	bool has_no_zeroes;
	bool is_structured;  // replies of the transmission
	bool has_allocation; // the context base:allocation was selected
	uint32_t option;
	unsigned options;
	struct negotiation_export export;
};

// Begins. Returns the bytes of the greeting in out.
size_t negotiation_begin(struct negotiation *n, const struct negotiation_export *export,
			 uint8_t out[NEGOTIATION_OUT_MAX]);
// Takes exactly n->want bytes. Returns the bytes to send, also before a close.
size_t negotiation_take(struct negotiation *n, const uint8_t *in, uint8_t out[NEGOTIATION_OUT_MAX]);
