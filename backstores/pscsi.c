// SPDX-License-Identifier: BSD-2-Clause
// pscsi: SCSI pass-through: every CDB goes to a SCSI device of this machine by ioctl SG_IO on
// an offload thread, and its sense and residual are returned. The device is named as /dev/sgN,
// /dev/bsg/H:C:T:L, H:C:T:L or its block device.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backstores/claim.h"
#include "backstores/device.h"
#include "backstores/pscsi_sg.h"
#include "backstores/types.h"

struct pscsi {
	struct backstore bs;
	int fd;
	bool is_bsg;
	struct claim claim;
};

static struct pscsi *pscsi_of(struct backstore *bs)
{
	return (struct pscsi *)bs;
}

// --- find the device node

// "0:0:1:0": host, channel, target, LUN.
static bool is_hctl(const char *text)
{
	unsigned h, c, t;
	unsigned long long l;
	int end = 0;
	return sscanf(text, "%u:%u:%u:%llu%n", &h, &c, &t, &l, &end) == 4 && text[end] == 0;
}

// The sg node of a SCSI address, from sysfs; else its bsg node.
static int find_node(const char *hctl, char *ret, size_t size, struct err *e)
{
	char path[120];
	snprintf(path, sizeof(path), "/sys/bus/scsi/devices/%.60s/scsi_generic", hctl);
	DIR *d = opendir(path);
	bool is_found = false;
	for (struct dirent *entry; d && !is_found && (entry = readdir(d));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(ret, size, "/dev/%.60s", entry->d_name);
		is_found = true;
	}
	if (d)
		closedir(d);
	if (is_found)
		return 0;
	snprintf(ret, size, "/dev/bsg/%.60s", hctl);
	if (access(ret, F_OK) == 0)
		return 0;
	return err_set(e, -ENODEV, "no SCSI device %s (see lsscsi -g)", hctl);
}

static bool is_bsg_path(const char *path)
{
	static const char folder[] = "/dev/bsg/";
	char *real = realpath(path, NULL);
	bool is = real && strncmp(real, folder, sizeof(folder) - 1) == 0;
	free(real);
	return is;
}

static int open_node(struct pscsi *p, const char *path, bool is_forced, struct err *e)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return err_errno(e, -errno, "%s", path);
	bool is_block = S_ISBLK(st.st_mode);
	if (!is_block && !S_ISCHR(st.st_mode))
		return err_set(e, -EINVAL,
			       "%s: not a device (give /dev/sgN, /dev/bsg/H:C:T:L, H:C:T:L or a "
			       "SCSI block device)",
			       path);
	int flags = O_RDWR | O_CLOEXEC | O_NONBLOCK | (is_block && !is_forced ? O_EXCL : 0);
	p->fd = open(path, flags);
	if (p->fd < 0 && errno == EBUSY)
		return device_refuse_used(st.st_rdev, path, e);
	if (p->fd < 0)
		return err_errno(e, -errno, "%s", path);
	p->is_bsg = !is_block && is_bsg_path(path);
	if (is_block)
		backstore_note(&p->bs, "Note: block backstore recommended for SCSI block devices");
	return 0;
}

// --- commands

// Blocks until the device has answered.
static int run(struct pscsi *p, struct bs_scsi *io)
{
	struct sg_io_hdr v3;
	struct sg_io_v4 v4;
	if (p->is_bsg)
		pscsi_fill_v4(&v4, io);
	else
		pscsi_fill_v3(&v3, io);
	int r;
	do {
		r = ioctl(p->fd, SG_IO, p->is_bsg ? (void *)&v4 : (void *)&v3);
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	return p->is_bsg ? pscsi_result_v4(&v4, io) : pscsi_result_v3(&v3, io);
}

static void copy_bounce(struct bs_scsi *io, uint32_t length, bool is_to_bounce)
{
	struct worker *w = worker_self();
	uint8_t *at = io->bounce;
	for (uint32_t i = 0; i < io->nsg && length; i++) {
		uint32_t n = io->sg[i].len < length ? io->sg[i].len : length;
		if (is_to_bounce)
			buf_copy_for(w, io->copied, at, io->sg[i].addr, n);
		else
			buf_copy_for(w, io->copied, io->sg[i].addr, at, n);
		at += n;
		length -= n;
	}
}

static void scsi_work(struct offload *o)
{
	struct bs_scsi *io = container_of(o, struct bs_scsi, offload);
	io->result = run(pscsi_of(io->bs), io);
}

static void scsi_done(struct offload *o)
{
	struct bs_scsi *io = container_of(o, struct bs_scsi, offload);
	if (io->bounce && io->direction == BS_SCSI_IN && io->result == 0)
		copy_bounce(io, io->data_len - io->residual, false);
	free(io->bounce);
	io->bounce = NULL;
	io->done(io, io->result < 0 ? backstore_errno(io->result) : 0);
}

static bool sg_is_length(const struct bs_scsi *io)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < io->nsg; i++)
		sum += io->sg[i].len;
	return io->direction == BS_SCSI_NONE || sum == io->data_len;
}

static void pscsi_scsi(struct backstore *bs, struct bs_scsi *io)
{
	io->bs = bs;
	io->status = 0;
	io->sense_len = io->residual = 0;
	if (!sg_is_length(io) || io->cdb_len > UINT8_MAX) {
		io->done(io, -EINVAL);
		return;
	}
	if (!pscsi_is_direct(io, pscsi_of(bs)->is_bsg)) {
		// From the heap: the size is arbitrary, and the device is slower than malloc.
		io->bounce = malloc(io->data_len ? io->data_len : 1);
		if (!io->bounce) {
			io->done(io, -ENOMEM);
			return;
		}
		if (io->direction == BS_SCSI_OUT)
			copy_bounce(io, io->data_len, true);
	}
	io->offload.work = scsi_work;
	io->offload.done = scsi_done;
	offload_submit(&io->offload);
}

