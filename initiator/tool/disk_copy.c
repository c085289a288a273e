// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator copy: a range of one logical unit to another, by the targets themselves with a
// token (ODX) if both take those, by EXTENDED COPY if both units are of one target, else through
// memory. What one way refuses the next one continues. The program's thread. Logical units of
// one target share a session: a second one of the same initiator port would end the first.
#include <errno.h>
#include <string.h>

#include "core/worker.h"
#include "initiator/tool/odx.h"
#include "initiator/tool/offload.h"
#include "initiator/tool/reader.h"

struct pair {
	struct tool *t;
	struct tool to; // its session is t's if is_shared
	bool is_shared;
	struct tool_disk from_disk, to_disk;
	uint64_t offset, seek, length, done;
	const char *way;
	struct reader *reader;
};

typedef int64_t step_fn(void *arg, uint64_t from, uint64_t to, uint64_t bytes, struct err *e);

// --- both ends ---

static int watch(struct scsi_sync *y, uint16_t lun, struct tool_disk *ret, struct err *e)
{
	int r = scsi_sync_watch(y, lun, e);
	return r == 0 ? tool_disk_open(ret, y, lun, e) : r;
}

// URLs that differ in the LUN alone.
static bool is_same_portal(const char *a, const char *b)
{
	const char *end_a = strrchr(a, '/'), *end_b = strrchr(b, '/');
	return end_a && end_b && end_a - a == end_b - b && !memcmp(a, b, (size_t)(end_a - a));
}

// One name at two portals may be one target or two: its LUNs cannot be told apart.
static int share(struct pair *p, const struct tool_path *path)
{
	struct err e;
	if (!is_same_portal(p->t->o.args[0], p->to.o.args[0])) {
		err_set(&e, -EINVAL,
			"both URLs name target %.223s, but not by the same portal (use one of them "
			"in both)",
			path->target);
		return tool_fail(TOOL_USAGE, &e);
	}
	p->is_shared = true;
	memcpy(p->to.target, path->target, sizeof path->target);
	p->to.lun = path->lun;
	p->to.sync = p->t->sync;
	return TOOL_OK;
}

static int open_to(struct pair *p)
{
	struct tool_path path = { 0 };
	struct err e;
	p->to.o.args[0] = p->t->o.args[1];
	int status = p->t->path(p->t, p->to.o.args[0], true, &path, &e);
	if (status)
		return tool_fail(status, &e);
	if (!strcmp(path.target, p->t->target)) {
		status = share(p, &path);
	} else {
		status = tool_open_path(&p->to, &path);
		tool_interrupt_also(p->t->sync);
	}
	tool_path_done(&path);
	return status;
}

static int open_both(struct pair *p)
{
	struct err e;
	int status = tool_open(p->t, true);
	if (!status) {
		p->to = *p->t;
		p->to.sync = NULL;
		status = open_to(p);
	}
	if (status)
		return status;
	bool is_one = p->is_shared && p->to.lun == p->t->lun;
	int r = watch(p->t->sync, p->t->lun, &p->from_disk, &e);
	if (!r && is_one)
		p->to_disk = p->from_disk;
	else if (!r)
		r = watch(p->to.sync, p->to.lun, &p->to_disk, &e);
	return r < 0 ? tool_fail(TOOL_FAILED, &e) : TOOL_OK;
}

static void close_both(struct pair *p)
{
	tool_interrupt_also(NULL);
	if (!p->is_shared && p->to.sync)
		tool_close(&p->to);
	tool_close(p->t);
}

// --- ranges ---

static int check_range(struct pair *p, struct err *e)
{
	const struct tool_disk *a = &p->from_disk, *b = &p->to_disk;
	uint32_t unit = a->block_size > b->block_size ? a->block_size : b->block_size;
	uint64_t room = b->blocks * b->block_size;
	p->seek = p->t->o.seek == TOOL_UNSET ? 0 : p->t->o.seek;
	int r = tool_range(p->t, a, &p->offset, &p->length, e);
	if (r)
		return r;
	if (p->offset % unit || p->length % unit || p->seek % unit)
		return err_set(e, -EINVAL,
			       "--offset %lu, --seek %lu, %lu bytes: must be multiples of the "
			       "block size (%u)",
			       (unsigned long)p->offset, (unsigned long)p->seek,
			       (unsigned long)p->length, unit);
	if (p->seek > room || p->length > room - p->seek)
		return err_set(e, -ENOSPC,
			       "LUN %u of %s: too small: %lu bytes from --seek %lu, %lu to copy",
			       b->lun, p->to.target,
			       (unsigned long)(p->seek > room ? 0 : room - p->seek),
			       (unsigned long)p->seek, (unsigned long)p->length);
	return 0;
}

static int check_overlap(const struct pair *p, bool is_same, struct err *e)
{
	uint64_t gap = p->offset > p->seek ? p->offset - p->seek : p->seek - p->offset;
	if (!is_same || gap >= p->length)
		return 0;
	return err_set(e, -EINVAL,
		       "source and destination are the same disk, and %lu bytes at --offset %lu "
		       "and --seek %lu overlap",
		       (unsigned long)p->length, (unsigned long)p->offset, (unsigned long)p->seek);
}

// --- the ways ---

#define WAY_ODX		  "odx"
#define WAY_EXTENDED_COPY "extended-copy"
#define WAY_MEMORY	  "memory"

static bool allows(const struct pair *p, const char *way)
{
	return !p->t->o.way || !strcmp(p->t->o.way, way);
}

static int check_way(const char *way, struct err *e)
{
	static const char *const ways[] = { WAY_ODX, WAY_EXTENDED_COPY, WAY_MEMORY };
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (!way || !strcmp(way, ways[i]))
			return 0;
	return err_set(e, -EINVAL,
		       "--way '%.40s': must be " WAY_ODX ", " WAY_EXTENDED_COPY " or " WAY_MEMORY,
		       way);
}

