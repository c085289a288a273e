// SPDX-License-Identifier: BSD-2-Clause
// How fileio and block open, flush and close their descriptor: direct I/O and its alignment, what
// the device below can do, what has become of the path. Control thread.
#include "backstores/fdstore_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backstores/device.h"
#include "core/log.h"

static struct fdstore *fdstore_of(struct backstore *bs)
{
	return (struct fdstore *)bs;
}

// Finds by trial the smallest length that O_DIRECT can read. Linux before 6.1 has no query for it.
static uint32_t probe_align(int fd, uint32_t block_size)
{
	uint8_t *page = aligned_alloc(BUF_PAGE, BUF_PAGE);
	uint32_t align = 0;
	for (uint32_t n = 512; page && !align && n <= block_size; n *= 2)
		if (pread(fd, page, n, 0) >= 0)
			align = n;
	free(page);
	return align;
}

// *ret_mem and *ret_io: 0 if the file cannot do O_DIRECT.
static void find_align(int fd, uint32_t block_size, uint32_t *ret_mem, uint32_t *ret_io)
{
	struct statx st;
	int r = statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &st);
	if (r == 0 && st.stx_mask & STATX_DIOALIGN) {
		*ret_mem = st.stx_dio_mem_align;
		*ret_io = st.stx_dio_offset_align;
		return;
	}
	*ret_mem = *ret_io = probe_align(fd, block_size);
}

// -EINVAL: *ret_why has the cause, nothing has changed.
static int set_direct(struct fdstore *f, const char **ret_why)
{
	uint32_t mem = 0, io = 0, block_size = f->bs.limits.block_size;
	int flags = fcntl(f->fd, F_GETFL);
	*ret_why = "the filesystem does not support direct I/O";
	if (flags < 0 || fcntl(f->fd, F_SETFL, flags | O_DIRECT) < 0)
		return -EINVAL;
	find_align(f->fd, block_size, &mem, &io);
	if (mem && io && mem <= BUF_PAGE && io <= block_size) {
		f->mem_align = mem;
		f->io_align = io;
		return 0;
	}
	if (mem && io)
		*ret_why = "direct I/O needs larger blocks (set block_size=4096)";
	fcntl(f->fd, F_SETFL, flags);
	return -EINVAL;
}

// The block device that fd is, or that its file system is on.
static dev_t device_of(int fd)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return 0;
	return S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
}

// Whether a durable write costs the device no flush.
static bool has_fua(int fd)
{
	char cache[32];
	dev_t dev = device_of(fd);
	return device_queue_text(dev, "write_cache", cache, sizeof cache) &&
	       (strcmp(cache, "write through") == 0 || device_queue_number(dev, "fua"));
}

// For O_DIRECT. A write to a device without FUA is flushed by Linux after each request that it is
// split into; a filesystem flushes once.
static uint64_t dsync_max(int fd)
{
	struct stat st;
	if (fstat(fd, &st) < 0 || !S_ISBLK(st.st_mode))
		return UINT64_MAX;
	return device_queue_number(st.st_rdev, "max_sectors_kb") << 10;
}

bool fdstore_set_cache(struct fdstore *f, enum bs_cache cache, const char *path)
{
	const char *why;
	f->mem_align = f->io_align = 1;
	f->is_direct = false;
	f->bs.limits.cache = cache;
	f->has_fua = has_fua(f->fd);
	f->dsync_max = UINT64_MAX;
	if (cache == BS_CACHE_WRITEBACK)
		return true;
	if (set_direct(f, &why) == 0) {
		f->is_direct = true;
		f->dsync_max = dsync_max(f->fd);
		return true;
	}
	backstore_note(&f->bs, "%s: using the page cache: %s", path, why);
	return false;
}

void fdstore_set_polling(struct fdstore *f, const struct bs_config *config)
{
	f->is_polling =
		config->iopoll && f->is_direct && device_queue_number(device_of(f->fd), "io_poll");
	if (!config->iopoll || f->is_polling)
		return;
	backstore_note(&f->bs, "%s: iopoll has no effect: %s", config->dev,
		       f->is_direct ? "the device has no poll queues (for NVMe set the parameter "
				      "nvme.poll_queues)"
				    : "it needs direct I/O");
}

int fdstore_sync_folder(const char *path)
{
	char *copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	free(copy);
	if (fd < 0)
		return -errno;
	if (fsync(fd) < 0 && errno != EINVAL)
		r = -errno;
	close(fd);
	return r;
}

enum bs_path fdstore_path(struct backstore *bs, const char *path)
{
	struct stat open, there;
	if (fstat(fdstore_of(bs)->fd, &open) < 0)
		return BS_PATH_SAME;
	if (stat(path, &there) < 0)
		return errno == ENOENT || errno == ENOTDIR ? BS_PATH_REMOVED : BS_PATH_SAME;
	bool is_same = S_ISBLK(open.st_mode)
			       ? S_ISBLK(there.st_mode) && there.st_rdev == open.st_rdev
			       : there.st_dev == open.st_dev && there.st_ino == open.st_ino;
	return is_same ? BS_PATH_SAME : BS_PATH_REPLACED;
}

int fdstore_fd(struct backstore *bs)
{
	return fdstore_of(bs)->fd;
}

int fdstore_flush(struct backstore *bs, struct err *e)
{
	int r;
	do
		r = fdatasync(fdstore_of(bs)->fd) < 0 ? -errno : 0;
	while (r == -EINTR);
	if (r < 0)
		fdstore_note_lost(fdstore_of(bs), r);
	else if (fdstore_has_lost(fdstore_of(bs)))
		r = -EIO;
	return r < 0 ? err_errno(e, r, "fdatasync") : 0;
}

void fdstore_close(struct backstore *bs)
{
	struct fdstore *f = fdstore_of(bs);
	struct err e;
	if (bs->limits.has_write_cache && !bs->limits.is_readonly && fdstore_flush(bs, &e) < 0)
		log_warn("%s: close: %s", bs->name, e.text);
	fdsyncs_done(&f->syncs);
	claim_release(&f->claim);
	close(f->fd);
}
