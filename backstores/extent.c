// SPDX-License-Identifier: BSD-2-Clause
// BS_EXTENT for files: lseek may wait for the filesystem's locks, so it runs on the offload
// threads. The file position that it moves is nobody's: all I/O names its offset.
#include "backstores/extent.h"

#include <errno.h>
#include <unistd.h>

// First byte at or after offset that is data (or hole); end when there is none.
static int seek(int fd, uint64_t offset, int whence, uint64_t end, uint64_t *ret)
{
	off_t at = lseek(fd, (off_t)offset, whence);
	if (at < 0 && errno != ENXIO)
		return backstore_errno(-errno);
	*ret = at < 0 || (uint64_t)at > end ? end : (uint64_t)at;
	return 0;
}

int extent_find(struct bs_io *io, int fd)
{
	uint64_t block = io->bs->limits.block_size;
	uint64_t end = io->offset + io->length, data, hole;
	int r = seek(fd, io->offset, SEEK_DATA, end, &data);
	if (r < 0)
		return r;
	data -= data % block;
	if (data > io->offset) {
		io->ret_is_mapped = false;
		io->ret_extent_length = data - io->offset;
		return 0;
	}
	r = seek(fd, io->offset, SEEK_HOLE, end, &hole);
	if (r < 0)
		return r;
	hole += (block - hole % block) % block;
	if (hole == io->offset)
		hole += block; // the data begins inside of the block
	io->ret_is_mapped = true;
	io->ret_extent_length = hole - io->offset;
	return 0;
}

static void work(struct offload *o)
{
	struct bs_io *io = container_of(o, struct bs_io, offload);
	io->result = extent_find(io, (int)io->step);
}

static void done(struct offload *o)
{
	struct bs_io *io = container_of(o, struct bs_io, offload);
	io->done(io, io->result);
}

void extent_submit(struct backstore *bs, struct bs_io *io, int fd)
{
	io->bs = bs;
	io->step = (uint32_t)fd;
	io->offload.work = work;
	io->offload.done = done;
	offload_submit(&io->offload);
}
