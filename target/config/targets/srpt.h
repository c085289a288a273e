// SPDX-License-Identifier: BSD-2-Clause
// SRP targets. Private to target/config; control thread.
#pragma once

#include "target/config/targets/targets.h"

// /srpt/WWN: the target and its one portal group are the same node, a struct tpg.

extern const struct node_class srpt_class, srpt_target_class, srpt_acl_class;
