// SPDX-License-Identifier: BSD-2-Clause
// See pscsi_sg.h.
#include "backstores/pscsi_sg.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

enum { SENSE_DRIVER = 8 }; // driver byte that only means "sense is present"

// host_status of the kernel's SCSI layer, if it is more specific than "transport".
enum { HOST_TIME_OUT = 3 };

bool pscsi_is_direct(const struct bs_scsi *io, bool is_bsg)
{
	return io->direction == BS_SCSI_NONE || io->nsg <= (is_bsg ? 1 : PSCSI_IOV);
}

static uint32_t timeout_of(const struct bs_scsi *io)
{
	return io->timeout_ms ? io->timeout_ms : PSCSI_TIMEOUT_MS;
}

static bool has_data(const struct bs_scsi *io)
{
	return io->direction != BS_SCSI_NONE && io->data_len;
}

static void *flat_data(const struct bs_scsi *io)
{
	return io->bounce ? io->bounce : io->sg[0].addr;
}

// After a short transfer, drivers may leave the residual 0. The initiator then also gets bytes that
// the device did not write, which must not be old contents of the memory. The helper thread does
// the clearing.
static void clear_data_in(struct bs_scsi *io)
{
	if (io->direction != BS_SCSI_IN)
		return;
	if (io->bounce) {
		memset(io->bounce, 0, io->data_len);
		return;
	}
	for (uint32_t i = 0; i < io->nsg; i++)
		memset(io->sg[i].addr, 0, io->sg[i].len);
}

void pscsi_fill_v3(struct sg_io_hdr *h, struct bs_scsi *io)
{
	memset(h, 0, sizeof(*h));
	h->interface_id = 'S';
	h->cmdp = (unsigned char *)io->cdb;
	h->cmd_len = (unsigned char)io->cdb_len;
	h->sbp = io->sense;
	h->mx_sb_len = sizeof(io->sense);
	h->timeout = timeout_of(io);
	h->dxfer_direction = SG_DXFER_NONE;
	if (!has_data(io))
		return;
	clear_data_in(io);
	h->dxfer_direction = io->direction == BS_SCSI_IN ? SG_DXFER_FROM_DEV : SG_DXFER_TO_DEV;
	h->dxfer_len = io->data_len;
	if (io->bounce || io->nsg == 1) {
		h->dxferp = flat_data(io);
		return;
	}
	for (uint32_t i = 0; i < io->nsg; i++)
		io->iov[i] = (struct iovec){ io->sg[i].addr, io->sg[i].len };
	h->dxferp = io->iov;
	h->iovec_count = (unsigned short)io->nsg;
}

void pscsi_fill_v4(struct sg_io_v4 *h, struct bs_scsi *io)
{
	memset(h, 0, sizeof(*h));
	h->guard = 'Q';
	h->protocol = BSG_PROTOCOL_SCSI;
	h->subprotocol = BSG_SUB_PROTOCOL_SCSI_CMD;
	h->request = (uintptr_t)io->cdb;
	h->request_len = io->cdb_len;
	h->response = (uintptr_t)io->sense;
	h->max_response_len = sizeof(io->sense);
	h->timeout = timeout_of(io);
	if (!has_data(io))
		return;
	clear_data_in(io);
	if (io->direction == BS_SCSI_IN) {
		h->din_xferp = (uintptr_t)flat_data(io);
		h->din_xfer_len = io->data_len;
	} else {
		h->dout_xferp = (uintptr_t)flat_data(io);
		h->dout_xfer_len = io->data_len;
	}
}

static int settle(struct bs_scsi *io, uint32_t status, uint32_t sense_len, int64_t residual,
		  uint32_t host, uint32_t driver)
{
	io->status = (uint8_t)(status & 0xfe);
	io->sense_len = sense_len < sizeof(io->sense) ? sense_len : sizeof(io->sense);
	if (residual < 0)
		residual = 0;
	io->residual = residual < io->data_len ? (uint32_t)residual : io->data_len;
	if (host == HOST_TIME_OUT)
		return -ETIMEDOUT;
	if (host || ((driver & 0xf) && (driver & 0xf) != SENSE_DRIVER))
		return -EREMOTEIO;
	return 0;
}

int pscsi_result_v3(const struct sg_io_hdr *h, struct bs_scsi *io)
{
	return settle(io, h->status, h->sb_len_wr, h->resid, h->host_status, h->driver_status);
}

int pscsi_result_v4(const struct sg_io_v4 *h, struct bs_scsi *io)
{
	int64_t residual = io->direction == BS_SCSI_OUT ? h->dout_resid : h->din_resid;
	return settle(io, h->device_status, h->response_len, residual, h->transport_status,
		      h->driver_status);
}

static bool settle_capacity(uint64_t last, uint32_t block, uint64_t *ret_size, uint32_t *ret_block)
{
	uint64_t blocks, size;
	if (__builtin_add_overflow(last, 1, &blocks) ||
	    __builtin_mul_overflow(blocks, block, &size))
		return false;
	if (block < 256 || (block & (block - 1)) || size > INT64_MAX)
		return false;
	*ret_size = size;
	*ret_block = block;
	return true;
}

bool pscsi_capacity_10(const uint8_t *data, size_t length, uint64_t *ret_size, uint32_t *ret_block)
{
	uint32_t last, block;
	if (length < 8)
		return false;
	memcpy(&last, data, 4);
	memcpy(&block, data + 4, 4);
	if (last == UINT32_MAX)
		return false;
	return settle_capacity(be32toh(last), be32toh(block), ret_size, ret_block);
}

bool pscsi_capacity_16(const uint8_t *data, size_t length, uint64_t *ret_size, uint32_t *ret_block)
{
	uint64_t last;
	uint32_t block;
	if (length < 12)
		return false;
	memcpy(&last, data, 8);
	memcpy(&block, data + 8, 4);
	return settle_capacity(be64toh(last), be32toh(block), ret_size, ret_block);
}
