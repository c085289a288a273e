// SPDX-License-Identifier: BSD-2-Clause
// block: a block device or partition, opened exclusively with O_DIRECT. Size, cache and
// discard support are read from the kernel. Opening runs on the control thread; I/O is in
// fdstore.c.
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backstores/device.h"
#include "backstores/fdstore.h"
#include "backstores/types.h"

static struct fdstore *fdstore_of(struct backstore *bs)
{
	return (struct fdstore *)bs;
}

static int explain_open(const struct bs_config *config, dev_t rdev, int r, struct err *e)
{
	return r == -EBUSY ? device_refuse_used(rdev, config->dev, e)
			   : err_errno(e, r, "%s", config->dev);
}

// Opens config->dev with O_EXCL; without O_EXCL if it is in use and force is set.
static int open_device(const struct bs_config *config, struct stat *ret_st, struct err *e)
{
	if (stat(config->dev, ret_st) < 0)
		return err_errno(e, -errno, "%s", config->dev);
	if (!S_ISBLK(ret_st->st_mode))
		return err_set(e, -ENOTBLK, "%s: not a block device (use fileio for a file)",
			       config->dev);
	int flags = (config->readonly ? O_RDONLY : O_RDWR) | O_CLOEXEC;
	int fd = open(config->dev, flags | O_EXCL);
	if (fd < 0 && errno == EACCES && !config->readonly) {
		// The error of a write-protected device; BLKROGET confirms it below.
		flags = O_RDONLY | O_CLOEXEC;
		fd = open(config->dev, flags | O_EXCL);
	}
	if (fd < 0 && errno == EBUSY && (config->force || !config->exclusive))
		fd = open(config->dev, flags);
	if (fd < 0)
		return explain_open(config, ret_st->st_rdev, -errno, e);
	return fd;
}

static int settle_block_size(struct bs_limits *l, int fd, const struct bs_config *config,
			     struct err *e)
{
	int logical = 0;
	unsigned physical = 0, optimal = 0;
	if (ioctl(fd, BLKSSZGET, &logical) < 0 || logical < 512)
		return err_errno(e, -errno, "%s: read sector size", config->dev);
	l->block_size = config->block_size ? config->block_size : (uint32_t)logical;
	if (l->block_size < (uint32_t)logical)
		return err_set(e, -EINVAL, "%s: block_size %u is smaller than the sector size %d",
			       config->dev, l->block_size, logical);
	if (ioctl(fd, BLKPBSZGET, &physical) < 0 || physical < l->block_size)
		physical = l->block_size;
	l->physical_block = physical;
	if (ioctl(fd, BLKIOOPT, &optimal) == 0)
		l->optimal_io = optimal;
	return 0;
}

static void settle_discard(struct fdstore *f, dev_t rdev)
{
	struct bs_limits *l = &f->bs.limits;
	uint64_t granularity = device_queue_number(rdev, "discard_granularity");
	bool can_discard = device_queue_number(rdev, "discard_max_bytes") > 0;
	// Punching a hole in a device is "write zeroes, may deallocate" in the kernel: its content
	// is defined; after a discard it is not.
	f->is_punching = can_discard && device_queue_number(rdev, "write_zeroes_max_bytes") > 0;
	f->is_discarding = can_discard && !f->is_punching;
	l->can_unmap = can_discard && !l->is_readonly;
	l->unmap_zeroes = l->can_unmap && f->is_punching;
	l->unmap_granularity = 0;
	if (l->can_unmap)
		l->unmap_granularity = granularity > l->block_size && granularity <= UINT32_MAX
					       ? (uint32_t)granularity
					       : l->block_size;
	l->can_write_zeroes = true; // the kernel falls back to writing them
}

static int block_refresh(struct backstore *bs, uint64_t *ret_size, struct err *e)
{
	if (ioctl(fdstore_of(bs)->fd, BLKGETSIZE64, ret_size) < 0)
		return err_errno(e, -errno, "read device size");
	return 0;
}

static int settle_size(struct backstore *bs, const struct bs_config *config, struct err *e)
{
	uint64_t size;
	int r = block_refresh(bs, &size, e);
	if (r < 0)
		return r;
	bs->limits.size = size - size % bs->limits.block_size;
	if (bs->limits.size == 0)
		return err_set(e, -ENOMEDIUM, "%s: no medium", config->dev);
	return 0;
}

