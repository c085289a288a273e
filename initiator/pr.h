// SPDX-License-Identifier: BSD-2-Clause
// Persistent reservations: types, parameter data of PERSISTENT RESERVE IN parsed, that of
// PERSISTENT RESERVE OUT built. Pure functions, any thread. SPC-5 6.15, 6.16, 7.6.4.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { // service actions of PERSISTENT RESERVE IN
	PR_READ_KEYS = 0,
	PR_READ_RESERVATION = 1,
	PR_REPORT_CAPABILITIES = 2,
	PR_READ_FULL_STATUS = 3,
};

enum { // those of PERSISTENT RESERVE OUT
	PR_RESERVE = 1,
	PR_CLEAR = 3,
	PR_PREEMPT_AND_ABORT = 5,
	PR_REGISTER_AND_IGNORE = 6,
};

enum { PR_TYPE_WRITE_REGISTRANTS = 5 }; // Write Exclusive - Registrants Only

enum { PR_OUT_LEN = 24, PR_PORT_TEXT = 256 };

// "write-exclusive" for 1, ...; "type N" for an unknown one. Valid until the next call of the
// thread.
const char *pr_type_name(uint8_t type);
// A name, an abbreviation (we, ea, wero, earo, wear, eaar) or a number; 0: no such type.
uint8_t pr_type_parse(const char *text);

// What follows the header of READ KEYS, READ RESERVATION and READ FULL STATUS, within the len
// bytes received.
struct pr_list {
	uint32_t generation;
	const uint8_t *data;
	uint32_t len;
	bool is_cut; // the target has more than was received
};
// False: no header.
bool pr_list_parse(struct pr_list *ret, const uint8_t *data, uint32_t len);

// The key at index; false: after the last one.
bool pr_key_at(const struct pr_list *l, uint32_t index, uint64_t *ret);

struct pr_reservation {
	uint64_t key;
	uint8_t scope, type;
};
// False: no reservation.
bool pr_reservation_parse(const struct pr_list *l, struct pr_reservation *ret);

struct pr_registration {
	uint64_t key;
	bool is_holder, has_all_ports;
	uint8_t scope, type;	 // if is_holder
	uint16_t relative_port;	 // of the target; unless has_all_ports
	char port[PR_PORT_TEXT]; // of the initiator, printable ASCII
};
// The next registration from *at on (0 first), which is moved behind it; false: the end, or what
// follows is malformed (*at is then less than l->len).
bool pr_registration_next(const struct pr_list *l, uint32_t *at, struct pr_registration *ret);

struct pr_capabilities {
	bool replaces_lost, compatible_reserve, specified_ports, all_ports, persists, is_persistent;
	bool has_types;
	uint16_t types; // bit N: type N
};
// False: fewer than 8 bytes.
bool pr_capabilities_parse(struct pr_capabilities *ret, const uint8_t *data, uint32_t len);

// The parameter list of PERSISTENT RESERVE OUT.
void pr_out_build(uint8_t ret[PR_OUT_LEN], uint64_t key, uint64_t service_key);
