// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator: detects the content of a disk that is about to be overwritten, by libblkid.
// It examines a sparse file in memory, as large as the disk, with the disk's first and last blocks:
// they contain the signatures of filesystems, partition tables, RAID and volume managers. VMFS
// begins at 1 MiB and 2 MiB, ZFS has two labels at either end.
#include <blkid.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "initiator/tool/tool.h"

#define HEAD_BYTES (4u << 20)
#define TAIL_BYTES (1u << 20)

// --- detection ---

// Printable ASCII: the label comes from a disk, and goes to a terminal.
static void clean(char *text)
{
	for (; *text; text++)
		if (*text < 0x20 || *text > 0x7e)
			*text = '?';
}

// Of the names of libblkid, as they are spoken.
static const char *article(const char *name)
{
	static const char *const spelled[] = { "xfs", "ntfs", "f2fs", "hfs", "LVM", "sgi" };
	for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++)
		if (!strncmp(name, spelled[i], strlen(spelled[i])))
			return "an";
	return *name && strchr("aeioAEIO", *name) ? "an" : "a";
}

static void describe(blkid_probe probe, char *ret, size_t size)
{
	const char *type, *usage = "", *label = "", *table = "";
	if (blkid_probe_lookup_value(probe, "TYPE", &type, NULL)) {
		blkid_probe_lookup_value(probe, "PTTYPE", &table, NULL);
		snprintf(ret, size, "%s %s partition table", article(table), table);
		return;
	}
	blkid_probe_lookup_value(probe, "USAGE", &usage, NULL);
	blkid_probe_lookup_value(probe, "LABEL", &label, NULL);
	snprintf(ret, size, "%s %s %s%s%.64s", article(type), type,
		 strcmp(usage, "filesystem") ? "signature" : "filesystem",
		 *label ? " labelled " : "", label);
}

static int probe(int fd, unsigned block_size, char *ret, size_t size, struct err *e)
{
	blkid_probe p = blkid_new_probe();
	if (!p || blkid_probe_set_device(p, fd, 0, 0)) {
		blkid_free_probe(p);
		return err_set(e, -ENOMEM, "libblkid: no probe");
	}
	blkid_probe_set_sectorsize(p, block_size);
	blkid_probe_enable_superblocks(p, 1);
	blkid_probe_set_superblocks_flags(p, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE |
						     BLKID_SUBLKS_LABEL);
	blkid_probe_enable_partitions(p, 1);
	int r = blkid_do_safeprobe(p); // 0: found, 1: nothing, -2: several
	if (r == 0)
		describe(p, ret, size);
	else if (r == -2)
		snprintf(ret, size, "several signatures");
	else if (r < 0)
		err_set(e, -EIO, "libblkid: probing failed");
	clean(ret);
	blkid_free_probe(p);
	return r == -1 ? -EIO : 0;
}

// --- the disk's ends ---

static int64_t take(void *arg, uint64_t offset, const uint8_t *buf, uint32_t len, struct err *e)
{
	const int *fd = arg;
	if (pwrite(*fd, buf, len, (off_t)offset) != (ssize_t)len)
		return err_errno(e, -EIO, "memfd: write");
	return 0;
}

static int read_ends(struct tool_disk *d, int fd, struct err *e)
{
	uint64_t size = d->blocks * d->block_size;
	uint64_t head = size < HEAD_BYTES ? size : HEAD_BYTES;
	uint64_t tail = size - head < TAIL_BYTES ? head : size - TAIL_BYTES;
	if (ftruncate(fd, (off_t)size))
		return err_errno(e, -errno, "memfd: resize");
	int r = tool_read_blocks(d, 0, head, take, &fd, e);
	return r ? r : tool_read_blocks(d, tail, size, take, &fd, e);
}

int tool_signature(struct tool_disk *d, char *ret, size_t size, struct err *e)
{
	int fd = memfd_create("farblock-signature", MFD_CLOEXEC);
	*ret = 0;
	if (fd < 0)
		return err_errno(e, -errno, "memfd");
	int r = read_ends(d, fd, e);
	if (!r)
		r = probe(fd, d->block_size, ret, size, e);
	close(fd);
	return r;
}

// --- the user ---

static bool confirms(const struct tool *t, const struct tool_disk *d, const char *what)
{
	char answer[16] = "";
	fprintf(stderr, "LUN %u of %s: overwrite %s? [y/N] ", d->lun, t->target, what);
	tool_interrupt_data();
	return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

int tool_may_overwrite(struct tool *t, struct tool_disk *d)
{
	char what[160];
	struct err e;
	bool is_input = t->o.input && !strcmp(t->o.input, "-");
	if (t->o.is_forced)
		return TOOL_OK;
	if (tool_claim(t, d, &e) < 0)
		return tool_fail(TOOL_FAILED, &e);
	if (tool_signature(d, what, sizeof what, &e) < 0) {
		err_prefix(&e, "LUN %u: check for data (--force skips it)", d->lun);
		return tool_fail(TOOL_FAILED, &e);
	}
	if (!*what)
		return TOOL_OK;
	if (!is_input && isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && confirms(t, d, what))
		return TOOL_OK;
	err_set(&e, -EEXIST, "LUN %u: refusing to overwrite %s (--force overwrites it)", d->lun,
		what);
	return tool_fail(TOOL_FAILED, &e);
}
