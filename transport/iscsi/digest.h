// SPDX-License-Identifier: BSD-2-Clause
// Header and data digests: CRC32C, incremental, over bytes and iovecs [RFC 7143 §13.1].
//
// Any thread, nothing blocks, nothing allocates. A running value starts at ISCSI_CRC_START;
// digest_put() turns it into wire bytes.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define ISCSI_CRC_START UINT32_C(0xffffffff)

// The running value after n more bytes.
uint32_t digest_update(uint32_t crc, const void *p, size_t n);

// The running value after the first n bytes of the iovecs (all of them when they hold less).
uint32_t digest_update_iov(uint32_t crc, const struct iovec *iov, unsigned iov_count, size_t n);

// The running value after the zero bytes (0 to 3) that pad data_len to a multiple of four.
uint32_t digest_update_pad(uint32_t crc, size_t data_len);

// Writes the finished digest in wire order.
void digest_put(uint32_t crc, uint8_t ret_wire[4]);

// True when wire holds the finished digest of crc.
bool digest_is(uint32_t crc, const uint8_t wire[4]);

// The wire bytes for one header (BHS and AHS).
void digest_header(const void *header, size_t n, uint8_t ret_wire[4]);
