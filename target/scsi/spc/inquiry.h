// SPDX-License-Identifier: BSD-2-Clause
// Shared by the two halves of INQUIRY. Pure functions except vpd_run(); task's worker.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lu;
struct task;

// Writes text truncated or padded with spaces to size bytes, with non-printable characters
// replaced.
void inquiry_text(uint8_t *out, const char *text, size_t size);
// PRODUCT IDENTIFICATION.
void inquiry_product(uint8_t out[16], const struct lu *lu);
// Ends t with the vital product data page, truncated to alloc bytes.
void vpd_run(struct task *t, uint8_t code, uint16_t alloc);

// A page. Its data goes to out (VPD_MAX bytes, zeroed, header included); the builder returns
// the page's total length and need not fill the header.
#define VPD_MAX	      2048
#define VPD_PORTS_MAX 65532 // of page 88h, the maximum of PAGE LENGTH
struct vpd_page {
	uint8_t code;
	unsigned (*build)(const struct task *t, uint8_t *out);
	bool (*is_available)(const struct lu *lu); // NULL: always available
	uint32_t size;				   // bytes at out; 0: VPD_MAX
};

unsigned vpd_device_id(const struct task *t, uint8_t *out);    // vpd_id.c: page 83h
unsigned vpd_scsi_ports(const struct task *t, uint8_t *out);   // vpd_id.c: page 88h
unsigned vpd_third_party(const struct task *t, uint8_t *out);  // vpd_third_party.c: page 8Fh
unsigned vpd_block_limits(const struct task *t, uint8_t *out); // vpd_block.c: page B0h
unsigned vpd_block_device(const struct task *t, uint8_t *out); // vpd_block.c: page B1h
unsigned vpd_provisioning(const struct task *t, uint8_t *out); // vpd_block.c: page B2h
