// SPDX-License-Identifier: BSD-2-Clause
// BS_EXTENT for files, by FIEMAP, which reports allocated but unwritten space: WRITE_ZEROES may
// leave such space. On file systems without FIEMAP (tmpfs, NFS) by lseek. Both may wait for the
// file system's locks, so they run on the offload threads. lseek moves the file position, which no
// other code uses.
#include "backstores/extent.h"

#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define EXTENTS 32 // examined in one step; adjacent extents form one run

// First byte at or after offset that is data (or hole), else end.
static int seek(int fd, uint64_t offset, int whence, uint64_t end, uint64_t *ret)
{
	off_t at = lseek(fd, (off_t)offset, whence);
	if (at < 0 && errno != ENXIO)
		return backstore_errno(-errno);
	*ret = at < 0 || (uint64_t)at > end ? end : (uint64_t)at;
	return 0;
}

// The first run of mapped bytes at or after offset; both are end if no bytes are mapped.
static int find_by_seek(int fd, uint64_t offset, uint64_t end, uint64_t *ret_data,
			uint64_t *ret_hole)
{
	int r = seek(fd, offset, SEEK_DATA, end, ret_data);
	*ret_hole = end;
	if (r == 0 && *ret_data < end)
		r = seek(fd, *ret_data, SEEK_HOLE, end, ret_hole);
	return r;
}

static int find_by_fiemap(int fd, uint64_t offset, uint64_t end, uint64_t *ret_data,
			  uint64_t *ret_hole)
{
	_Alignas(struct fiemap)
		uint8_t raw[sizeof(struct fiemap) + EXTENTS * sizeof(struct fiemap_extent)];
	struct fiemap *map = (struct fiemap *)raw;
	const struct fiemap_extent *x = map->fm_extents;
	*map = (struct fiemap){ .fm_start = offset,
				.fm_length = end - offset,
				.fm_extent_count = EXTENTS };
	if (ioctl(fd, FS_IOC_FIEMAP, map) < 0)
		return backstore_errno(-errno);
	*ret_data = *ret_hole = end;
	if (!map->fm_mapped_extents || x->fe_logical >= end)
		return 0;
	*ret_data = x->fe_logical < offset ? offset : x->fe_logical;
	uint64_t stop = x->fe_logical;
	for (uint32_t i = 0; i < map->fm_mapped_extents && x[i].fe_logical == stop; i++)
		stop += x[i].fe_length;
	*ret_hole = stop < end ? stop : end;
	return 0;
}

int extent_find(struct bs_io *io)
{
	int fd = io->part.fd;
	uint64_t block = io->bs->limits.block_size, begin = io->offset + io->part.shift;
	uint64_t end = begin + io->part.end, data, hole;
	int r = find_by_fiemap(fd, begin, end, &data, &hole);
	if (r < 0)
		r = find_by_seek(fd, begin, end, &data, &hole);
	if (r < 0)
		return r;
	data -= data % block;
	io->ret_is_mapped = data <= begin;
	if (!io->ret_is_mapped) {
		io->ret_extent_length = data - begin;
		return 0;
	}
	hole += (block - hole % block) % block;
	if (hole <= begin)
		hole = begin + block; // the data begins inside the block
	io->ret_extent_length = hole - begin;
	return 0;
}

static void work(struct offload *o)
{
	struct bs_io *io = container_of(o, struct bs_io, offload);
	io->result = extent_find(io);
}

static void done(struct offload *o)
{
	struct bs_io *io = container_of(o, struct bs_io, offload);
	io->done(io, io->result);
}

void extent_submit(struct backstore *bs, struct bs_io *io, int fd, uint64_t shift, uint64_t length)
{
	io->bs = bs;
	io->part = (struct bs_part){ .fd = fd, .shift = shift, .end = length };
	io->offload.work = work;
	io->offload.done = done;
	offload_submit(&io->offload);
}
