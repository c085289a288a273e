// SPDX-License-Identifier: BSD-2-Clause
// A walk over the configured objects, for metrics. Control thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct config;
struct fabric_ops;
struct lu;

// Called for each object; texts are borrowed. NULL: that kind of object is skipped.
struct survey {
	// path: "/backstores/TYPE/NAME"; lu: NULL while waiting; size in bytes.
	void (*disk)(void *arg, const char *path, const struct lu *lu, uint64_t size);
	void (*target)(void *arg, const struct fabric_ops *fabric, const char *name);
	// disk: its path, "": missing.
	void (*lun)(void *arg, const char *target, unsigned tpg, uint32_t lun, const char *disk);
	void (*portal)(void *arg, const char *target, unsigned tpg, const char *name, bool is_up);
};

// Disks first, then each target with its LUNs and portals.
void config_survey(struct config *c, const struct survey *s, void *arg);
