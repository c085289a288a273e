// SPDX-License-Identifier: BSD-2-Clause
// Converts a bs_scsi to the headers of ioctl SG_IO: version 3 for /dev/sgN and block devices,
// version 4 for /dev/bsg; and the kernel's result back. Pure functions; any thread.
#pragma once

#include <linux/bsg.h>
#include <scsi/sg.h>
#include <stddef.h>

#include "backstores/backstore.h"

#define PSCSI_TIMEOUT_MS 60000u
#define PSCSI_IOV	 64 // entries of bs_scsi.iov

// True if io's data needs no bounce buffer: one piece, or a list that version 3 takes.
bool pscsi_is_direct(const struct bs_scsi *io, bool is_bsg);

// Fill the kernel's header; data is io->bounce if that is set, else the scatter list. The memory
// for data-in is cleared.
void pscsi_fill_v3(struct sg_io_hdr *h, struct bs_scsi *io);
void pscsi_fill_v4(struct sg_io_v4 *h, struct bs_scsi *io);

// Store status, sense length and residual in io. Return 0, or a negative errno if there is no
// status: -ETIMEDOUT, -EREMOTEIO.
int pscsi_result_v3(const struct sg_io_hdr *h, struct bs_scsi *io);
int pscsi_result_v4(const struct sg_io_v4 *h, struct bs_scsi *io);

// The capacity in READ CAPACITY(10) and (16) parameter data (SBC-4 5.20, 5.21). False: incomplete,
// impossible, or, for (10), too large for that command.
bool pscsi_capacity_10(const uint8_t *data, size_t length, uint64_t *ret_size, uint32_t *ret_block);
bool pscsi_capacity_16(const uint8_t *data, size_t length, uint64_t *ret_size, uint32_t *ret_block);
