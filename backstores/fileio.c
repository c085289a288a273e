// SPDX-License-Identifier: BSD-2-Clause
// fileio: a disk in a regular file or, less well, a block device. By default it uses O_DIRECT and
// every write is durable when it completes; see enum bs_cache. Opening runs on the control thread;
// I/O is in fdstore.c.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "backstores/device.h"
#include "backstores/fdstore.h"
#include "backstores/overlay.h"
#include "backstores/types.h"
#include "core/log.h"

struct fileio {
	struct fdstore fds;
	bool is_sparse, is_device;
};

static struct fileio *fileio_of(struct backstore *bs)
{
	return (struct fileio *)bs;
}

// Checks for errors before a file is created.
static int check_new(const struct bs_config *config, struct err *e)
{
	if (config->readonly)
		return err_set(e, -ENOENT, "%s: no such file (readonly does not create one)",
			       config->dev);
	if (config->size == 0 && !config->base)
		return err_set(e, -ENOENT, "%s: no such file (give a size to create it)",
			       config->dev);
	return 0;
}

static int refuse_kind(const struct stat *st, const char *path, struct err *e)
{
	if (S_ISDIR(st->st_mode))
		return err_set(e, -EISDIR, "%s: is a directory (give the path of a file)", path);
	if (!S_ISREG(st->st_mode) && !S_ISBLK(st->st_mode))
		return err_set(e, -EINVAL, "%s: not a regular file or block device", path);
	return 0;
}

static int create_file(const char *path, struct err *e)
{
	char folder[PATH_MAX] = ".";
	const char *slash = strrchr(path, '/');
	if (slash && slash - path >= PATH_MAX - 1)
		return err_errno(e, -ENAMETOOLONG, "%s", path);
	if (slash)
		snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
	int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return err_errno(e, -errno, "%s: create", path);
	int r = device_refuse_file(at, path, e);
	close(at); // before the next one: there may be no other descriptor
	if (r < 0)
		return r;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), code = errno;
	if (fd >= 0)
		return fd;
	if (code == EACCES)
		return err_set(e, -EACCES,
			       "%s: create: Permission denied (farblockd runs as uid %u: use a "
			       "directory that it can write)",
			       path, (unsigned)geteuid());
	return err_errno(e, -code, "%s: create", path);
}

// Opens an existing file, or creates it if it is missing and a size is given.
static int open_file(const struct bs_config *config, bool *ret_is_new, struct err *e)
{
	int access = config->readonly ? O_RDONLY : O_RDWR;
	struct stat st = { 0 };
	*ret_is_new = false;
	// Opening a socket gives ENXIO, and opening a device may have side effects.
	int r = stat(config->dev, &st) ? 0 : refuse_kind(&st, config->dev, e);
	if (r < 0)
		return r;
	int exclusive = S_ISBLK(st.st_mode) ? O_EXCL : 0;
	int fd = open(config->dev, access | exclusive | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == EBUSY && config->force)
		fd = open(config->dev, access | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		// O_NONBLOCK is for open() only (FIFOs); io_uring would never wait with it.
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
		return fd;
	}
	if (errno == EBUSY)
		return device_refuse_used(st.st_rdev, config->dev, e);
	if (errno != ENOENT)
		return err_errno(e, -errno, "%s", config->dev);
	r = check_new(config, e);
	if (r < 0)
		return r;
	fd = create_file(config->dev, e);
	*ret_is_new = fd >= 0;
	return fd;
}

