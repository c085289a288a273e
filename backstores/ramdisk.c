// SPDX-License-Identifier: BSD-2-Clause
// ramdisk: a disk in anonymous memory (memfd) with direct access: bs->memory is
// the disk. Address space is reserved ahead of the disk, so that it grows without moving.
//
// Reads and writes run inline on the worker; punching and finding holes runs inline for small
// ranges, and in slices on the offload threads for large ones. RDMA devices may pin the memory
// (core/region.h); then ranges are zeroed, not punched.
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/memfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backstores/extent.h"
#include "backstores/hugepages.h"
#include "backstores/memory.h"
#include "backstores/types.h"
#include "core/attr.h"
#include "core/region.h"
#include "core/sanitize.h"

#define RESERVE_MIN  (1ull << 30)
#define INLINE_BYTES (64u << 10)  // limit of zeroing by memset, or punching, on the worker
#define SLICE_BYTES  (256u << 20) // punched at once on an offload thread
#define SCAN_BYTES   (64u << 20)  // searched for zeroes at once there
#define LOOK_MAX     (1ull << 30) // limit of pages checked for zeroes; more count as data

// The initial memory of the disk, and each piece added by growing.
struct part {
	struct region region;
	struct part *older;
};

struct ramdisk {
	struct backstore bs;
	struct part *parts; // newest first; grows while other threads read it
	int fd;
	bool is_hugetlb;	   // of the machine's pool: all allocated, holes are not punched
	uint64_t mapped, reserved; // bytes of file mapping, of address space
	uint64_t promised;	   // its part of promised
	struct hugepages *huge;	   // NULL if is_hugetlb, or no memory
};

static uint64_t promised; // bytes of all RAM disks without huge pages; control thread

static struct ramdisk *ramdisk_of(struct backstore *bs)
{
	return (struct ramdisk *)bs;
}

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

static uint64_t page_of(const struct ramdisk *rd)
{
	return rd->is_hugetlb ? HUGE_PAGE : BUF_PAGE;
}

// Reserves address space for the disk to grow in: twice its size if possible.
static int reserve(struct ramdisk *rd, uint64_t size)
{
	uint64_t need = round_up(size, HUGE_PAGE), want = need < INT64_MAX / 2 ? 2 * need : need;
	if (want < RESERVE_MIN)
		want = RESERVE_MIN;
	for (;;) {
		// One huge page more than needed, so that the start can be aligned to one.
		void *p = mmap(NULL, want + HUGE_PAGE, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p != MAP_FAILED) {
			uint64_t skip = round_up((uintptr_t)p, HUGE_PAGE) - (uintptr_t)p;
			if (skip)
				munmap(p, skip);
			if (skip < HUGE_PAGE)
				munmap((uint8_t *)p + skip + want, HUGE_PAGE - skip);
			rd->bs.memory = (uint8_t *)p + skip;
			rd->reserved = want;
			return 0;
		}
		if (want <= need)
			return -errno;
		want = need;
	}
}

// Restores the reservation of [at, at + length), unless the range was reused meanwhile.
static void reserve_again(struct ramdisk *rd, uint8_t *at, size_t length)
{
	uint8_t *end = rd->bs.memory + rd->reserved;
	void *p = mmap(at, length, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (p == at)
		return;
	if (p != MAP_FAILED)
		munmap(p, length);
	if (at + length < end)
		munmap(at + length, (size_t)(end - at) - length);
	rd->reserved = (uint64_t)(at - rd->bs.memory); // the rest of it
}

// Allocates huge pages that a mapping of [rd->mapped, end) has reserved: Linux may give reserved
// pages away while vm.nr_hugepages is lowered and others unmap theirs. The next access would then
// end in SIGBUS, or in EFAULT of a send.
static int allocate(const struct ramdisk *rd, uint64_t end)
{
	int r;
	do {
		r = fallocate(rd->fd, 0, (off_t)rd->mapped, (off_t)(end - rd->mapped));
	} while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : 0;
}

// Maps [rd->mapped, end) of the file at its place in the reservation. Maps elsewhere first: a
// failed MAP_FIXED removes the reservation, and a malloc() of any thread may then take the range.
static int map_file(struct ramdisk *rd, uint64_t end)
{
	uint8_t *at = rd->bs.memory + rd->mapped;
	size_t length = end - rd->mapped;
	void *p = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, rd->fd, (off_t)rd->mapped);

	if (p == MAP_FAILED)
		return -errno;
	int r = rd->is_hugetlb ? allocate(rd, end) : 0;
	if (r < 0) {
		munmap(p, length);
		return r;
	}
	if (mremap(p, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, at) != MAP_FAILED)
		return 0;
	r = -errno;
	munmap(p, length);
	reserve_again(rd, at, length);
	return r;
}

