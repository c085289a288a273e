// SPDX-License-Identifier: BSD-2-Clause
// fileio: a disk in a regular file or, less well, a block device. By default it uses O_DIRECT and
// every write is durable when it completes; see enum bs_cache. Opening runs on the control thread;
// I/O is in fdstore.c.
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "backstores/device.h"
#include "backstores/fdstore.h"
#include "backstores/types.h"

struct fileio {
	struct fdstore fds;
	bool is_sparse, is_device;
};

static struct fileio *fileio_of(struct backstore *bs)
{
	return (struct fileio *)bs;
}

// Syncs the directory, so that a new file survives a crash.
static int sync_folder(const char *path)
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

// Checks for errors before a file is created.
static int check_new(const struct bs_config *config, struct err *e)
{
	if (config->readonly)
		return err_set(e, -ENOENT, "%s: no such file (readonly does not create one)",
			       config->dev);
	if (config->size == 0)
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
	fd = open(config->dev, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EACCES)
		return err_set(e, -EACCES,
			       "%s: create: Permission denied (farblockd runs as uid %u: use a "
			       "directory that it can write)",
			       config->dev, (unsigned)geteuid());
	if (fd < 0)
		return err_errno(e, -errno, "%s: create", config->dev);
	*ret_is_new = true;
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

// Sets the size of a file, allocates its space unless it is sparse, and syncs.
static int set_size(struct fileio *f, uint64_t old, uint64_t size)
{
	if (old < size && ftruncate(f->fds.fd, (off_t)size) < 0)
		return -errno;
	int r = f->is_sparse ? 0 : reserve(f->fds.fd, size);
	if (r == 0 && fsync(f->fds.fd) < 0)
		r = -errno;
	if (r < 0 && old < size && ftruncate(f->fds.fd, (off_t)old) < 0)
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

static int find_size(int fd, const struct stat *st, uint64_t *ret)
{
	if (!S_ISBLK(st->st_mode)) {
		*ret = (uint64_t)st->st_size;
		return 0;
	}
	return ioctl(fd, BLKGETSIZE64, ret) < 0 ? -errno : 0;
}

// The size of an existing file overrides the option, unless the file is empty.
static int settle_size(struct fileio *f, const struct bs_config *config, const struct stat *st,
		       struct err *e)
{
	struct bs_limits *l = &f->fds.bs.limits;
	uint64_t have, want = config->size - config->size % l->block_size;
	int r = find_size(f->fds.fd, st, &have);
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
	l->optimal_io = st->st_blksize > BUF_PAGE ? (uint32_t)st->st_blksize : 0;
	l->can_write_zeroes = true;
	l->can_extent = !f->is_device;
	// UNMAP must not free the space of a fully allocated file.
	f->fds.is_punching = f->is_sparse && !l->is_readonly && !f->is_device &&
			     fallocate(f->fds.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				       (off_t)l->size, BUF_PAGE) == 0;
	l->can_unmap = l->unmap_zeroes = f->fds.is_punching;
	l->unmap_granularity = l->can_unmap ? l->physical_block : 0;
}

static int check_kind(struct fileio *f, const struct stat *st, const char *path, struct err *e)
{
	int r = refuse_kind(st, path, e);
	f->is_device = S_ISBLK(st->st_mode);
	if (!r && f->is_device)
		backstore_note(&f->fds.bs, "Note: block backstore preferred for best results");
	return r;
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
	r = claim_take(&f->fds.claim, f->fds.fd, config->readonly, f->fds.bs.name, config->dev, e);
	if (r == 0 && f->is_device && config->is_new && !config->force)
		r = device_refuse_signed(f->fds.fd, config->dev, e);
	if (r < 0)
		return r;
	l->block_size = config->block_size ? config->block_size : 512;
	l->is_readonly = config->readonly;
	f->is_sparse = config->sparse;
	r = settle_size(f, config, &st, e);
	if (r < 0)
		return r;
	if (is_new) {
		r = sync_folder(config->dev);
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
		fdstore_close(bs);
	}
	return r;
}

static int fileio_refresh(struct backstore *bs, uint64_t *ret_size, struct err *e)
{
	struct stat st;
	int fd = fileio_of(bs)->fds.fd;
	int r = fstat(fd, &st) < 0 ? -errno : find_size(fd, &st, ret_size);
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
	{ "iopoll",		    BS_OPT_BOOL, false, "false",
	  "true: poll the device for completions instead of waiting for interrupts", offsetof(struct bs_config, iopoll), true },
	{ 0				       },
};

const struct backstore_type fileio_type = {
	.name = "fileio",
	.help = "a disk in a file",
	.options = fileio_options,
	.size = sizeof(struct fileio),
	.open = fileio_open,
	.close = fdstore_close,
	.refresh = fileio_refresh,
	.space = fileio_space,
	.path = fdstore_path,
	.flush = fdstore_flush,
	.resize = fileio_resize,
	.submit = fdstore_submit,
};
