// SPDX-License-Identifier: BSD-2-Clause
// Backstores: defaults that refuse, open and close, the checks of every I/O before it reaches a
// type, resize of a whole stack. Opening, closing and resizing run on the control thread; submit,
// scsi and map on the workers. The list of types is in types.c.
#include "backstores/backstore.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backstores/option.h"
#include "backstores/types.h"
#include "core/fds.h"

static int refuse_open(struct backstore *bs, const struct bs_config *config, struct err *e)
{
	return err_set(e, -EOPNOTSUPP, "this type cannot be opened alone");
}

static void nothing_to_close(struct backstore *bs)
{
}

static int same_size(struct backstore *bs, uint64_t *ret_size, struct err *e)
{
	*ret_size = bs->limits.size;
	return 0;
}

static int no_space_known(struct backstore *bs, uint64_t *ret_used, uint64_t *ret_total)
{
	return -EOPNOTSUPP;
}

static bool loses_nothing(struct backstore *bs)
{
	return false;
}

static enum bs_path has_no_path(struct backstore *bs, const char *path)
{
	return BS_PATH_SAME;
}

static int has_no_fd(struct backstore *bs)
{
	return -1;
}

static int nothing_to_flush(struct backstore *bs, struct err *e)
{
	return 0;
}

static int refuse_resize(struct backstore *bs, uint64_t size, struct err *e)
{
	return err_set(e, -EOPNOTSUPP, "%s storage cannot be resized", bs->type->name);
}

static void refuse_io(struct backstore *bs, struct bs_io *io)
{
	io->done(io, -EOPNOTSUPP);
}

static void refuse_scsi(struct backstore *bs, struct bs_scsi *io)
{
	io->done(io, -EOPNOTSUPP);
}

static void fill_defaults(struct backstore_type *ops)
{
	if (!ops->open)
		ops->open = refuse_open;
	if (!ops->close)
		ops->close = nothing_to_close;
	if (!ops->refresh)
		ops->refresh = same_size;
	if (!ops->space)
		ops->space = no_space_known;
	if (!ops->holds_data)
		ops->holds_data = loses_nothing;
	if (!ops->path)
		ops->path = has_no_path;
	if (!ops->fd)
		ops->fd = has_no_fd;
	if (!ops->flush)
		ops->flush = nothing_to_flush;
	if (!ops->resize)
		ops->resize = refuse_resize;
	if (!ops->submit)
		ops->submit = refuse_io;
	if (!ops->scsi)
		ops->scsi = refuse_scsi;
}

struct backstore *backstore_alloc(const struct backstore_type *type, const char *name)
{
	struct backstore *bs = calloc(1, type->size);
	if (!bs)
		return NULL;
	bs->type = type;
	bs->ops = *type;
	fill_defaults(&bs->ops);
	bs->name = strdup(name);
	if (!bs->name) {
		free(bs);
		return NULL;
	}
	return bs;
}

static void backstore_free(struct backstore *bs)
{
	free(bs->name);
	free(bs);
}

int backstore_open(struct backstore **ret, const struct backstore_type *type,
		   const struct bs_config *config, struct err *e)
{
	struct backstore *bs;
	int r = option_check(type, config, e);
	if (r < 0)
		goto fail;
	if (!fds_have_room(FDS_STORAGE)) {
		r = err_set(e, -EMFILE,
			    "open: out of file descriptors (raise LimitNOFILE or ulimit -n)");
		goto fail;
	}
	bs = backstore_alloc(type, config->name);
	if (!bs) {
		r = err_set(e, -ENOMEM, "out of memory");
		goto fail;
	}
	r = bs->ops.open(bs, config, e);
	if (r < 0) {
		backstore_free(bs);
		goto fail;
	}
	*ret = bs;
	return 0;
fail:
	err_prefix(e, "%s %s", type->name, config->name ? config->name : "(no name)");
	return r;
}

int backstore_absent_new(struct backstore **ret, const struct backstore_type *type,
			 const char *name, uint32_t block_size)
{
	const struct backstore_type nothing = { .size = sizeof(struct backstore) };
	struct backstore *bs = backstore_alloc(&nothing, name);
	if (!bs)
		return -ENOMEM;
	bs->type = type;
	bs->limits.block_size = bs->limits.physical_block = block_size ? block_size : 512;
	*ret = bs;
	return 0;
}

void backstore_close(struct backstore *bs)
{
	while (bs) {
		struct backstore *lower = bs->lower;
		bs->ops.close(bs);
		backstore_free(bs);
		bs = lower;
	}
}

const char *backstore_cache_name(enum bs_cache cache)
{
	static const char *const names[] = {
		[BS_CACHE_NONE] = "none",
		[BS_CACHE_WRITETHROUGH] = "writethrough",
		[BS_CACHE_WRITEBACK] = "writeback",
	};
	return names[cache];
}

uint64_t backstore_size(const struct backstore *bs)
{
	return __atomic_load_n(&bs->limits.size, __ATOMIC_ACQUIRE);
}

static bool in_bounds(const struct backstore *bs, uint64_t offset, uint64_t length)
{
	uint64_t size = backstore_size(bs);
	return offset <= size && length <= size - offset;
}

static bool sg_is_length(const struct bs_io *io)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < io->nsg; i++)
		sum += io->sg[i].len;
	return sum == io->length;
}