// Extends file and mapping to cover size bytes; the mapping stays where it is. After an error all
// is as before.
static int extend(struct ramdisk *rd, uint64_t size)
{
	uint64_t end = round_up(size, page_of(rd));
	if (end <= rd->mapped)
		return 0;
	if (end > rd->reserved)
		return -EFBIG;
	if (ftruncate(rd->fd, (off_t)end) < 0)
		return -errno;
	int r = map_file(rd, end);
	if (r < 0)
		return ftruncate(rd->fd, (off_t)rd->mapped) < 0 ? -errno : r;
	uint8_t *at = rd->bs.memory + rd->mapped;
	size_t length = end - rd->mapped;
	if (!rd->is_hugetlb)
		madvise(at, length, MADV_HUGEPAGE); // a hint: fails on kernels without THP
	madvise(at, length, MADV_DONTDUMP);
	sanitize_medium(at, length);
	rd->mapped = end;
	return 0;
}

static int make_file(struct ramdisk *rd, uint64_t size, bool is_hugetlb)
{
	unsigned flags = MFD_CLOEXEC | (is_hugetlb ? MFD_HUGETLB | MFD_HUGE_2MB : 0);
	rd->is_hugetlb = is_hugetlb;
	rd->fd = memfd_create("farblock-ramdisk", flags);
	if (rd->fd < 0)
		return -errno;
	int r = extend(rd, size);
	if (r < 0)
		close(rd->fd);
	return r;
}

// Announces [from, rd->mapped) before any I/O reaches it. Blocks while devices pin it.
static int announce(struct ramdisk *rd, uint64_t from)
{
	struct part *p = calloc(1, sizeof *p);
	if (!p)
		return -ENOMEM;
	p->region.addr = rd->bs.memory + from;
	p->region.len = rd->mapped - from;
	p->region.is_resident = rd->is_hugetlb;
	p->older = rd->parts;
	region_add(&p->region);
	__atomic_store_n(&rd->parts, p, __ATOMIC_RELEASE);
	return 0;
}

static void withdraw(struct ramdisk *rd)
{
	while (rd->parts) {
		struct part *p = rd->parts;
		rd->parts = p->older;
		region_remove(&p->region);
		free(p);
	}
}

static void ramdisk_close(struct backstore *bs)
{
	struct ramdisk *rd = ramdisk_of(bs);
	if (!bs->memory)
		return; // nullio
	withdraw(rd);
	promised -= rd->promised;
	hugepages_free(rd->huge);
	munmap(bs->memory, rd->reserved);
	close(rd->fd);
}

// Linux allocates memory at the first write, and kills a process when it runs out.
static void promise(struct ramdisk *rd, uint64_t more)
{
	char all[32], most[32];
	if (rd->is_hugetlb)
		return;
	promised += more;
	rd->promised += more;
	if (promised <= memory_most())
		return;
	format_size(promised, all);
	format_size(memory_most(), most);
	backstore_note(
		&rd->bs,
		"Warning: RAM disks can grow to %s; memory and swap total %s. If they run out, "
		"the kernel kills farblockd.",
		all, most);
}

// size: what the disk should have.
static int explain_memory(const struct ramdisk *rd, int r, uint64_t size, struct err *e)
{
	if (!rd->is_hugetlb)
		return err_errno(e, r, "map %llu bytes of memory", (unsigned long long)size);
	uint64_t needed = (round_up(size, HUGE_PAGE) - rd->mapped) / HUGE_PAGE;
	return err_set(e, r,
		       "huge pages of 2 MiB: %llu are needed, %llu are free: %s (raise "
		       "vm.nr_hugepages%s)",
		       (unsigned long long)needed, (unsigned long long)memory_free_huge_pages(),
		       strerror(-r), rd->mapped ? "" : ", or create it without hugepages=true");
}

static int make_memory(struct ramdisk *rd, uint64_t size, bool is_hugetlb, struct err *e)
{
	int r = reserve(rd, size);
	if (r < 0)
		return err_errno(e, r, "size: reserve address space for %llu bytes",
				 (unsigned long long)size);
	r = make_file(rd, size, is_hugetlb);
	if (r == 0 && (r = announce(rd, 0)) < 0)
		close(rd->fd);
	if (r < 0) {
		if (rd->reserved)
			munmap(rd->bs.memory, rd->reserved);
		explain_memory(rd, r, size, e);
		err_prefix(e, "size");
		return r;
	}
	return 0;
}

