// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator: the session of a subcommand, and what its user is told of it. The program's
// thread; the session runs on a separate worker (initiator/sync.h).
#include "initiator/tool/tool.h"

#include <errno.h>

int tool_fail(int status, const struct err *e)
{
	if (e->code == -ECANCELED && tool_interrupted())
		return tool_interrupted();
	tool_say("%s", e->text);
	return status;
}

static void say_waits(const struct err *why, unsigned seconds)
{
	tool_say("%s; retrying for %u s (--replacement-timeout)", why->text, seconds);
}

static void say_back(void)
{
	tool_say("session restored");
}

static bool say_changed(enum scsi_lu_change change, const struct err *why)
{
	tool_say("%s; continuing (--allow-replaced)", why->text);
	return true;
}

// A transfer to two different disks, or to one that lost a part of it, fails unless the user
// permits it.
static const struct scsi_sync_ops sync_ops = { .waits = say_waits, .back = say_back },
				  allowing_ops = { .waits = say_waits,
						   .back = say_back,
						   .changed = say_changed };

int tool_open(struct tool *t, bool needs_lun)
{
	return t->open(t, needs_lun);
}

int tool_login(struct tool *t, scsi_open_fn *open, const void *config, struct err *e)
{
	const struct scsi_sync_ops *ops = t->o.allows_replaced ? &allowing_ops : &sync_ops;
	int r = scsi_sync_open(&t->sync, open, config, ops, e);
	if (!r)
		tool_interrupt_set(t->sync);
	return r;
}

void tool_close(struct tool *t)
{
	tool_interrupt_set(NULL);
	scsi_sync_close(t->sync);
	t->sync = NULL;
}
