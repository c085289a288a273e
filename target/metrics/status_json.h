// SPDX-License-Identifier: BSD-2-Clause
// The text of /status.json, for the status page. Control thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct config;
struct history;

// started_ns: when the daemon started, by clock_ns(). For free(); NULL: no memory.
char *status_json(struct config *c, const struct history *h, uint64_t started_ns, size_t *ret_len);