static int ramdisk_open(struct backstore *bs, const struct bs_config *config, struct err *e)
{
	uint32_t block_size = config->block_size ? config->block_size : 512;
	if (config->size > INT64_MAX - HUGE_PAGE)
		return err_set(e, -EINVAL, "size: %llu bytes is out of range (1 page to 8 EiB)",
			       (unsigned long long)config->size);
	uint64_t size = round_up(config->size, BUF_PAGE);
	null_limits(&bs->limits, size, block_size);
	if (config->nullio && config->hugepages)
		return err_set(e, -EINVAL, "hugepages: with nullio=true it has no memory");
	if (config->nullio) {
		bs->ops.submit = null_submit;
		return 0;
	}
	struct ramdisk *rd = ramdisk_of(bs);
	int r = make_memory(rd, size, config->hugepages, e);
	if (r < 0)
		return r;
	promise(rd, size);
	bs->limits.is_volatile = true;
	bs->limits.can_extent = !rd->is_hugetlb;
	if (!rd->is_hugetlb)
		rd->huge = hugepages_new(bs->memory, rd->fd, rd->reserved, rd->mapped);
	return 0;
}

static int ramdisk_resize(struct backstore *bs, uint64_t size, struct err *e)
{
	struct ramdisk *rd = ramdisk_of(bs);
	if (!bs->memory)
		return 0; // nullio
	uint64_t before = rd->mapped;
	int r = extend(rd, size);
	if (r == 0 && rd->mapped > before)
		r = announce(rd, before);
	if (r == -EFBIG)
		return err_set(e, r,
			       "%llu bytes is more than a disk in use can grow to, %llu "
			       "(delete and recreate it)",
			       (unsigned long long)size, (unsigned long long)rd->reserved);
	if (r < 0)
		return explain_memory(rd, r, size, e);
	hugepages_grow(rd->huge, rd->mapped);
	if (rd->mapped > before)
		promise(rd, rd->mapped - before);
	return 0;
}

static void holes_end(struct part *p, const struct part *until)
{
	for (; p != until; p = p->older)
		region_hole_end(&p->region);
}

// False if a device has pinned pages: it would use the old pages after a hole is punched.
static bool holes_begin(struct part *parts)
{
	for (struct part *p = parts; p; p = p->older) {
		if (region_hole_begin(&p->region))
			continue;
		holes_end(parts, p);
		return false;
	}
	return true;
}

static int punch_file(struct ramdisk *rd, uint64_t offset, uint64_t length)
{
	int r;
	do {
		r = fallocate(rd->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
			      (off_t)length);
	} while (r < 0 && errno == EINTR);
	hugepages_punched(rd->huge, offset, length);
	return r < 0 ? backstore_errno(-errno) : 0;
}

// Frees the memory of [offset, offset + length), or zeroes it where it cannot be freed. A freed
// huge page is no longer reserved, and accessing it again could be fatal.
static int punch(struct ramdisk *rd, uint64_t offset, uint64_t length)
{
	struct part *parts = __atomic_load_n(&rd->parts, __ATOMIC_ACQUIRE);
	if (rd->is_hugetlb || !holes_begin(parts)) {
		memset(rd->bs.memory + offset, 0, length);
		return 0;
	}
	int r = punch_file(rd, offset, length);
	holes_end(parts, NULL);
	return r;
}

static uint64_t slice(const struct bs_io *io)
{
	uint64_t left = io->length - io->progress;
	return left < SLICE_BYTES ? left : SLICE_BYTES;
}

static void punch_work(struct offload *o)
{
	struct bs_io *io = container_of(o, struct bs_io, offload);
	io->result = punch(ramdisk_of(io->bs), io->offset + io->progress, slice(io));
}

static void punch_done(struct offload *o)
{
	struct bs_io *io = container_of(o, struct bs_io, offload);
	if (io->result == 0)
		io->progress += slice(io);
	if (io->result < 0 || io->progress == io->length)
		io->done(io, io->result);
	else
		offload_submit(o);
}

static void punch_submit(struct backstore *bs, struct bs_io *io)
{
	io->bs = bs;
	io->offload.work = punch_work;
	io->offload.done = punch_done;
	offload_submit(&io->offload);
}

// Serves callers that cannot use bs->memory directly.
static void serve_read_write(struct backstore *bs, struct bs_io *io)
{
	struct worker *w = worker_self();
	uint8_t *at = bs->memory + io->offset;
	for (uint32_t i = 0; i < io->nsg; i++) {
		const struct sg *sg = &io->sg[i];
		if (io->op == BS_READ)
			buf_copy_for(w, io->copied, sg->addr, at, sg->len);
		else
			buf_copy_for(w, io->copied, at, sg->addr, sg->len);
		at += sg->len;
	}
	io->done(io, 0);
}

static void serve_flush(struct backstore *bs, struct bs_io *io)
{
	io->done(io, 0);
}

static void serve_unmap(struct backstore *bs, struct bs_io *io)
{
	if (io->length <= INLINE_BYTES)
		io->done(io, punch(ramdisk_of(bs), io->offset, io->length));
	else
		punch_submit(bs, io);
}

