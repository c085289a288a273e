// SPDX-License-Identifier: BSD-2-Clause
// Names of SRP ports [SRP annex B] as the kernel's target and rtslib write them. Pure functions,
// any thread.
#pragma once

#include "core/err.h"

enum { SRP_NAME_MAX = 223 }; // bytes

// "ib." and 32 hex digits from the spellings in use. -EINVAL with text.
int name_srpt_target(const char *in, char out[SRP_NAME_MAX + 1], struct err *e);
// The same of an initiator port id; "xxxx:xxxx:xxxx:xxxx" of a port GUID; an IP address.
int name_srpt_initiator(const char *in, char out[SRP_NAME_MAX + 1], struct err *e);
