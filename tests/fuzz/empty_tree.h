// SPDX-License-Identifier: BSD-2-Clause
// An empty tree for fuzzers of configuration changes; nothing is saved.
#pragma once

#include <stdlib.h>

#include "core/log.h"
#include "target/config/change/plan.h"
#include "target/config/config.h"
#include "target/config/file/saved_file.h"
#include "target/config/targets/targets.h"
#include "../unit/target/all_fabrics.h"

static inline struct config *empty_tree(void)
{
	struct worker_options wo = { .name = "control", .cpu = -1, .is_control = true };
	struct config_options co = { .file = "/dev/null/saveconfig.json" };
	struct config *ret;
	struct err e;
	log_threshold = LOG_LVL_ERROR;
	use_all_fabrics();
	if (worker_new(&co.control, &wo, &e) < 0 || config_new(&ret, &co, &e) < 0)
		abort();
	return ret;
}
