// SPDX-License-Identifier: BSD-2-Clause
// Removal of nexuses by another one (nexus_ops.remove): finds their sessions on all workers and of
// all fabrics, decides whether the asking session may, ends them and waits for their last command.
#pragma once

#include "target/fabric/session.h"
#include "target/scsi/nexus_ops.h"

// For nexus_ops.remove of a fabric, whose session by is. By's worker.
struct nexus_removal *removal_begin(struct session *by, const struct nexus_name *names,
				    unsigned count, void (*done)(void *arg, int bad), void *arg);
// nexus_ops.remove_cancel. The worker of removal_begin().
void removal_cancel(struct nexus_removal *r);

// The nexus of s was freed: whoever removes it need not wait any longer. Each fabric calls it; s's
// worker.
void removal_nexus_ended(struct session *s);
