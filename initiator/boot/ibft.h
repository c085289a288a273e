// SPDX-License-Identifier: BSD-2-Clause
// The iSCSI Boot Firmware Table, as the kernel's iscsi_ibft shows it in /sys/firmware/ibft: which
// disk the firmware has booted from, and how it has reached it. Every value is checked. The
// program's thread; reading blocks on the file system.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/err.h"

#define IBFT_DIR "/sys/firmware/ibft"

enum {
	IBFT_OBJECTS_MAX = 8, // targets, and NICs
	IBFT_NAME_MAX = 223,
	IBFT_CHAP_MAX = 255,
	IBFT_ADDRESS_TEXT = 46,
	IBFT_LUN_TEXT = 17,
	IBFT_PORT = 3260, // unless the table has another one
};

enum { // of flags
	IBFT_IS_VALID = 1,
	IBFT_IS_SELECTED = 2,
};

struct ibft_address {
	int family; // AF_INET, AF_INET6; 0: none
	uint8_t bytes[16];
};

// What all objects have. One with a fault has an attribute that is wrong, which only matters if the
// object is used.
struct ibft_object {
	unsigned number;       // of its directory: targetN, ethernetN
	uint64_t index, flags; // flags: 0 if missing
	struct err fault;      // code 0: none
};

struct ibft_initiator {
	struct ibft_object object;
	char name[IBFT_NAME_MAX + 1]; // empty: the table has none
};

struct ibft_nic {
	struct ibft_object object;
	struct ibft_address ip, gateway, dns, dns2, dhcp;
	uint64_t prefix;      // bits of the network; 0: the table has none
	uint64_t mask_prefix; // the same, of subnet-mask
	uint64_t origin, vlan;
	bool has_mac;
	uint8_t mac[6];
};

struct ibft_target {
	struct ibft_object object;
	struct ibft_address ip;
	uint64_t port, nic; // nic: index of a NIC
	bool has_lun, has_nic;
	uint16_t lun;
	char lun_text[IBFT_LUN_TEXT]; // as the kernel writes it
	char name[IBFT_NAME_MAX + 1];
	uint64_t chap_type;					 // 0: none, 1: one-way, 2: mutual
	char user[IBFT_CHAP_MAX + 1], secret[IBFT_CHAP_MAX + 1]; // empty: none
	char mutual_user[IBFT_CHAP_MAX + 1], mutual_secret[IBFT_CHAP_MAX + 1];
};

struct ibft {
	struct ibft_initiator initiator;
	struct ibft_nic nics[IBFT_OBJECTS_MAX];
	struct ibft_target targets[IBFT_OBJECTS_MAX];
	unsigned nic_count, target_count; // by number
};

// Reads the table of a directory; ret has secrets: wipe it with ibft_wipe(). -ENOENT: there is no
// table; others of the file system, with a text.
int ibft_read(struct ibft *ret, const char *dir, struct err *e);
void ibft_wipe(struct ibft *i);

// The object of that name, which is made if there is room ("initiator", "target0", "ethernet1");
// NULL: no such kind, or too many.
struct ibft_object *ibft_object(struct ibft *i, const char *name);
// Takes an attribute of the object of that name, len bytes as its file has them; what is wrong is
// its fault. Unknown attributes are ignored.
void ibft_take(struct ibft *i, const char *object, const char *attribute, const char *text,
	       size_t len);

// The disk to boot from: its target at one or several portals, all with the same name, LUN and
// credentials.
struct ibft_choice {
	const struct ibft_target *paths[IBFT_OBJECTS_MAX];
	unsigned count;
	const struct ibft_target *others[IBFT_OBJECTS_MAX]; // valid, but another disk
	unsigned other_count;
	bool is_unselected; // the firmware has selected no target: the first valid one
};
// The first target that is valid and selected, else the first valid one, whatever it lacks. NULL:
// no target is valid.
const struct ibft_target *ibft_chosen(const struct ibft *i);
// That target, and the valid ones that lead to the same disk.
// -ENOENT: no target is valid; -EINVAL: what it has is wrong or incomplete; with a text.
int ibft_choose(const struct ibft *i, struct ibft_choice *ret, struct err *e);

// The NIC of a target: that of its nic-assoc, or the only one. NULL: unknown.
const struct ibft_nic *ibft_nic_of(const struct ibft *i, const struct ibft_target *t);
// The bits of its network; 0: unknown.
unsigned ibft_prefix(const struct ibft_nic *n);
bool ibft_is_dhcp(const struct ibft_nic *n);

// "192.0.2.1", "2001:db8::1"; empty: none.
void ibft_address_text(const struct ibft_address *a, char ret[IBFT_ADDRESS_TEXT]);
bool ibft_is_link_local(const struct ibft_address *a); // of IPv6

// ---- print.c ----

// The name of the interface of a NIC (network.h); "": unknown.
typedef void ibft_interface_fn(const struct ibft_nic *n, char *ret, size_t size);

// The valid targets as records in the form of iscsistart -f, without secrets. Returns how many.
unsigned ibft_print(const struct ibft *i, const char *transport, ibft_interface_fn *interface,
		    FILE *out);
struct json_object;
// The same as a new array of objects; NULL: no memory.
struct json_object *ibft_json(const struct ibft *i, ibft_interface_fn *interface);