static int no_way(const struct pair *p, struct err *e)
{
	return err_set(
		e, -EOPNOTSUPP,
		"--way %s: not possible between these disks (without it another way is taken)",
		p->t->o.way);
}

static const char *way_text(const char *way)
{
	if (!strcmp(way, WAY_ODX))
		return "by token (ODX)";
	if (!strcmp(way, WAY_EXTENDED_COPY))
		return "by EXTENDED COPY";
	return strcmp(way, WAY_MEMORY) ? "nothing to copy" : "through memory";
}

// Adds to p->done until all is copied (1), or the way is refused (0), or fails.
static int by_steps(struct pair *p, const char *way, step_fn *step, void *arg, struct err *e)
{
	uint64_t before = p->done;
	while (p->done < p->length) {
		if (tool_interrupted())
			return err_set(e, -ECANCELED, "interrupted");
		int64_t n =
			step(arg, p->offset + p->done, p->seek + p->done, p->length - p->done, e);
		if (n == -EOPNOTSUPP) {
			tool_say("copying %s %s: %s", way_text(way),
				 p->done > before ? "has ended" : "is refused", e->text);
			return 0;
		}
		if (n < 0)
			return (int)n;
		p->way = way;
		p->done += (uint64_t)n;
		tool_progress(p->done);
	}
	return 1;
}

static int64_t odx_one(void *arg, uint64_t from, uint64_t to, uint64_t bytes, struct err *e)
{
	return odx_step(arg, from, to, bytes, e);
}

static int64_t offload_one(void *arg, uint64_t from, uint64_t to, uint64_t bytes, struct err *e)
{
	return offload_step(arg, from, to, bytes, e);
}

static int by_targets(struct pair *p, const struct offload_id *from, const struct offload_id *to,
		      struct err *e)
{
	struct odx x;
	struct offload o;
	int r = p->length ? 0 : 1;
	if (!r && allows(p, WAY_ODX) && odx_init(&x, &p->from_disk, &p->to_disk))
		r = by_steps(p, WAY_ODX, odx_one, &x, e);
	if (!r && allows(p, WAY_EXTENDED_COPY) && p->is_shared &&
	    offload_init(&o, &p->from_disk, from, &p->to_disk, to))
		r = by_steps(p, WAY_EXTENDED_COPY, offload_one, &o, e);
	return r;
}

static int64_t give(void *arg, uint64_t offset, uint8_t *buf, uint32_t len, struct err *e)
{
	return reader_take(((struct pair *)arg)->reader, buf, len, e);
}

static int64_t through_memory(struct pair *p, struct err *e)
{
	struct tool_disk *a = &p->from_disk, *b = &p->to_disk;
	uint32_t unit = a->block_size > b->block_size ? a->block_size : b->block_size;
	uint32_t chunk = (a->chunk < b->chunk ? a->chunk : b->chunk) / unit * unit;
	struct tool_io io = { .is_write = true, .give = give, .arg = p, .done = p->done };
	io.offset = p->seek + p->done;
	io.bytes = p->length - p->done;
	if (!chunk)
		return err_set(e, -EINVAL,
			       "the largest command of one disk is less than a block "
			       "of the other");
	b->chunk = chunk;
	p->way = WAY_MEMORY;
	int64_t r = reader_new(&p->reader, a, p->offset + p->done, io.bytes, chunk, e);
	if (!r)
		r = tool_io_run(b, &io, e);
	reader_free(p->reader);
	return r;
}

static int64_t transfer(struct pair *p, const struct offload_id *from, const struct offload_id *to,
			struct err *e)
{
	p->way = "none";
	tool_progress_begin(p->t, "copy", p->length, p->to_disk.block_size);
	int64_t n = by_targets(p, from, to, e);
	if (!n)
		n = allows(p, WAY_MEMORY) ? through_memory(p, e) : no_way(p, e);
	if (n >= 0 && tool_flush(&p->to_disk, e) < 0)
		n = -1;
	tool_progress_end();
	return n;
}

static void report(const struct pair *p, uint64_t ns)
{
	double seconds = (double)ns / 1e9;
	double rate = seconds > 0 ? (double)p->length / seconds / 1e6 : 0;
	if (p->t->o.is_json)
		printf("{ \"bytes\": %lu, \"seconds\": %.6f, \"MB_per_s\": %.1f, "
		       "\"way\": \"%s\" }\n",
		       (unsigned long)p->length, seconds, rate, p->way);
	else
		printf("Copied %lu bytes in %.3f s, %.1f MB/s, %s\n", (unsigned long)p->length,
		       seconds, rate, way_text(p->way));
}

static int copy(struct pair *p)
{
	struct offload_id from, to;
	struct err e;
	int status = open_both(p);
	if (status)
		return status;
	offload_id_read(&p->from_disk, &from);
	offload_id_read(&p->to_disk, &to);
	bool is_one = p->is_shared && p->to.lun == p->t->lun;
	if (check_range(p, &e) < 0 || check_overlap(p, is_one || offload_id_equal(&from, &to), &e))
		return tool_fail(TOOL_USAGE, &e);
	status = tool_may_overwrite(&p->to, &p->to_disk);
	if (status)
		return status;
	uint64_t begin = clock_ns();
	if (transfer(p, &from, &to, &e) < 0)
		return tool_fail(TOOL_FAILED, &e);
	report(p, clock_ns() - begin);
	return TOOL_OK;
}

int tool_copy(struct tool *t)
{
	struct pair p = { .t = t };
	struct err e;
	if (check_way(t->o.way, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	int status = copy(&p);
	close_both(&p);
	return status;
}