// Whether a fully allocated file of this size can fit. fallocate() would find out by filling the
// filesystem, so that writes of other programs fail until it frees the space.
static bool has_room(int fd, uint64_t size)
{
	struct statvfs fs;
	struct stat st;
	if (fstatvfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
		return true;
	uint64_t has = (uint64_t)st.st_blocks * 512;
	return size <= has || (size - has) / fs.f_frsize <= fs.f_bfree;
}

static int reserve(int fd, uint64_t size)
{
	int r;
	if (!has_room(fd, size))
		return -ENOSPC;
	do {
		r = fallocate(fd, 0, 0, (off_t)size);
	} while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : 0;
}

// The bytes of the file that precede those of the disk.
static uint64_t bytes_before(const struct fileio *f)
{
	return f->fds.overlay ? f->fds.overlay->layout.data : 0;
}

// Sets the size of a file, allocates its space unless it is sparse, and syncs.
static int set_size(struct fileio *f, uint64_t old, uint64_t size)
{
	uint64_t before = bytes_before(f);
	if (size > INT64_MAX - before)
		return -EFBIG;
	if (old < size && ftruncate(f->fds.fd, (off_t)(before + size)) < 0)
		return -errno;
	int r = f->is_sparse ? 0 : reserve(f->fds.fd, size);
	if (r == 0 && fsync(f->fds.fd) < 0)
		r = -errno;
	if (r < 0 && old < size && ftruncate(f->fds.fd, (off_t)(before + old)) < 0)
		return -errno;
	return r;
}

static int explain_size(struct err *e, int r, const char *path, uint64_t size)
{
	if (r == -EOPNOTSUPP)
		return err_set(e, r, "%s: the filesystem cannot reserve space (use sparse=true)",
			       path);
	return err_errno(e, r, "%s: allocate %llu bytes", path, (unsigned long long)size);
}

static int find_size(const struct fileio *f, const struct stat *st, uint64_t *ret)
{
	uint64_t size = (uint64_t)st->st_size, before = bytes_before(f);
	if (!S_ISBLK(st->st_mode)) {
		*ret = size > before ? size - before : 0;
		return 0;
	}
	return ioctl(f->fds.fd, BLKGETSIZE64, ret) < 0 ? -errno : 0;
}

// The size of an existing file overrides the option, unless the file is empty.
static int settle_size(struct fileio *f, const struct bs_config *config, const struct stat *st,
		       struct err *e)
{
	struct bs_limits *l = &f->fds.bs.limits;
	uint64_t have, want = config->size - config->size % l->block_size;
	int r = find_size(f, st, &have);
	if (r < 0)
		return err_errno(e, r, "%s: read size", config->dev);
	if (f->is_device && config->size)
		backstore_note(&f->fds.bs, "Block device, size parameter ignored");
	else if (have && config->size && have != config->size)
		backstore_note(&f->fds.bs, "%s exists, using its size (%llu bytes) instead",
			       config->dev, (unsigned long long)have);
	l->size = have ? have - have % l->block_size : want;
	if (have % l->block_size)
		backstore_note(&f->fds.bs,
			       "The last %llu bytes are less than a block and not served",
			       (unsigned long long)(have % l->block_size));
	if (l->size == 0 && !have && config->size)
		return err_set(e, -EINVAL, "size: %llu bytes is less than a block of %u bytes",
			       (unsigned long long)config->size, l->block_size);
	if (l->size == 0)
		return err_set(e, -EINVAL, "%s: %s a block of %u bytes (give a size)", config->dev,
			       have ? "smaller than" : "empty, smaller than", l->block_size);
	if (l->size > INT64_MAX)
		return err_set(e, -EFBIG, "%s: larger than 8 EiB", config->dev);
	if (f->is_device || l->is_readonly || (have && f->is_sparse))
		return 0;
	r = set_size(f, have, l->size > have ? l->size : have);
	return r < 0 ? explain_size(e, r, config->dev, l->size) : 0;
}

static int settle_cache(struct fileio *f, const struct bs_config *config, struct err *e)
{
	enum bs_cache mode = config->cache;
	if (!mode)
		mode = config->write_back ? BS_CACHE_WRITEBACK : BS_CACHE_WRITETHROUGH;
	if (config->write_back && mode != BS_CACHE_WRITEBACK)
		return err_set(e, -EINVAL,
			       "write_back=true and cache=%s contradict each other (leave out "
			       "write_back)",
			       backstore_cache_name(mode));
	f->fds.bs.limits.has_write_cache = mode != BS_CACHE_WRITETHROUGH;
	f->fds.is_durable = mode == BS_CACHE_WRITETHROUGH;
	fdstore_set_cache(&f->fds, mode, config->dev);
	return 0;
}

static void settle_limits(struct fileio *f, const struct stat *st)
{
	struct bs_limits *l = &f->fds.bs.limits;
	uint32_t unit = st->st_blksize >= BUF_PAGE || st->st_blksize <= 0
				? BUF_PAGE
				: (uint32_t)st->st_blksize;
	l->physical_block = unit > l->block_size ? unit : l->block_size;
	if (f->fds.io_align > l->physical_block)
		l->physical_block = f->fds.io_align;
	if (f->fds.overlay && l->physical_block < OVERLAY_BLOCK)
		l->physical_block = OVERLAY_BLOCK;
	l->optimal_io = st->st_blksize > BUF_PAGE ? (uint32_t)st->st_blksize : 0;
	l->can_write_zeroes = true;
	l->can_extent = !f->is_device;
	// UNMAP must not free the space of a fully allocated file.
	f->fds.is_punching = f->is_sparse && !l->is_readonly && !f->is_device &&
			     fallocate(f->fds.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				       (off_t)(bytes_before(f) + l->size), BUF_PAGE) == 0;
	l->can_unmap = l->unmap_zeroes = f->fds.is_punching;
	l->unmap_granularity = l->can_unmap ? l->physical_block : 0;
}

static int fileio_flush_overlay(struct backstore *bs, struct err *e)
{
	int r = overlay_sync_now(fileio_of(bs)->fds.overlay);
	return r < 0 ? err_errno(e, r, "sync the overlay") : fdstore_flush(bs, e);
}

// Bits that no flush has made durable stand for data that no write cache has.
static void fileio_close(struct backstore *bs)
{
	struct fileio *f = fileio_of(bs);
	struct err e;
	if (f->fds.overlay && !bs->limits.is_readonly && fileio_flush_overlay(bs, &e) < 0)
		log_warn("%s: close: %s", bs->name, e.text);
	overlay_close(&f->fds);
	fdstore_close(bs);
}

// It is served, since it may be meant, but no reboot keeps it.
static void note_memory(struct fileio *f, const char *path)
{
	const char *name = device_memory_name(f->fds.fd);
	bool is_odd = name && device_is_among_nodes(f->fds.fd);
	f->fds.bs.limits.in_memory = !name ? BS_ON_STORAGE : is_odd ? BS_AMONG_NODES : BS_IN_MEMORY;
	if (is_odd)
		backstore_note(&f->fds.bs,
			       "%s is a regular file among devices, in memory: lost at reboot (is "
			       "the device missing? lsblk lists devices)",
			       path);
	else if (name)
		backstore_note(&f->fds.bs, "%s is in memory (%s): lost at reboot", path, name);
}

static int check_kind(struct fileio *f, const struct stat *st, const char *path, struct err *e)
{
	int r = refuse_kind(st, path, e);
	f->is_device = S_ISBLK(st->st_mode);
	if (!r && f->is_device)
		backstore_note(&f->fds.bs, "Note: block backstore preferred for best results");
	else if (!r)
		note_memory(f, path);
	return r;
}

static int check_over_base(const struct fileio *f, const struct bs_config *config,
			   const struct stat *st, struct err *e)
{
	struct stat base;
	if (f->is_device)
		return err_set(e, -EINVAL, "%s: an overlay must be a file (leave out base)",
			       config->dev);
	if (!config->sparse)
		return err_set(e, -EINVAL, "sparse=false: an overlay is sparse (leave it out)");
	if (stat(config->base, &base) == 0 && base.st_ino == st->st_ino &&
	    base.st_dev == st->st_dev)
		return err_set(e, -EINVAL, "%s: is the base itself (give another file)",
			       config->dev);
	if (!st->st_size && !config->is_new)
		return err_set(e, -EINVAL,
			       "%s: empty, but was an overlay (restore it, or run reset, which "
			       "discards its data)",
			       config->dev);
	if (!st->st_size && config->readonly)
		return err_set(e, -EINVAL, "%s: empty (readonly makes no overlay)", config->dev);
	return 0;
}

// A file that a new object calls a clone of its base: nothing else can be checked.
static int check_clone(const struct bs_config *config, const struct stat *st, bool is_map,
		       struct err *e)
{
	struct stat base;
	if (stat(config->base, &base) < 0)
		return err_errno(e, -errno, "base %s", config->base);
	if (st->st_size < base.st_size)
		return err_set(e, -EINVAL,
			       "%s: shorter than the base, so no clone of it (give another file)",
			       config->dev);
	if (is_map && !config->force)
		return err_set(e, -EINVAL,
			       "%s: is an overlay file with a map (leave out overlay=clone, or "
			       "force=true)",
			       config->dev);
	return 0;
}

// What an existing file is: the content of a clone, which initiators write, says nothing.
static int find_overlay(const struct fileio *f, const struct bs_config *config,
			const struct stat *st, enum bs_overlay *ret, struct err *e)
{
	bool is_map = overlay_is(f->fds.fd);
	*ret = config->overlay ? (enum bs_overlay)config->overlay
	       : is_map	       ? BS_OVERLAY_MAP
			       : BS_OVERLAY_CLONE;
	if (*ret == BS_OVERLAY_MAP && !is_map)
		return err_set(e, -EINVAL, "%s: not an overlay file (give another file)",
			       config->dev);
	if (!is_map && config->is_new && !config->overlay)
		return err_set(e, -EEXIST,
			       "%s: exists and is not an overlay file (give another file, or "
			       "overlay=clone if it is a clone of the base)",
			       config->dev);
	if (*ret == BS_OVERLAY_CLONE && config->is_new)
		return check_clone(config, st, is_map, e);
	return 0;
}

// The file is a clone of its base, or has a map; makes it so if it is empty.
static int open_over_base(struct fileio *f, const struct bs_config *config, struct stat *st,
			  struct err *e)
{
	enum bs_overlay kind;
	bool is_empty = !st->st_size;
	int r = check_over_base(f, config, st, e);
	if (r < 0)
		return r;
	if (is_empty)
		r = overlay_create(f->fds.fd, config->dev, config->base, config->size,
				   (enum bs_overlay)config->overlay, f->fds.bs.name, &kind, e);
	else
		r = find_overlay(f, config, st, &kind, e);
	if (!r && kind == BS_OVERLAY_MAP)
		r = overlay_open(&f->fds, config, e);
	if (r < 0 && is_empty && ftruncate(f->fds.fd, 0) < 0)
		return r;
	if (r < 0)
		return r;
	f->fds.bs.limits.overlay = kind;
	if (f->fds.overlay) {
		f->fds.bs.ops.submit = overlay_submit;
		f->fds.bs.ops.flush = fileio_flush_overlay;
	}
	return fstat(f->fds.fd, st) < 0 ? err_errno(e, -errno, "%s", config->dev) : 0;
}

// A disk may contain an overlay file, so that only a new object is refused.
static int refuse_overlay(const struct fileio *f, const struct bs_config *config, struct err *e)
{
	if (!config->is_new || config->force || !overlay_is(f->fds.fd))
		return 0;
	return err_set(e, -EINVAL, "%s: is an overlay file (give its base=IMAGE, or force=true)",
		       config->dev);
}

// Everything after open(); the caller cleans up.
static int set_up(struct fileio *f, const struct bs_config *config, bool is_new, struct err *e)
{
	struct bs_limits *l = &f->fds.bs.limits;
	struct stat st;
	if (fstat(f->fds.fd, &st) < 0)
		return err_errno(e, -errno, "%s", config->dev);
	int r = check_kind(f, &st, config->dev, e);
	if (r < 0)
		return r;
	r = claim_take(&f->fds.claim, f->fds.fd, config->readonly ? CLAIM_READ : CLAIM_WRITE,
		       f->fds.bs.name, config->dev, e);
	if (r == 0 && f->is_device && config->is_new && !config->force && !config->accepts_data)
		r = device_refuse_signed(f->fds.fd, config->dev, e);
	if (r < 0)
		return r;
	l->block_size = config->block_size ? config->block_size : 512;
	l->is_readonly = config->readonly;
	f->is_sparse = config->sparse;
	r = config->base ? open_over_base(f, config, &st, e) : refuse_overlay(f, config, e);
	if (r < 0)
		return r;
	r = settle_size(f, config, &st, e);
	if (r < 0)
		return r;
	if (is_new) {
		r = fdstore_sync_folder(config->dev);
		if (r < 0)
			return err_errno(e, r, "%s: sync directory", config->dev);
	}
	r = settle_cache(f, config, e);
	if (r < 0)
		return r;
	fdstore_set_polling(&f->fds, config);
	settle_limits(f, &st);
	return r;
}

static int fileio_open(struct backstore *bs, const struct bs_config *config, struct err *e)
{
	struct fileio *f = fileio_of(bs);
	bool is_new;
	int fd = open_file(config, &is_new, e);
	if (fd < 0)
		return fd;
	f->fds.fd = fd;
	int r = set_up(f, config, is_new, e);
	if (r < 0) {
		if (is_new)
			unlink(config->dev);
		fileio_close(bs);
	}
	return r;
}

static int fileio_refresh(struct backstore *bs, uint64_t *ret_size, struct err *e)
{
	struct stat st;
	const struct fileio *f = fileio_of(bs);
	int r = fstat(f->fds.fd, &st) < 0 ? -errno : find_size(f, &st, ret_size);
	return r < 0 ? err_errno(e, r, "size") : 0;
}

// Counts the whole file system, since all its files share the space.
static int fileio_space(struct backstore *bs, uint64_t *ret_used, uint64_t *ret_total)
{
	struct fileio *f = fileio_of(bs);
	struct statvfs fs;
	if (f->is_device || !f->is_sparse)
		return -EOPNOTSUPP;
	if (fstatvfs(f->fds.fd, &fs) < 0)
		return -errno;
	*ret_total = (uint64_t)fs.f_blocks * fs.f_frsize;
	*ret_used = *ret_total - (uint64_t)fs.f_bavail * fs.f_frsize;
	return 0;
}

static int fileio_resize(struct backstore *bs, uint64_t size, struct err *e)
{
	struct fileio *f = fileio_of(bs);
	uint64_t have;
	int r = fileio_refresh(bs, &have, e);
	if (r < 0 || have >= size)
		return r; // the file has grown already
	if (f->is_device)
		return err_set(e, -EOPNOTSUPP,
			       "block devices cannot be resized here (grow the device, then run "
			       "resize without a size)");
	r = set_size(f, have, size);
	return r < 0 ? explain_size(e, r, "file", size) : 0;
}

static const struct bs_option fileio_options[] = {
	{"dev",					 BS_OPT_PATH, true, NULL, "path of the file; created if size is given",
	  offsetof(struct bs_config, dev), false },
	{ "size",					 BS_OPT_SIZE, false, NULL,
	  "bytes, e.g. 10G; ignored if the file exists and is not empty", offsetof(struct bs_config, size), false },
	{ "write_back", BS_OPT_BOOL, false, "false", "the same as cache=writeback",
	  offsetof(struct bs_config, write_back), false },
	{ "sparse",					 BS_OPT_BOOL, false, "true",
	  "true: allocate space when written; false: allocate it now", offsetof(struct bs_config, sparse), false },
	{ "readonly",					    BS_OPT_BOOL, false, "false", "reject writes",
	  offsetof(struct bs_config, readonly), true },
	{ "force",BS_OPT_BOOL, false, "false",
	  "serve a device even if it is mounted, in use or not empty", offsetof(struct bs_config, force), true },
	{ "cache",					 BS_OPT_CHOICE, false, NULL,
	  "what makes a write durable: nothing (writethrough, the default) or a flush (none, "
	  "writeback)", offsetof(struct bs_config, cache), true, BS_CACHE_CHOICES },
	{ "base",		    BS_OPT_PATH, false, NULL,
	  "image that the file is an overlay of: unchanged blocks are read from it", offsetof(struct bs_config, base), true },
	{ "overlay",					BS_OPT_CHOICE, false, NULL,
	  "how the file keeps what differs from its base (default: a clone if the file system can, "
	  "else a map)", offsetof(struct bs_config, overlay), true, BS_OVERLAY_CHOICES, true },
	{ "iopoll",				 BS_OPT_BOOL, false, "false",
	  "true: poll the device for completions instead of waiting for interrupts", offsetof(struct bs_config, iopoll), true },
	{ 0				       },
};

const struct backstore_type fileio_type = {
	.name = "fileio",
	.help = "a disk in a file",
	.options = fileio_options,
	.inspects = true,
	.size = sizeof(struct fileio),
	.open = fileio_open,
	.close = fileio_close,
	.refresh = fileio_refresh,
	.space = fileio_space,
	.path = fdstore_path,
	.fd = fdstore_fd,
	.flush = fdstore_flush,
	.resize = fileio_resize,
	.submit = fdstore_submit,
};