// --- open

// Sends a command that reads into data; returns its length or a negative errno. Blocks.
static int ask(struct pscsi *p, const uint8_t *cdb, uint32_t cdb_len, uint8_t *data,
	       uint32_t length)
{
	struct sg sg = { .addr = data, .len = length };
	struct bs_scsi io = {
		.cdb = cdb,
		.cdb_len = cdb_len,
		.direction = BS_SCSI_IN,
		.sg = &sg,
		.nsg = 1,
		.data_len = length,
		.timeout_ms = 10000,
	};
	int r = -EIO;
	// Tries twice: the first command after a reset returns the UNIT ATTENTION.
	for (int i = 0; i < 2; i++) {
		r = run(p, &io);
		if (r < 0 || io.status == 0)
			break;
		r = -EIO;
	}
	return r < 0 ? r : (int)(length - io.residual);
}

static int find_capacity(struct pscsi *p, uint64_t *ret_size, uint32_t *ret_block)
{
	static const uint8_t capacity_10[10] = { 0x25 };
	static const uint8_t capacity_16[16] = { 0x9e, 0x10, [13] = 32 };
	uint8_t data[32];
	int n = ask(p, capacity_10, sizeof(capacity_10), data, 8);
	if (n >= 0 && pscsi_capacity_10(data, (size_t)n, ret_size, ret_block))
		return 0;
	n = ask(p, capacity_16, sizeof(capacity_16), data, sizeof(data));
	if (n >= 0 && pscsi_capacity_16(data, (size_t)n, ret_size, ret_block))
		return 0;
	return n < 0 ? n : -EIO;
}

// Peripheral device types that have a READ CAPACITY (SPC-6 table 142): disks, write-once,
// CD/DVD, optical memory, simplified and zoned disks.
static bool has_capacity(uint8_t type)
{
	static const uint8_t types[] = { 0x00, 0x04, 0x05, 0x07, 0x0e, 0x14 };
	return memchr(types, type, sizeof(types)) != NULL;
}

static int identify(struct pscsi *p, const char *path, struct err *e)
{
	static const uint8_t inquiry[6] = { 0x12, [4] = 36 };
	struct bs_limits *l = &p->bs.limits;
	uint8_t data[36] = { 0 };
	int n = ask(p, inquiry, sizeof(inquiry), data, sizeof(data));
	if (n < 5)
		return err_set(
			e, n < 0 && n != -ENOTTY ? n : -EINVAL,
			"%s: no response to SCSI commands (use block for a disk that is not SCSI)",
			path);
	l->block_size = l->physical_block = 512;
	l->is_removable = data[1] & 0x80;
	l->device_type = data[0] & 0x1f;
	if (!has_capacity(l->device_type))
		return 0;
	int r = find_capacity(p, &l->size, &l->block_size);
	if (r < 0 && !l->is_removable) // an empty drive is fine: the initiator sees the status
		return err_errno(e, r, "%s: READ CAPACITY", path);
	if (l->physical_block < l->block_size)
		l->physical_block = l->block_size;
	return 0;
}

static int pscsi_refresh(struct backstore *bs, uint64_t *ret_size, struct err *e)
{
	uint32_t block;
	if (bs->limits.size == 0) {
		*ret_size = 0;
		return 0;
	}
	int r = find_capacity(pscsi_of(bs), ret_size, &block);
	return r < 0 ? err_errno(e, r, "READ CAPACITY") : 0;
}

static void pscsi_close(struct backstore *bs)
{
	claim_release(&pscsi_of(bs)->claim);
	close(pscsi_of(bs)->fd);
}

static int pscsi_fd(struct backstore *bs)
{
	return pscsi_of(bs)->fd;
}

static int pscsi_open(struct backstore *bs, const struct bs_config *config, struct err *e)
{
	struct pscsi *p = pscsi_of(bs);
	char path[256];
	int r = 0;
	snprintf(path, sizeof(path), "%.255s", config->dev);
	if (is_hctl(config->dev))
		r = find_node(config->dev, path, sizeof(path), e);
	if (r == 0)
		r = open_node(p, path, config->force, e);
	if (r < 0)
		return r;
	r = identify(p, path, e);
	if (r == 0)
		r = claim_take(&p->claim, p->fd, CLAIM_WRITE, bs->name, path, e);
	if (r < 0)
		pscsi_close(bs);
	return r;
}

static const struct bs_option pscsi_options[] = {
	{"dev",							BS_OPT_STRING, true, NULL,
	  "/dev/sgN, /dev/bsg/H:C:T:L, H:C:T:L or a SCSI block device", offsetof(struct bs_config, dev), false },
	{ "force",							BS_OPT_BOOL, false, "false", "serve a block device even if it is in use",
	  offsetof(struct bs_config, force), true },
	{ 0},
};

const struct backstore_type pscsi_type = {
	.name = "pscsi",
	.help = "SCSI pass-through to a local device",
	.options = pscsi_options,
	.size = sizeof(struct pscsi),
	.open = pscsi_open,
	.fd = pscsi_fd,
	.close = pscsi_close,
	.refresh = pscsi_refresh,
	.scsi = pscsi_scsi,
	.is_passthrough = true,
};
