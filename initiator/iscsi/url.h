// SPDX-License-Identifier: BSD-2-Clause
// URLs of logical units, as libiscsi and QEMU write them: iscsi://[user@]host[:port]/target/lun,
// or iser://... over RDMA. A pure function, any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "transport/iscsi/chap.h"
#include "transport/iscsi/sendtargets.h"

struct ini_url {
	bool is_iser;
	char user[CHAP_USER_MAX + 1]; // CHAP name; empty: not given
	struct iscsi_address portal;
	char target[ISCSI_NAME_MAX + 1]; // normalised; empty: not given
	bool has_lun;
	uint16_t lun; // 0 .. 16383
};

// Parses text; target and lun may be missing. -EINVAL with a text. A password is refused: all users
// of the machine can read command lines.
int ini_url_parse(const char *text, struct ini_url *ret, struct err *e);
