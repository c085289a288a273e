// SPDX-License-Identifier: BSD-2-Clause
// Files over a base: how they are made and opened. Control thread; blocks on the file system.
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backstores/overlay.h"

#define CHUNK 65536u

// Exactly length bytes. -EIO: the file ends before.
static int read_all(int fd, void *to, uint64_t length, uint64_t offset)
{
	for (uint64_t done = 0; done < length;) {
		ssize_t n = pread(fd, (char *)to + done, length - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (uint64_t)n;
	}
	return 0;
}

static int write_all(int fd, const void *from, uint64_t length, uint64_t offset)
{
	for (uint64_t done = 0; done < length;) {
		ssize_t n = pwrite(fd, (const char *)from + done, length - done,
				   (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		done += (uint64_t)n;
	}
	return 0;
}

// --- the base

static int add_sample(int fd, uint64_t offset, uint64_t length, uint32_t *crc)
{
	uint8_t data[4096];
	int r = 0;
	for (uint64_t n; !r && length; offset += n, length -= n) {
		n = length < sizeof data ? length : sizeof data;
		r = read_all(fd, data, n, offset);
		*crc = r ? *crc : overlay_crc(*crc, data, (uint32_t)n);
	}
	return r;
}

static int identify(int fd, struct overlay_base *ret)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return -errno;
	*ret = (struct overlay_base){ .size = (uint64_t)st.st_size,
				      .mtime_s = st.st_mtim.tv_sec,
				      .mtime_ns = (uint32_t)st.st_mtim.tv_nsec };
	uint64_t n = ret->size < OVERLAY_SAMPLE ? ret->size : OVERLAY_SAMPLE;
	int r = add_sample(fd, 0, n, &ret->sample);
	return r ? r : add_sample(fd, ret->size - n, n, &ret->sample);
}

bool overlay_is(int fd)
{
	uint8_t data[OVERLAY_HEADER];
	ssize_t n = pread(fd, data, sizeof data, 0);
	return n > 0 && overlay_header_is(data, (uint64_t)n);
}

static int check_base(int fd, const char *base, struct err *e)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return err_errno(e, -errno, "base %s", base);
	if (!S_ISREG(st.st_mode))
		return err_set(e, -EINVAL, "base %s: not a regular file (give a raw image)", base);
	if (overlay_is(fd))
		return err_set(e, -EINVAL,
			       "base %s: is an overlay file itself (give the image, or a clone)",
			       base);
	return 0;
}

// Opens the base and claims it for storage object name: it may be the base of others, too.
static int open_base(const char *base, const char *name, struct claim *claim, int *ret,
		     struct err *e)
{
	*ret = open(base, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*ret < 0)
		return err_errno(e, -errno, "base %s", base);
	fcntl(*ret, F_SETFL, fcntl(*ret, F_GETFL) & ~O_NONBLOCK);
	int r = check_base(*ret, base, e);
	if (!r)
		r = claim_take(claim, *ret, CLAIM_BASE, name, base, e);
	if (r < 0)
		close(*ret);
	return r;
}

// The last cure for an overlay that its file and its base make useless. A new object cannot be
// reset.
static const char *last_cure(const struct bs_config *config)
{
	return config->is_new ? "give another file"
			      : "run reset, which discards the overlay's data";
}

// The time of day as touch(1) takes it is the cure for a copy of the image with another time.
static int compare_base(const struct overlay_base *was, const struct overlay_base *is,
			const struct bs_config *config, struct err *e)
{
	const char *base = config->base;
	bool is_like = was->size == is->size && was->sample == is->sample;
	if (is_like && was->mtime_s == is->mtime_s && was->mtime_ns == is->mtime_ns)
		return 0;
	if (!is_like)
		return err_set(e, -ESTALE,
			       "base %s has changed since the overlay was created (restore the "
			       "image, or %s)",
			       base, last_cure(config));
	return err_set(e, -ESTALE,
		       "base %s: changed, or a copy with another time (if all of it is the same: "
		       "touch -d @%lld.%09u on it; else %s)",
		       base, (long long)was->mtime_s, was->mtime_ns, last_cure(config));
}

// --- a new file

// Identifies the start of the kernel: what was noted in the page cache is there until the next one.
static void get_boot_id(uint8_t ret[OVERLAY_BOOT_ID])
{
	char text[64];
	memset(ret, 0, OVERLAY_BOOT_ID);
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	unsigned digits = 0;
	for (ssize_t i = 0; i < n && digits < 2 * OVERLAY_BOOT_ID; i++) {
		char c = text[i];
		unsigned value = c >= '0' && c <= '9'	? (unsigned)(c - '0')
				 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
							: 16;
		if (value < 16)
			ret[digits / 2] |= (uint8_t)(value << (digits % 2 ? 0 : 4)), digits++;
	}
}

static int write_header(int fd, const struct overlay_header *h)
{
	uint8_t data[OVERLAY_HEADER];
	overlay_header_write(h, data);
	return write_all(fd, data, sizeof data, 0);
}

// The end of the base that is less than a block has no bit: it is the overlay's from the start.
static int copy_tail(int fd, int base_fd, const struct overlay_layout *l, uint64_t base_size)
{
	uint8_t data[OVERLAY_BLOCK];
	uint64_t at = l->blocks * OVERLAY_BLOCK, n = base_size - at;
	int r = n ? read_all(base_fd, data, n, at) : 0;
	return r || !n ? r : write_all(fd, data, n, l->data + at);
}

static int make_map(int fd, int base_fd, uint64_t size)
{
	struct overlay_header h = { 0 };
	struct overlay_layout l;
	int r = identify(base_fd, &h.base);
	if (!r)
		r = overlay_layout(h.base.size, &l);
	if (r < 0)
		return r;
	get_boot_id(h.boot_id);
	if (size > INT64_MAX - l.data)
		return -EFBIG;
	if (ftruncate(fd, (off_t)(l.data + size)) < 0)
		return -errno;
	r = copy_tail(fd, base_fd, &l, h.base.size);
	return r ? r : write_header(fd, &h);
}

static int make_clone(int fd, int base_fd, uint64_t size)
{
	if (ioctl(fd, FICLONE, base_fd) < 0)
		return errno == ENOSPC || errno == EDQUOT || errno == EIO ? -errno : -EOPNOTSUPP;
	return ftruncate(fd, (off_t)size) < 0 ? -errno : 0;
}

static int make(int fd, int base_fd, const char *path, uint64_t size, enum bs_overlay wanted,
		enum bs_overlay *ret, struct err *e)
{
	int r = wanted == BS_OVERLAY_MAP ? -EOPNOTSUPP : make_clone(fd, base_fd, size);
	*ret = r ? BS_OVERLAY_MAP : BS_OVERLAY_CLONE;
	if (r == -EOPNOTSUPP && wanted == BS_OVERLAY_CLONE)
		return err_set(e, r,
			       "%s: cannot clone the base: not a file system with reflinks, such "
			       "as XFS and btrfs, or not the base's (leave out overlay=clone)",
			       path);
	if (r == -EOPNOTSUPP)
		r = make_map(fd, base_fd, size);
	if (!r && fsync(fd) < 0)
		r = -errno;
	return r ? err_errno(e, r, "%s: create over the base", path) : 0;
}

int overlay_create(int fd, const char *path, const char *base, uint64_t size,
		   enum bs_overlay wanted, const char *name, enum bs_overlay *ret, struct err *e)
{
	struct claim claim = { 0 };
	struct stat st;
	int base_fd, r = open_base(base, name, &claim, &base_fd, e);
	if (r < 0)
		return r;
	uint64_t least = fstat(base_fd, &st) < 0 ? 0 : (uint64_t)st.st_size;
	if (least < OVERLAY_HEADER)
		r = err_set(e, -EINVAL, "base %s: smaller than %u bytes (give a raw image)", base,
			    OVERLAY_HEADER);
	else if (size && size < least)
		r = err_set(e, -EINVAL, "size: %llu bytes is less than the base's %llu",
			    (unsigned long long)size, (unsigned long long)least);
	else
		r = make(fd, base_fd, path, size ? size : least, wanted, ret, e);
	claim_release(&claim);
	close(base_fd);
	return r;
}

// --- opening

// Adds a map in the file to o's; *ret_has_bits: whether it has any.
static int load(struct overlay *o, uint64_t offset, bool *ret_has_bits)
{
	static uint8_t chunk[CHUNK]; // of the control thread
	uint64_t end = offset + o->layout.map_bytes;
	*ret_has_bits = false;
	for (uint64_t at = offset; at < end;) {
		off_t data = lseek(o->map_fd, (off_t)at, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			break;
		if (data > (off_t)at)
			at = (uint64_t)data;
		if (at >= end)
			break;
		uint64_t n = end - at < CHUNK ? end - at : CHUNK;
		int r = read_all(o->map_fd, chunk, n, at);
		if (r < 0)
			return r;
		for (uint64_t i = 0; i < n && !*ret_has_bits; i++)
			*ret_has_bits = chunk[i];
		overlay_map_load(&o->map, at - offset, chunk, n);
		at += n;
	}
	return 0;
}

static int sync_map(const struct overlay *o)
{
	return fdatasync(o->map_fd) < 0 ? -errno : 0;
}

static int clear_noted(const struct overlay *o)
{
	static const uint8_t zeroes[CHUNK];
	uint64_t at = o->layout.noted, left = o->layout.map_bytes;
	int r = fallocate(o->map_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at,
			  (off_t)left) < 0;
	for (uint64_t n; r && left; at += n, left -= n) {
		n = left < CHUNK ? left : CHUNK;
		int failed = write_all(o->map_fd, zeroes, n, at);
		if (failed < 0)
			return failed;
	}
	return sync_map(o);
}

// Makes what was loaded durable, and clears the noted map. A process that was killed may have
// written bits to the kept map without a sync.
static int settle_maps(struct overlay *o, struct overlay_header *h, bool is_same_boot,
		       bool has_noted)
{
	if (is_same_boot && !has_noted)
		return sync_map(o);
	int r = 0;
	if (has_noted) {
		overlay_map_touch(&o->map);
		r = overlay_sync_now(o);
	}
	if (!r)
		r = clear_noted(o);
	if (!r && !is_same_boot) {
		get_boot_id(h->boot_id);
		r = write_header(o->map_fd, h);
	}
	return r ? r : sync_map(o);
}

// What was noted counts if the machine has not been restarted: its data was completed, and the
// kernel still has it.
static int load_maps(struct overlay *o, struct overlay_header *h, const struct bs_config *config,
		     struct err *e)
{
	uint8_t now[OVERLAY_BOOT_ID];
	static const uint8_t unknown[OVERLAY_BOOT_ID];
	bool has_kept, has_noted = false;
	get_boot_id(now);
	bool is_same_boot =
		!memcmp(now, h->boot_id, sizeof now) && memcmp(now, unknown, sizeof now) != 0;
	int r = load(o, o->layout.kept, &has_kept);
	if (!r && is_same_boot)
		r = load(o, o->layout.noted, &has_noted);
	if (r)
		return err_errno(e, r, "%s: read the map", config->dev);
	if (!config->readonly && (has_kept || has_noted || !is_same_boot))
		r = settle_maps(o, h, is_same_boot, has_noted);
	return r ? err_errno(e, r, "%s: commit the noted map (has its file system space?)",
			     config->dev)
		 : 0;
}

int overlay_read_header(int fd, struct overlay_header *ret, struct err *e)
{
	uint8_t data[OVERLAY_HEADER];
	ssize_t n = pread(fd, data, sizeof data, 0);
	if (n < 0)
		return err_errno(e, -errno, "read");
	return overlay_header_read(data, (uint64_t)n, ret, e);
}

// A second descriptor of the store's file, without O_DIRECT.
static int open_map(struct overlay *o, const struct bs_config *config, struct err *e)
{
	struct stat a, b;
	o->map_fd = open(config->dev, (config->readonly ? O_RDONLY : O_RDWR) | O_CLOEXEC);
	if (o->map_fd < 0)
		return err_errno(e, -errno, "%s", config->dev);
	if (fstat(o->store->fd, &a) < 0 || fstat(o->map_fd, &b) < 0 || a.st_ino != b.st_ino ||
	    a.st_dev != b.st_dev)
		return err_set(e, -ESTALE, "%s: was replaced while it was opened (try again)",
			       config->dev);
	if ((uint64_t)b.st_size < o->layout.data ||
	    (uint64_t)b.st_size - o->layout.data < o->base_size)
		return err_set(e, -EINVAL,
			       "%s: shorter than its base: it was truncated (restore it, or %s)",
			       config->dev, last_cure(config));
	return 0;
}

static int set_up(struct overlay *o, const struct bs_config *config, struct err *e)
{
	struct overlay_header h;
	struct overlay_base now;
	struct err why = { 0 };
	int r = overlay_read_header(o->store->fd, &h, &why);
	if (r < 0)
		return err_set(e, r, "%s: %s (restore it, or %s)", config->dev, why.text,
			       last_cure(config));
	r = open_base(config->base, config->name, &o->base_claim, &o->base_fd, e);
	if (r < 0) {
		o->base_fd = -1;
		return r;
	}
	r = identify(o->base_fd, &now);
	if (r < 0)
		return err_errno(e, r, "base %s", config->base);
	r = compare_base(&h.base, &now, config, e);
	if (r < 0)
		return r;
	o->base_size = h.base.size;
	overlay_layout(h.base.size, &o->layout);
	r = open_map(o, config, e);
	if (r < 0)
		return r;
	r = overlay_map_init(&o->map, &o->layout);
	if (r < 0)
		return err_errno(e, r, "%s: allocate the map", config->dev);
	return load_maps(o, &h, config, e);
}

int overlay_open(struct fdstore *f, const struct bs_config *config, struct err *e)
{
	struct overlay *o = calloc(1, sizeof *o);
	if (!o)
		return err_errno(e, -ENOMEM, "%s", config->dev);
	o->store = f;
	o->base_fd = o->map_fd = -1;
	pthread_mutex_init(&o->lock, NULL);
	list_init(&o->changes);
	list_init(&o->turns);
	overlay_sync_init(o);
	f->overlay = o;
	int r = set_up(o, config, e);
	if (r < 0)
		overlay_close(f);
	return r;
}

void overlay_close(struct fdstore *f)
{
	struct overlay *o = f->overlay;
	if (!o)
		return;
	f->overlay = NULL;
	claim_release(&o->base_claim);
	if (o->base_fd >= 0)
		close(o->base_fd);
	if (o->map_fd >= 0)
		close(o->map_fd);
	overlay_map_done(&o->map);
	overlay_sync_done(o);
	pthread_mutex_destroy(&o->lock);
	free(o);
}
