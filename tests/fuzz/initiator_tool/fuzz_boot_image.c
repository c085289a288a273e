// SPDX-License-Identifier: BSD-2-Clause
// The first blocks of a disk and its EFI system partition. The first byte chooses the block size,
// the rest is the disk. Every read must be within the disk, and their number limited.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/tool/boot_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { READS_MAX = 4096 + 64 };

struct disk {
	const uint8_t *data;
	uint64_t size;
	unsigned reads;
};

static int read_disk(void *arg, uint64_t offset, uint8_t *buf, uint32_t len, struct err *e)
{
	struct disk *d = arg;
	if (!len || len > 4096 || offset > d->size || len > d->size - offset ||
	    ++d->reads > READS_MAX)
		abort();
	memcpy(buf, d->data + offset, len);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct boot_image image;
	struct err e;
	if (!size)
		return 0;
	uint32_t block = 512u << (data[0] & 7);
	struct disk d = { data + 1, (size - 1) / block * block, 0 };
	struct boot_source s = { read_disk, &d, d.size, block };
	if (boot_image_look(&s, &image, &e))
		abort();
	if (image.esp && (image.esp_at >= d.size || image.esp_bytes > d.size - image.esp_at))
		abort();
	if (!memchr(image.efi, 0, sizeof image.efi) || (image.efi[0] && !image.is_fat))
		abort();
	return 0;
}
