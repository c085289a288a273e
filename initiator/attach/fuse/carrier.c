// SPDX-License-Identifier: BSD-2-Clause
// --via fuse: a disk as a file of a FUSE filesystem, and a loop device of that file. For machines
// whose kernel has neither ublk nor nbd. The program's thread, which waits for the kernel while the
// disk's worker serves the file.
//
// Nothing of it outlives the process usefully: when that dies the file's requests fail. What is
// left, the next process of the attachment clears (place.c).
//
// The file is never kept open here: a process that ends would wait for itself.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/worker.h"
#include "initiator/attach/carrier.h"
#include "initiator/attach/fuse/filesystem.h"
#include "initiator/attach/fuse/loop.h"
#include "initiator/attach/fuse/place.h"
#include "initiator/attach/module.h"
#include "initiator/attach/use.h"

enum { CLEAR_SECONDS = 15, FORCED_SECONDS = 3, UNMOUNT_SECONDS = 10 };

struct fuse_carrier {
	struct carrier base;
	struct disk *disk;
	struct filesystem *filesystem;
	struct place place;
	int loop; // number
	char *name;
	struct carrier_events events;
	void *arg;
};

static struct fuse_carrier *of(const struct carrier *c)
{
	return container_of(c, struct fuse_carrier, base);
}

static int probe_device(const char *path, const char *module, struct err *e)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 && !module_load(module))
		fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, -errno, "fuse: %s: %s (load it: modprobe %s)", path,
			       strerror(errno), module);
	close(fd);
	return 0;
}

static int probe(struct err *e)
{
	if (geteuid())
		return err_set(e, -EPERM, "fuse: run as root");
	int r = probe_device("/dev/fuse", "fuse", e);
	return r ? r : probe_device("/dev/loop-control", "loop", e);
}

// ---- beginning ----

// On the disk's worker.
static void ended(void *arg, const struct err *why)
{
	struct fuse_carrier *f = arg;

	f->events.ended(f->arg, why);
}

static int make_device(struct fuse_carrier *f, struct err *e)
{
	const struct disk_facts *facts = disk_facts(f->disk);
	struct filesystem_config config = {
		.place = f->place.path,
		.name = f->name,
		.ended = ended,
		.arg = f,
	};
	int r = filesystem_new(&f->filesystem, f->disk, &config, e);

	if (r < 0)
		return r;
	return loop_new(&f->loop, f->place.file, facts->block_size, facts->is_read_only, e);
}

static void carrier_free(struct fuse_carrier *f)
{
	filesystem_free(f->filesystem);
	if (*f->place.path)
		place_leave(&f->place);
	free(f->name);
	free(f);
}

static int start(struct carrier **ret, struct disk *d, const struct carrier_config *config,
		 const struct carrier_events *events, void *arg, struct err *e)
{
	struct fuse_carrier *f = calloc(1, sizeof *f);

	*ret = NULL;
	if (!f)
		return err_errno(e, -ENOMEM, "fuse");
	*f = (struct fuse_carrier){
		.base.ops = &carrier_fuse,
		.disk = d,
		.loop = -1,
		.name = strdup(config->name),
		.events = *events,
		.arg = arg,
	};
	int r = f->name ? place_take(&f->place, config, e) : err_errno(e, -ENOMEM, "fuse");
	if (!r)
		r = make_device(f, e);
	if (r < 0) {
		if (f->filesystem)
			filesystem_is_stopping(f->filesystem);
		carrier_free(f);
		return r;
	}
	*ret = &f->base;
	return 0;
}

// ---- while it is attached ----

static void info(const struct carrier *c, struct carrier_info *ret)
{
	const struct fuse_carrier *f = of(c);

	*ret = (struct carrier_info){ .id = f->loop, .is_block_device = true };
	loop_path(ret->device, f->loop);
	snprintf(ret->extra, sizeof ret->extra, "%s", f->place.file);
}

// The file is open once, by the loop device. That a program has closed it the kernel tells a little
// later.
static int check_file(const struct fuse_carrier *f, struct err *e)
{
	for (unsigned i = 0; filesystem_opens(f->filesystem) > 1; i++) {
		if (i == 50)
			return err_set(e, -EBUSY, "%s: open in a program", f->place.file);
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	}
	return 0;
}

static int check_unused(const struct carrier *c, struct err *e)
{
	struct carrier_info i;

	info(c, &i);
	int r = use_check(i.device, e);
	return r ? r : check_file(of(c), e);
}

static void resized(struct carrier *c)
{
	loop_resize(of(c)->loop, of(c)->place.file);
}

// ---- end ----

static int stop(struct carrier *c, bool is_forced, struct err *e)
{
	struct fuse_carrier *f = of(c);
	struct err ignored;

	if (is_forced)
		filesystem_fail(f->filesystem);
	int r = loop_clear(f->loop, f->place.file, is_forced ? FORCED_SECONDS : CLEAR_SECONDS,
			   is_forced, is_forced ? &ignored : e);
	if (r < 0 && !is_forced)
		return r;
	filesystem_is_stopping(f->filesystem);
	r = place_unmount(&f->place, is_forced, UNMOUNT_SECONDS, e);
	if (r < 0)
		return r;
	carrier_free(f);
	return 0;
}

static int clear(const struct carrier_left *left, bool is_forced, struct err *e)
{
	struct place p = { 0 };
	const char *slash = strrchr(left->extra, '/');
	size_t len = slash ? (size_t)(slash - left->extra) : 0;
	char own[CARRIER_PATH_MAX];

	if (!len || strlen(left->extra) >= sizeof p.file)
		return 0;
	snprintf(p.path, sizeof p.path, "%.*s", (int)len, left->extra);
	snprintf(p.file, sizeof p.file, "%s", left->extra);
	// That of the run directory was made by the process, one of --at was not.
	snprintf(own, sizeof own, "%s.d", left->name);
	slash = strrchr(p.path, '/');
	p.is_made = slash && !strcmp(slash + 1, own);
	return place_clear(&p, is_forced, e);
}

const struct carrier_ops carrier_fuse = {
	.name = "fuse",
	.help = "a loop device of a file that is the disk, by FUSE: /dev/loopN",
	.probe = probe,
	.is_automatic = true,
	.needs_root = true,
	.start = start,
	.info = info,
	.check_unused = check_unused,
	.resized = resized,
	.stop = stop,
	.clear = clear,
};
