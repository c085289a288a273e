// SPDX-License-Identifier: BSD-2-Clause
// What the commands that write have in common. Task's worker.
#pragma once

#include <stdint.h>

struct task;

// BS_FUA when the command's FUA bit or a cache that is switched off (WCE 0) asks for it.
uint32_t write_flags(const struct task *t);
