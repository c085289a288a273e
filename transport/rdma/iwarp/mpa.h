// SPDX-License-Identifier: BSD-2-Clause
// MPA startup frames: encodes, decodes and negotiates. Pure functions; any
// thread, nothing blocks. RFC 5044 7.1, RFC 6581 6 and 9.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "transport/wire/iwarp.h"

// A startup frame. ird and ord hold the depth alone; 0 without enhanced data.
struct mpa_frame {
	bool is_reply;
	uint8_t flags; // MPA_M, MPA_C, MPA_R; MPA_S: enhanced data is present
	uint8_t revision;
	uint16_t ird, ord;
	uint16_t peer_to_peer; // MPA_A
	uint16_t rtr;	       // MPA_W, MPA_D; MPA_B of a request is dropped
	const uint8_t *private_data;
	uint32_t private_len;
};

// The length of the whole frame that begins with these MPA_STARTUP_LEN bytes, at most
// MPA_STARTUP_LEN + MPA_PRIVATE_MAX. -EPROTO: not a request (or reply).
int mpa_frame_len(const uint8_t *head, bool is_reply, struct err *e);

// Reads a whole frame whose length mpa_frame_len() has returned; private_data points into it.
// -EPROTO: announced enhanced data is missing.
int mpa_parse(const uint8_t *frame, struct mpa_frame *ret, struct err *e);

// Writes f; returns its length. private_len at most MPA_PRIVATE_MAX - MPA_ENHANCED_LEN.
size_t mpa_build(const struct mpa_frame *f, uint8_t out[MPA_STARTUP_LEN + MPA_PRIVATE_MAX]);

// Fills the reply to a request, if we accept up to reads_in concurrent reads of the peer, want up
// to reads_out of our own, and want a CRC or not. Its ird (reads of the peer) and ord (ours) are
// the negotiated values, or ours unchanged if the peer does not negotiate.
void mpa_answer(struct mpa_frame *ret, const struct mpa_frame *request, uint32_t reads_in,
		uint32_t reads_out, bool wants_crc);