static const struct {
	bool has_data, is_change;
} op_rows[BS_OP_MAX] = {
	[BS_READ] = {true,   false},
	[BS_WRITE] = { true,  true },
	[BS_UNMAP] = { false, true },
	[BS_WRITE_ZEROES] = { false, true },
};

// Checks io; 0 if the type may serve it.
static int check_io(const struct backstore *bs, const struct bs_io *io)
{
	if ((unsigned)io->op >= BS_OP_MAX)
		return -EOPNOTSUPP;
	if (!in_bounds(bs, io->offset, io->length))
		return -ERANGE;
	if ((io->offset | io->length) & (bs->limits.block_size - 1))
		return -EINVAL;
	if (op_rows[io->op].has_data && !sg_is_length(io))
		return -EINVAL;
	if (op_rows[io->op].is_change && bs->limits.is_readonly)
		return -EROFS;
	if (io->op == BS_EXTENT && io->length == 0)
		return -EINVAL;
	return 0;
}

void backstore_submit(struct backstore *bs, struct bs_io *io)
{
	if (io->op != BS_FLUSH) {
		int r = check_io(bs, io);
		if (r < 0 || io->length == 0) {
			io->done(io, r);
			return;
		}
	}
	io->progress = 0;
	io->step = io->tries = 0;
	io->bounce = NULL;
	io->bounce_buf = NULL;
	bs->ops.submit(bs, io);
}

void backstore_scsi(struct backstore *bs, struct bs_scsi *io)
{
	io->bounce = NULL;
	bs->ops.scsi(bs, io);
}

uint8_t *backstore_map(struct backstore *bs, uint64_t offset, uint64_t length)
{
	return bs->memory && in_bounds(bs, offset, length) ? bs->memory + offset : NULL;
}

static struct backstore *floor_of(struct backstore *bs)
{
	while (bs->lower)
		bs = bs->lower;
	return bs;
}

static void publish_size(struct backstore *bs, uint64_t size)
{
	for (; bs; bs = bs->lower)
		__atomic_store_n(&bs->limits.size, size, __ATOMIC_RELEASE);
}

int backstore_refresh(struct backstore *bs, bool *ret_changed, struct err *e)
{
	struct backstore *floor = floor_of(bs);
	uint64_t size;
	int r = floor->ops.refresh(floor, &size, e);
	if (r < 0) {
		err_prefix(e, "%s %s: refresh", floor->type->name, floor->name);
		return r;
	}
	size -= size % floor->limits.block_size;
	*ret_changed = size != floor->limits.size;
	if (*ret_changed)
		publish_size(bs, size);
	return 0;
}

int backstore_space(struct backstore *bs, uint64_t *ret_used, uint64_t *ret_total)
{
	struct backstore *floor = floor_of(bs);
	return floor->ops.space(floor, ret_used, ret_total);
}

bool backstore_holds_data(struct backstore *bs)
{
	struct backstore *floor = floor_of(bs);
	return floor->ops.holds_data(floor);
}

enum bs_path backstore_path(struct backstore *bs, const char *path)
{
	struct backstore *floor = floor_of(bs);
	return floor->ops.path(floor, path);
}

int backstore_fd(struct backstore *bs)
{
	struct backstore *floor = floor_of(bs);
	return floor->ops.fd(floor);
}

int backstore_flush(struct backstore *bs, struct err *e)
{
	struct backstore *floor = floor_of(bs);
	int r = floor->ops.flush(floor, e);
	return r < 0 ? (err_prefix(e, "%s %s: flush", floor->type->name, floor->name), r) : 0;
}

static int check_resize(const struct backstore *floor, uint64_t size, struct err *e)
{
	if (floor->limits.is_readonly)
		return err_set(e, -EROFS, "read-only");
	if (size % floor->limits.block_size)
		return err_set(e, -EINVAL, "%llu bytes is not a multiple of the block size %u",
			       (unsigned long long)size, floor->limits.block_size);
	if (size > INT64_MAX)
		return err_set(e, -EFBIG, "%llu bytes is more than 8 EiB",
			       (unsigned long long)size);
	if (size < floor->limits.size)
		return err_set(e, -EINVAL,
			       "%llu bytes is less than the current %llu (storage can only grow)",
			       (unsigned long long)size, (unsigned long long)floor->limits.size);
	return 0;
}

int backstore_resize(struct backstore *bs, uint64_t size, struct err *e)
{
	struct backstore *floor = floor_of(bs);
	int r = check_resize(floor, size, e);
	if (r == 0 && size > floor->limits.size)
		r = floor->ops.resize(floor, size, e);
	if (r < 0) {
		err_prefix(e, "%s %s: resize", floor->type->name, floor->name);
		return r;
	}
	publish_size(bs, size);
	return 0;
}

void backstore_note(struct backstore *bs, const char *fmt, ...)
{
	size_t used = strlen(bs->note);
	if (used && used + 1 < sizeof(bs->note))
		bs->note[used++] = '\n';
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(bs->note + used, sizeof(bs->note) - used, fmt, ap);
	va_end(ap);
}

int backstore_errno(int res)
{
	switch (res) {
	case -ENOSPC:
	case -EDQUOT:
	case -EFBIG:
		return -ENOSPC;
	case -EOPNOTSUPP:
	case -EROFS:
	case -ENOMEM:
	case -EREMOTEIO:
		return res;
	case -ETIMEDOUT:
	case -ENOLINK:
	case -ENODEV:
	case -ENXIO:
		return -EREMOTEIO;
	default:
		return -EIO;
	}
}
