// SPDX-License-Identifier: BSD-2-Clause
// Kernel modules. The program's thread, may block.
#pragma once

// modprobe name, if this process is root's. 0: it has loaded it, or it was there; negative: not
// (no root, no such module, no modprobe). What the module does may still be missing.
int module_load(const char *name);
