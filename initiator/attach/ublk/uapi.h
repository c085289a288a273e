// SPDX-License-Identifier: BSD-2-Clause
// The kernel's interface of ublk (Linux 6.5): /dev/ublk-control and /dev/ublkcN, by io_uring
// commands. Stated here, as the headers of older systems lack most of it. All integers are the
// machine's.
#pragma once

#include <assert.h>
#include <stdint.h>
#include <sys/ioctl.h>

#define UBLK_CONTROL "/dev/ublk-control"

struct ublk_command { // in the entry of /dev/ublk-control: one of 128 bytes
	uint32_t device;
	uint16_t queue; // UBLK_NO_QUEUE
	uint16_t len;	// of the buffer
	uint64_t addr;
	uint64_t data, reserved;
};
static_assert(sizeof(struct ublk_command) == 32, "struct ublksrv_ctrl_cmd");
#define UBLK_NO_QUEUE 0xffff
#define UBLK_ANY      UINT32_MAX // a device number: the kernel chooses

struct ublk_request { // in the entry of /dev/ublkcN
	uint16_t queue, tag;
	int32_t result; // of UBLK_COMMIT_AND_FETCH
	uint64_t addr;	// 0 with UBLK_USER_COPY
};
static_assert(sizeof(struct ublk_request) == 16, "struct ublksrv_io_cmd");

#define UBLK_DEV_INFO	    _IOR('u', 0x02, struct ublk_command)
#define UBLK_ADD	    _IOWR('u', 0x04, struct ublk_command)
#define UBLK_DELETE	    _IOWR('u', 0x05, struct ublk_command)
#define UBLK_START	    _IOWR('u', 0x06, struct ublk_command)
#define UBLK_STOP	    _IOWR('u', 0x07, struct ublk_command)
#define UBLK_SET_PARAMS	    _IOWR('u', 0x08, struct ublk_command)
#define UBLK_GET_PARAMS	    _IOR('u', 0x09, struct ublk_command)
#define UBLK_START_RECOVERY _IOWR('u', 0x10, struct ublk_command)
#define UBLK_END_RECOVERY   _IOWR('u', 0x11, struct ublk_command)
#define UBLK_FEATURES	    _IOR('u', 0x13, struct ublk_command)
#define UBLK_DELETE_ASYNC   _IOR('u', 0x14, struct ublk_command)  // Linux 6.9
#define UBLK_UPDATE_SIZE    _IOWR('u', 0x15, struct ublk_command) // with UBLK_CAN_RESIZE
#define UBLK_FETCH	    _IOWR('u', 0x20, struct ublk_request)
#define UBLK_COMMIT_FETCH   _IOWR('u', 0x21, struct ublk_request)

// Flags of a device, and what UBLK_FEATURES reports.
#define UBLK_RECOVERY	      (1ull << 3)
#define UBLK_RECOVERY_REISSUE (1ull << 4) // what a dead process had is given to its successor
#define UBLK_IOCTL_ENCODE     (1ull << 6)
#define UBLK_USER_COPY	      (1ull << 7)  // data is read from and written to /dev/ublkcN
#define UBLK_CAN_RESIZE	      (1ull << 10) // Linux 6.16

enum ublk_state { UBLK_DEAD, UBLK_LIVE, UBLK_QUIESCED };

struct ublk_info {
	uint16_t queues, depth, state, pad0;
	uint32_t io_bytes_max, device;
	int32_t pid;
	uint32_t pad1;
	uint64_t flags, server_flags;
	uint32_t uid, gid;
	uint64_t reserved[2];
};
static_assert(sizeof(struct ublk_info) == 64, "struct ublksrv_ctrl_dev_info");

#define UBLK_IS_READ_ONLY  (1u << 0)
#define UBLK_IS_ROTATIONAL (1u << 1)
#define UBLK_HAS_CACHE	   (1u << 2)
#define UBLK_HAS_FUA	   (1u << 3)
#define UBLK_HAS_BASIC	   (1u << 0) // of types
#define UBLK_HAS_DISCARD   (1u << 1)

struct ublk_params {
	uint32_t len, types;
	uint32_t attributes;
	uint8_t logical_shift, physical_shift, io_opt_shift, io_min_shift;
	uint32_t sectors_max, chunk_sectors;
	uint64_t sectors, virt_boundary_mask;
	uint32_t discard_alignment, discard_granularity; // bytes
	uint32_t discard_sectors_max, zeroes_sectors_max;
	uint16_t discard_segments_max, reserved;
	uint32_t pad; // the kernel's structure continues here, with what types does not name
};
static_assert(sizeof(struct ublk_params) == 64, "struct ublk_params up to discard");

// A request, in memory shared with the kernel: one array for each queue.
struct ublk_descriptor {
	uint32_t op_flags; // enum ublk_op, and UBLK_REQUEST_FLAG
	uint32_t sectors;
	uint64_t sector, addr;
};
static_assert(sizeof(struct ublk_descriptor) == 24, "struct ublksrv_io_desc");

enum ublk_op {
	UBLK_READ = 0,
	UBLK_WRITE = 1,
	UBLK_FLUSH = 2,
	UBLK_DISCARD = 3,
	UBLK_WRITE_ZEROES = 5,
	UBLK_OP_COUNT,
};
#define UBLK_OP_MASK  0xffu
#define UBLK_FUA      (1u << (8 + 13))
#define UBLK_NO_UNMAP (1u << (8 + 15))

enum {
	UBLK_DEPTH_MAX = 4096,
	UBLK_QUEUES_MAX = 64, // of ours; the kernel's limit is 4096
	UBLK_SECTOR = 512,
};
// Offsets in /dev/ublkcN: of a queue's array for mmap, and of a request's data.
#define UBLK_ARRAY_STRIDE     (UBLK_DEPTH_MAX * sizeof(struct ublk_descriptor))
#define UBLK_DATA(queue, tag) (0x80000000ull + ((uint64_t)(queue) << 41) + ((uint64_t)(tag) << 25))
static_assert(UBLK_ARRAY_STRIDE % 4096 == 0, "the kernel rounds it to pages: nothing to do");