static void settle_limits(struct fdstore *f, const struct bs_config *config, dev_t rdev)
{
	struct bs_limits *l = &f->bs.limits;
	int is_readonly = 0;
	ioctl(f->fd, BLKROGET, &is_readonly);
	l->is_readonly = config->readonly || is_readonly;
	l->is_rotational = device_queue_number(rdev, "rotational") != 0;
	settle_discard(f, rdev);
}

static void settle_cache(struct fdstore *f, const struct bs_config *config, dev_t rdev)
{
	struct bs_limits *l = &f->bs.limits;
	char cache[32] = "";
	device_queue_text(rdev, "write_cache", cache, sizeof(cache));
	enum bs_cache mode = config->cache ? config->cache : BS_CACHE_NONE;
	bool is_direct = fdstore_set_cache(f, mode, config->dev);
	bool is_buffered = !is_direct || config->cache == BS_CACHE_WRITEBACK;
	bool is_volatile = is_buffered || strcmp(cache, "write through") != 0;
	// A page cache instead of O_DIRECT must not show.
	f->is_durable = is_volatile && (config->cache == BS_CACHE_WRITETHROUGH || !is_direct);
	l->has_write_cache = is_volatile && !f->is_durable;
}

static int set_up(struct fdstore *f, const struct bs_config *config, dev_t rdev, struct err *e)
{
	int r = claim_take(&f->claim, f->fd, config->readonly ? CLAIM_READ : CLAIM_WRITE,
			   f->bs.name, config->dev, e);
	if (r == 0 && config->is_new && !config->force && !config->accepts_data)
		r = device_refuse_signed(f->fd, config->dev, e);
	if (r == 0)
		r = settle_block_size(&f->bs.limits, f->fd, config, e);
	if (r == 0)
		r = settle_size(&f->bs, config, e);
	if (r < 0)
		return r;
	settle_limits(f, config, rdev);
	settle_cache(f, config, rdev);
	fdstore_set_polling(f, config);
	return 0;
}

static int block_open(struct backstore *bs, const struct bs_config *config, struct err *e)
{
	struct fdstore *f = fdstore_of(bs);
	struct stat st;
	f->fd = open_device(config, &st, e);
	if (f->fd < 0)
		return f->fd;
	int r = set_up(f, config, st.st_rdev, e);
	if (r < 0)
		fdstore_close(bs);
	return r;
}

static int block_resize(struct backstore *bs, uint64_t size, struct err *e)
{
	uint64_t have;
	int r = block_refresh(bs, &have, e);
	if (r < 0 || have >= size)
		return r;
	return err_set(e, -EOPNOTSUPP,
		       "the device has %llu bytes (grow it, then run resize without a size)",
		       (unsigned long long)have);
}

static const struct bs_option block_options[] = {
	{"dev",							BS_OPT_PATH, true, NULL,
	  "path of the block device, preferably below /dev/disk/by-id", offsetof(struct bs_config, dev), false },
	{ "readonly",							BS_OPT_BOOL, false, "false", "reject writes; implied for a read-only device",
	  offsetof(struct bs_config, readonly), false },
	{ "exclusive", BS_OPT_BOOL, false, "true", "false: other programs may open it too",
	  offsetof(struct bs_config, exclusive), true },
	{ "force",							BS_OPT_BOOL, false, "false",
	  "serve it even if it is mounted, in use or not empty", offsetof(struct bs_config, force),
	  true },
	{ "cache",							   BS_OPT_CHOICE, false, NULL,
	  "what makes a write durable: nothing (writethrough) or a flush (none, writeback)", offsetof(struct bs_config, cache), true, BS_CACHE_CHOICES },
	{ "iopoll",BS_OPT_BOOL, false, "false",
	  "true: poll the device for completions instead of waiting for interrupts", offsetof(struct bs_config, iopoll), true },
	{ 0						    },
};

const struct backstore_type block_type = {
	.name = "block",
	.help = "a block device",
	.options = block_options,
	.inspects = true,
	.size = sizeof(struct fdstore),
	.open = block_open,
	.close = fdstore_close,
	.refresh = block_refresh,
	.path = fdstore_path,
	.fd = fdstore_fd,
	.flush = fdstore_flush,
	.resize = block_resize,
	.submit = fdstore_submit,
};
