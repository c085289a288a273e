// SPDX-License-Identifier: BSD-2-Clause
// A disk that is attached on this machine is not overwritten: its lock (initiator/holder/claim.h)
// is held by the process of the attachment, else by this one until its end. The program's thread.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "initiator/disk/facts.h"
#include "initiator/holder/claim.h"
#include "initiator/holder/holder.h"
#include "initiator/tool/tool.h"

struct place {
	struct tool_disk *disk;
	struct holder_target target;
};

static void place_run(void *arg)
{
	struct place *p = arg;
	scsi_session_describe(scsi_sync_session(p->disk->sync), holder_take_target, &p->target);
}

// What the unit reports; what it does not stays empty.
static void facts_of(struct tool_disk *d, struct facts *ret)
{
	static uint8_t data[FACTS_DATA_MAX];
	struct scsi_sync_cmd c;
	*ret = (struct facts){ 0 };
	for (unsigned i = 0; i < facts_step_count; i++) {
		const struct facts_step *s = &facts_steps[i];
		uint8_t page = s->args.page;
		if (s->op != SCSI_INQUIRY || (page && page != 0x80 && page != 0x83))
			continue;
		if (scsi_cmd_set(&c.cmd, d->lun, s->op, &s->args, data, s->bytes))
			continue;
		scsi_sync_run(d->sync, &c);
		if (scsi_cmd_is_good(&c.cmd))
			s->take(ret, data, c.cmd.data_len);
	}
}

// The claim is ours, so the process that left the record is dead.
static int check_former(const char *dir, const char *name, uint16_t lun, struct err *e)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/%s.nexuses", dir, name);
	if (access(path, F_OK) < 0)
		return 0;
	return err_set(e, -EBUSY,
		       "LUN %u: refusing to overwrite %.100s: a process that had attached it died, "
		       "and its writes may still arrive (attach ends them; --force overwrites it)",
		       lun, name);
}

int tool_claim(struct tool *t, struct tool_disk *d, struct err *e)
{
	const char *dir = t->o.run_dir ? t->o.run_dir : HOLDER_RUN_DIR;
	struct place p = { .disk = d };
	struct facts f;
	struct err why;
	char name[DISK_IDENTITY_TEXT];
	int fd;
	facts_of(d, &f);
	worker_call(scsi_sync_worker(d->sync), place_run, &p);
	int r = holder_claim_name(&f.disk, p.target.name, d->lun, name, e);
	if (r < 0)
		return r;
	r = holder_claim(dir, name, &fd, &why);
	// Attachments of another user: this one cannot see which disks they have.
	if (r == -EACCES || r == -EPERM)
		return err_set(e, -EBUSY,
			       "LUN %u: refusing to overwrite %.100s: cannot tell whether it is "
			       "attached on this machine: %s (--force overwrites it)",
			       d->lun, name, why.text);
	if (!r)
		return check_former(dir, name, d->lun, e);
	if (r != -EADDRINUSE) // there are no attachments
		return 0;
	return err_set(
		e, -EBUSY,
		"LUN %u: refusing to overwrite %.100s: it is attached on this machine, or another "
		"command writes it (farblock-initiator attached lists disks; --force overwrites "
		"it)",
		d->lun, name);
}
