// SPDX-License-Identifier: BSD-2-Clause
// What a logical unit says of itself, read from its responses. Pure functions; responses are
// hostile: parsed up to the received length. SPC-5 6.7, 7.7; SBC-4 5.20, 6.6.
#pragma once

#include "initiator/disk/disk.h"
#include "initiator/identity.h"
#include "initiator/scsi_cdb.h"

enum { FACTS_DATA_MAX = IDENTITY_DATA_MAX };

struct facts {
	struct disk_facts disk;
	struct identity identity;
	uint16_t port_group; // of the port that was asked; 0: none reported
	bool has_port_group, has_alua;
	bool has_unmap, has_write_same; // LBPU, LBPWS
	uint32_t unmap_blocks, unmap_descriptors, granularity_blocks;
	uint64_t write_same_blocks;
	uint32_t transfer_blocks, optimal_blocks;
	uint8_t physical_exponent;
	bool has_limits;
	uint16_t relative_port; // RELATIVE TARGET PORT IDENTIFIER of the port; 0: none reported
	bool has_promises_page; // page F0h is listed
	uint8_t promises;	// FACTS_*
	uint64_t server;	// page F0h: which farblockd it is; 0: unknown
};

// What farblockd announces in its vendor-specific VPD page F0h: "FARBLOCK" in bytes 4 to 11, these
// in byte 12. An answer comes only when nothing of the nexus can reach the storage any more.
enum {
	FACTS_REMOVE_FENCES = 1,    // that to REMOVE I_T NEXUS
	FACTS_REINSTATE_FENCES = 2, // that to a login of iSCSI that replaces the session
	FACTS_TERMINATE_FENCES = 4, // that to a login of SRP that ends the older channels
};

// A command that reads a part of the facts.
struct facts_step {
	enum scsi_op op;
	struct scsi_args args;
	uint32_t bytes;
	bool is_optional; // may be refused
	bool is_promises; // only if the page is listed
	void (*take)(struct facts *f, const uint8_t *data, uint32_t len);
};
extern const struct facts_step facts_steps[];
extern const unsigned facts_step_count;

// After all steps: fills f->disk. -EPROTO with a text: values that no disk has.
int facts_evaluate(struct facts *f, struct err *e);

// A response to GET LBA STATUS, of len bytes at data, for the range of bytes from offset on: in
// place, it becomes an array of extents (data aligned to 8, room for at least one). Descriptors
// count up to the first one that does not go on where the last one ended. Returns how many extents;
// without one, a single extent of data: the whole range [SBC-4 5.9.2].
unsigned facts_extents(const struct disk_facts *d, void *data, uint32_t len, uint64_t offset,
		       uint64_t bytes);
