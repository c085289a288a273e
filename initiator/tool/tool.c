// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator: the session of a subcommand, and what its user is told of it. The program's
// thread; the session runs on a separate worker (initiator/sync.h).
#include "initiator/tool/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int tool_fail(int status, const struct err *e)
{
	tool_interrupt_over();
	if (e->code == -ECANCELED && tool_interrupted())
		return tool_interrupted();
	tool_say("%s", e->text);
	return status;
}

int tool_fail_by(const struct err *e)
{
	return tool_fail(tool_status_of(e), e);
}

void tool_say_waiting(const struct err *why)
{
	enum { CAUSES_MAX = 16 };
	static uint64_t told[CAUSES_MAX]; // hashes of the texts
	static unsigned count;
	uint64_t hash = 0xcbf29ce484222325ull; // FNV-1a
	for (const char *text = why->text; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3ull;
	for (unsigned i = 0; i < count && i < CAUSES_MAX; i++)
		if (told[i] == hash)
			return;
	told[count++ % CAUSES_MAX] = hash;
	tool_say("waiting: %s", why->text);
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

int tool_path_set(struct tool_path *p, scsi_open_fn *open, void *config, size_t size, struct err *e)
{
	p->open = open;
	p->config_size = size;
	p->config = malloc(size);
	if (p->config)
		memcpy(p->config, config, size);
	explicit_bzero(config, size);
	return p->config ? TOOL_OK : (err_set(e, -ENOMEM, "session: out of memory"), TOOL_FAILED);
}

void tool_path_done(struct tool_path *p)
{
	if (p->config)
		explicit_bzero(p->config, p->config_size);
	free(p->config);
	*p = (struct tool_path){ 0 };
}

static int login(struct tool *t, const struct tool_path *p, struct err *e)
{
	const struct scsi_sync_ops *ops = t->o.allows_replaced ? &allowing_ops : &sync_ops;
	memcpy(t->target, p->target, sizeof t->target);
	t->lun = p->lun;
	tool_interrupt_init();
	int r = scsi_sync_open(&t->sync, p->open, p->config, ops, e);
	if (r)
		return TOOL_FAILED;
	tool_interrupt_set(t->sync);
	if (t->opened)
		t->opened(t);
	return TOOL_OK;
}

int tool_open(struct tool *t, bool needs_lun)
{
	struct tool_path p = { 0 };
	struct err e;
	int status = t->path(t, t->o.args[0], needs_lun, &p, &e);
	if (!status)
		status = login(t, &p, &e);
	tool_path_done(&p);
	return status ? tool_fail(status, &e) : TOOL_OK;
}

int tool_open_path(struct tool *t, const struct tool_path *p)
{
	struct err e;
	int status = login(t, p, &e);
	return status ? tool_fail(status, &e) : TOOL_OK;
}

int tool_open_more(struct tool *t, struct scsi_sync **ret, unsigned count, struct err *e)
{
	const struct scsi_sync_ops *ops = t->o.allows_replaced ? &allowing_ops : &sync_ops;
	struct tool_path p = { 0 };
	int r = count && t->path(t, t->o.args[0], true, &p, e) ? -EINVAL : 0;
	for (unsigned i = 0; i < count && !r; i++) {
		if (tool_interrupted()) {
			r = err_set(e, -ECANCELED, "interrupted");
			break;
		}
		r = scsi_sync_open(&ret[i], p.open, p.config, ops, e);
		if (!r)
			r = scsi_sync_watch(ret[i], t->lun, e);
		if (r)
			err_prefix(e, "session %u", i + 2);
	}
	tool_path_done(&p);
	return r;
}

void tool_close(struct tool *t)
{
	tool_interrupt_set(NULL);
	scsi_sync_close(t->sync);
	t->sync = NULL;
}