static void serve_write_zeroes(struct backstore *bs, struct bs_io *io)
{
	if (io->length <= INLINE_BYTES) {
		memset(bs->memory + io->offset, 0, io->length);
		io->done(io, 0);
	} else {
		punch_submit(bs, io);
	}
}

static bool is_zero_page(const uint8_t *page)
{
	return page[0] == 0 && memcmp(page, page + 1, BUF_PAGE - 1) == 0;
}

// Reading a hole through the mapping allocates a page of zeroes. A page of zeroes
// reads like a hole, so it is reported as one. Examines at most SCAN_BYTES.
static void see_zero_pages(const struct ramdisk *rd, struct bs_io *io)
{
	uint64_t end = io->offset + io->ret_extent_length;
	uint64_t at = io->offset - io->offset % BUF_PAGE;
	if (end - io->offset > SCAN_BYTES)
		end = io->offset + SCAN_BYTES;
	bool is_zero = is_zero_page(rd->bs.memory + at);
	do {
		at += BUF_PAGE;
	} while (at < end && is_zero_page(rd->bs.memory + at) == is_zero);
	io->ret_is_mapped = !is_zero;
	io->ret_extent_length = (at < end ? at : end) - io->offset;
}

static void extent_work(struct offload *o)
{
	struct bs_io *io = container_of(o, struct bs_io, offload);
	const struct ramdisk *rd = ramdisk_of(io->bs);
	io->part = (struct bs_part){ .fd = rd->fd, .end = io->length };
	io->result = extent_find(io);
	if (io->result == 0 && io->ret_is_mapped)
		see_zero_pages(rd, io);
}

static void extent_done(struct offload *o)
{
	struct bs_io *io = container_of(o, struct bs_io, offload);
	io->done(io, io->result);
}

static void serve_extent(struct backstore *bs, struct bs_io *io)
{
	if (ramdisk_of(bs)->is_hugetlb) {
		io->ret_extent_length = io->length;
		io->ret_is_mapped = true;
		io->done(io, 0);
	} else {
		io->bs = bs;
		io->offload.work = extent_work;
		io->offload.done = extent_done;
		offload_submit(&io->offload);
	}
}

// The next touched pages from *at on, and their end; false: none.
static bool next_pages(const struct ramdisk *rd, uint64_t *at, uint64_t *ret_end)
{
	*ret_end = rd->mapped;
	if (rd->is_hugetlb)
		return *at < rd->mapped;
	off_t from = lseek(rd->fd, (off_t)*at, SEEK_DATA);
	off_t end = from < 0 ? -1 : lseek(rd->fd, from, SEEK_HOLE);
	if (from < 0)
		return false;
	*at = (uint64_t)from;
	*ret_end = end < 0 ? rd->mapped : (uint64_t)end;
	return true;
}

// Reading touches pages too; they contain zeroes.
static bool ramdisk_holds_data(struct backstore *bs)
{
	const struct ramdisk *rd = ramdisk_of(bs);
	uint64_t end, seen = 0;
	for (uint64_t at = 0; bs->memory && next_pages(rd, &at, &end); at = end)
		for (; at < end; at += BUF_PAGE, seen += BUF_PAGE)
			if (seen >= LOOK_MAX || !is_zero_page(bs->memory + at))
				return true;
	return false;
}

static void ramdisk_submit(struct backstore *bs, struct bs_io *io)
{
	static void (*const serve[BS_OP_MAX])(struct backstore * bs, struct bs_io * io) = {
		[BS_READ] = serve_read_write,
		[BS_WRITE] = serve_read_write,
		[BS_FLUSH] = serve_flush,
		[BS_UNMAP] = serve_unmap,
		[BS_WRITE_ZEROES] = serve_write_zeroes,
		[BS_EXTENT] = serve_extent,
	};
	serve[io->op](bs, io);
}

static const struct bs_option ramdisk_options[] = {
	{"size",				       BS_OPT_SIZE, true, NULL, "bytes, e.g. 1G; rounded up to whole pages",
	  offsetof(struct bs_config, size), false },
	{ "nullio",					BS_OPT_BOOL, false, "false", "use no memory, read zeroes, discard writes",
	  offsetof(struct bs_config, nullio), false },
	{ "hugepages", BS_OPT_BOOL, false, "false",
	  "use 2 MiB pages of the machine's pool (vm.nr_hugepages), all allocated at once", offsetof(struct bs_config, hugepages), true },
	{ 0				      },
};

const struct backstore_type ramdisk_type = {
	.name = "ramdisk",
	.help = "a disk in memory; its content is lost when farblockd stops",
	.options = ramdisk_options,
	.size = sizeof(struct ramdisk),
	.open = ramdisk_open,
	.close = ramdisk_close,
	.holds_data = ramdisk_holds_data,
	.resize = ramdisk_resize,
	.submit = ramdisk_submit,
};
