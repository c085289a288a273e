// SPDX-License-Identifier: BSD-2-Clause
// Answers of an I/O unit to device management datagrams: each target is an I/O controller with one
// service. IBA volume 1, 16.3; T10 SRP-r16a annex B. This is how ibsrpdm and srp_daemon find
// targets.
//
// Pure functions over the caller's bytes: any thread, nothing blocks, nothing allocates. The peer
// is not trusted, and anybody on the fabric may ask.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/wire/dm.h"

struct srp_controller {
	uint8_t id_ext[8], ioc_guid[8]; // the target port identifier
	uint64_t service_id;		// of IB-CM: rnic_service_id()
	char name[DM_ID_LEN];		// for people; ends with a NUL
};

struct srp_io_unit {
	uint16_t change_id; // another one after each change of the list
	unsigned count;	    // at most DM_SLOTS_MAX
	const struct srp_controller *controllers;
};

// Writes the reply to the MAD of len bytes. False: it gets none, since it is not a request, of
// another class, or has not the size of a MAD.
bool srp_dm_answer(const struct srp_io_unit *u, const void *mad, size_t len, struct dm_mad *reply);
