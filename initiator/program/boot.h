// SPDX-License-Identifier: BSD-2-Clause
// Parts of boot, which has the options of iscsistart(8). The program's thread.
#pragma once

#include "initiator/boot/ibft.h"
#include "initiator/tool/tool.h"

#define BOOT_NAME "boot"

// boot_params.c: takes the settings of --param over into t's options; says which ones have no
// effect. -EINVAL with a text.
int boot_params(struct tool *t, struct err *e);

// boot_source.c: copies the secrets of the command line and overwrites them where other users see
// them. boot_forget_secrets() wipes the copies. -EINVAL with a text.
int boot_hide_secrets(struct tool_options *o, struct err *e);
void boot_forget_secrets(void);
// URLs and credentials of the disk, from the options or, with -b, from the iBFT, which they refer
// to. -EINVAL, -ENOENT with a text.
int boot_of_options(struct tool *t, struct err *e);
int boot_of_ibft(struct tool *t, const struct ibft *i, struct err *e);

// boot_retry.c: attaches the disk of t's URLs, or without a LUN all disks of the target, and tries
// again until --timeout. An exit status after printing the error.
int boot_attach(struct tool *t);
