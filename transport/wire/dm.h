// SPDX-License-Identifier: BSD-2-Clause
// Device management of InfiniBand on the wire: datagrams (MADs) that ask an I/O unit which I/O
// controllers it has, and by which services they are reached. Constants and layouts only;
// multi-byte fields are big-endian. IBA volume 1, 13.4 (header, status), 16.3 (the class); what the
// controllers of SRP report: T10 SRP-r16a annex B.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	DM_MAD_LEN = 256,
	DM_DATA_LEN = 192,
	DM_BASE_VERSION = 1,
	DM_CLASS = 6,
	DM_CLASS_VERSION = 1,
	DM_QPN = 1,
	DM_QKEY = 0x80010000, // of every QP 1
	DM_SLOTS_MAX = 255,   // of an I/O unit
	DM_NAME_LEN = 40,     // of a service
	DM_ID_LEN = 64,	      // ID string of a controller
};

enum dm_method {
	DM_GET = 0x01,
	DM_SET = 0x02,
	DM_SEND = 0x03,
	DM_TRAP = 0x05,
	DM_TRAP_REPRESS = 0x07,
	DM_RESPONSE = 0x80, // this bit: a response
};

enum dm_status {
	DM_OK = 0,
	DM_BAD_VERSION = 0x0004,
	DM_BAD_METHOD = 0x0008,
	DM_BAD_ATTRIBUTE = 0x000c, // ... or the method is not one of the attribute
	DM_BAD_FIELD = 0x001c,
	DM_NO_CONTROLLER = 0x0100, // the slot is empty
};

enum dm_attribute {
	DM_CLASS_PORT_INFO = 0x0001,
	DM_IO_UNIT_INFO = 0x0010,
	DM_CONTROLLER_PROFILE = 0x0011, // modifier: the slot, from 1
	DM_SERVICE_ENTRIES = 0x0012,	// modifier: slot << 16 | last << 8 | first
};

struct dm_mad {
	uint8_t base_version;	   // 0
	uint8_t mgmt_class;	   // 1
	uint8_t class_version;	   // 2
	uint8_t method;		   // 3
	uint8_t status[2];	   // 4
	uint8_t rsvd1[2];	   // 6
	uint8_t tid[8];		   // 8
	uint8_t attribute[2];	   // 16
	uint8_t rsvd2[2];	   // 18
	uint8_t modifier[4];	   // 20
	uint8_t rsvd3[40];	   // 24
	uint8_t data[DM_DATA_LEN]; // 64
};
_Static_assert(sizeof(struct dm_mad) == DM_MAD_LEN, "dm_mad");
_Static_assert(offsetof(struct dm_mad, data) == 64, "dm_mad.data");

struct dm_class_port_info {
	uint8_t base_version;	 // 0
	uint8_t class_version;	 // 1
	uint8_t capabilities[2]; // 2
	uint8_t rsvd[3];	 // 4
	uint8_t response_time;	 // 7: 4.096 us << this
	uint8_t redirect[32];	 // 8: none
	uint8_t trap[32];	 // 40: no traps
};
_Static_assert(sizeof(struct dm_class_port_info) == 72, "dm_class_port_info");

// What a slot has: a nibble of slots, the first slot in the upper one of the first byte.
enum { DM_SLOT_EMPTY = 0, DM_SLOT_PRESENT = 1, DM_SLOT_NONE = 0xf };

struct dm_io_unit_info {
	uint8_t change_id[2];	 // 0: changes with slots
	uint8_t max_controllers; // 2
	uint8_t flags;		 // 3
	uint8_t slots[128];	 // 4
};
_Static_assert(sizeof(struct dm_io_unit_info) == 132, "dm_io_unit_info");

// operations of a controller.
enum {
	DM_SEND_TO = 0x01,
	DM_SEND_FROM = 0x02,
	DM_READ_FROM = 0x08,
	DM_WRITE_FROM = 0x20,
};

// What SRP's controllers are.
enum {
	DM_SRP_IO_CLASS = 0x0100,
	DM_SRP_IO_SUBCLASS = 0x609e,
	DM_SRP_PROTOCOL = 0x0108,
	DM_SRP_PROTOCOL_VERSION = 1,
};

struct dm_controller_profile {
	uint8_t guid[8];	     // 0
	uint8_t vendor[4];	     // 8
	uint8_t device[4];	     // 12
	uint8_t device_version[2];   // 16
	uint8_t rsvd1[2];	     // 18
	uint8_t subsystem_vendor[4]; // 20
	uint8_t subsystem[4];	     // 24
	uint8_t io_class[2];	     // 28
	uint8_t io_subclass[2];	     // 30
	uint8_t protocol[2];	     // 32
	uint8_t protocol_version[2]; // 34
	uint8_t connections[2];	     // 36
	uint8_t initiators[2];	     // 38
	uint8_t send_depth[2];	     // 40
	uint8_t rsvd2;		     // 42
	uint8_t read_depth;	     // 43
	uint8_t send_size[4];	     // 44: longest request
	uint8_t rdma_size[4];	     // 48: longest RDMA
	uint8_t operations;	     // 52
	uint8_t service_caps;	     // 53
	uint8_t services;	     // 54: entries
	uint8_t rsvd3[9];	     // 55
	uint8_t id[DM_ID_LEN];	     // 64
};
_Static_assert(sizeof(struct dm_controller_profile) == 128, "dm_controller_profile");
_Static_assert(offsetof(struct dm_controller_profile, send_size) == 44, "send_size");
_Static_assert(offsetof(struct dm_controller_profile, services) == 54, "services");

struct dm_service {
	uint8_t name[DM_NAME_LEN]; // 0: "SRP.T10:" and 16 hex digits of the id_ext
	uint8_t id[8];		   // 40
};
_Static_assert(sizeof(struct dm_service) == 48, "dm_service");
