// SPDX-License-Identifier: BSD-2-Clause
// SendTargets responses and TargetAddress values, both directions [RFC 7143 App. C, §13.8]. Pure
// functions, any thread, nothing blocks.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "transport/iscsi/text.h"

enum { ISCSI_HOST_MAX = 255 };

struct iscsi_address {
	char host[ISCSI_HOST_MAX + 1]; // without brackets
	uint16_t port;		       // ISCSI_PORT if absent
	bool has_port, has_tpgt;
	uint16_t tpgt;
};

// host[:port][,tpgt] with IPv6 in brackets. -EINVAL with a text.
int iscsi_address_parse(const char *value, struct iscsi_address *ret, struct err *e);

// The inverse; with the tag only if has_tpgt. -ENOSPC: it does not fit.
int iscsi_address_format(const struct iscsi_address *a, char *ret, size_t size);

// A record is one TargetName followed by any number of TargetAddress. -ENOSPC, -EINVAL.
int sendtargets_append_name(struct text_out *o, const char *target_name);
int sendtargets_append_address(struct text_out *o, const char *host, uint16_t port, uint16_t tpgt);

struct sendtargets_iter {
	struct text_iter text;
	char name[ISCSI_NAME_MAX + 1];
	bool is_name_pending; // no address seen yet
};
struct sendtargets_record {
	char target_name[ISCSI_NAME_MAX + 1];
	bool has_address; // false: at the address that was queried
	struct iscsi_address address;
};

void sendtargets_iter_init(struct sendtargets_iter *it, const void *text, size_t len);

// 1: one target at one address. 0: the end. -EPROTO with a text: not a SendTargets response.
int sendtargets_next(struct sendtargets_iter *it, struct sendtargets_record *ret, struct err *e);
