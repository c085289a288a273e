// SPDX-License-Identifier: BSD-2-Clause
// Addresses of SRP logical units as text: srp://HOST[:PORT]/ID_EXT:IOC_GUID[/LUN], and the strings
// that Linux's ib_srp takes in add_target, with /LUN appended:
// id_ext=...,ioc_guid=...,dest=ADDRESS:PORT[,KEY=VALUE ...][/LUN]. Port identifiers are T10 SRP
// annex B's. Pure functions, any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "transport/wire/srp.h"

enum { SRPS_HOST_MAX = 255 + 16 };

struct srps_address {
	char portal[SRPS_HOST_MAX + 1]; // "host", "host:port"
	char local[SRPS_HOST_MAX + 1];	// address to connect from; empty: any
	uint8_t target[SRP_PORT_ID_LEN];
	bool has_target, has_initiator_ext, has_lun;
	uint8_t initiator_ext[8]; // first half of the initiator's port identifier
	uint16_t lun;		  // 0 .. 16383
	// Of an add_target string; 0: not given.
	unsigned channels, channel_depth, queue_depth;
	uint32_t it_iu_len;
	char ignored[128]; // keys without effect here, separated by commas
};

// Whether text is such a string rather than a URL.
bool srps_address_is_string(const char *text);
// Parses either. In a URL the target and the LUN may be missing, in a string the LUN. -EINVAL with
// a text.
int srps_address_parse(const char *text, struct srps_address *ret, struct err *e);
// "EXT:GUID", 16 hex digits each. -EINVAL with a text.
int srps_port_id_parse(const char *text, uint8_t ret[SRP_PORT_ID_LEN], struct err *e);

enum { SRPS_PORT_ID_TEXT = 34 };
const char *srps_port_id_format(const uint8_t id[SRP_PORT_ID_LEN], char ret[SRPS_PORT_ID_TEXT]);
