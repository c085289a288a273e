// SPDX-License-Identifier: BSD-2-Clause
// Metric families for Prometheus, one file per subject. Each function writes complete families.
// Pure functions of a snapshot; any thread.
#pragma once

#include <stdio.h>

#include "target/metrics/snapshot.h"
#include "target/metrics/text.h"

void metrics_disks(FILE *out, const struct snapshot *s);    // disks.c
void metrics_luns(FILE *out, const struct snapshot *s);	    // luns.c: LUNs and their disks
void metrics_sessions(FILE *out, const struct snapshot *s); // sessions.c
void metrics_logins(FILE *out, const struct snapshot *s);   // logins.c: logins and connections
void metrics_workers(FILE *out, const struct snapshot *s);  // workers.c

// All families as one OpenMetrics document. For free(); NULL: no memory.
char *metrics_text(const struct snapshot *s, size_t *ret_len);
