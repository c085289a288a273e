// SPDX-License-Identifier: BSD-2-Clause
// The floor's contract: what a logical unit's storage can do, in bytes, without any CDB
// (pscsi apart). A type fills a struct backstore_type; slots it leaves out get refusing
// defaults (backstore.c), so that callers never test for NULL.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/err.h"
#include "core/offload.h"
#include "core/worker.h"

struct backstore;
struct bs_io;
struct bs_scsi;

// How a backstore is to be opened: the union of what the types take. Strings are borrowed
// for the call. Which fields a type reads, requires and refuses, its option rows say.
struct bs_config {
	const char *name;    // of the storage object, for messages
	const char *dev;     // file or device path
	uint64_t size;	     // bytes; 0 when not given
	uint32_t block_size; // logical block length wanted: 512, 1024, 2048 or 4096; 0 for the
			     // type's own
	bool readonly;
	bool write_back; // fileio: buffered, volatile cache (WCE=1); else O_DIRECT where possible
	bool nullio;	 // ramdisk: no memory, reads zeroes
	bool sparse;	 // fileio: leave holes (default true); false reserves the space
	bool force;	 // block: open although mounted or in use
};

// One row an option: from it come the shell's parameters, help, completion and validation.
enum bs_option_type { BS_OPT_STRING, BS_OPT_PATH, BS_OPT_SIZE, BS_OPT_BOOL };
struct bs_option {
	const char *name; // as in saveconfig.json and in the shell: dev, size, write_back ...
	enum bs_option_type type;
	bool is_required;
	const char *default_text; // what the help shows and an absent option means; NULL none
	const char *help;	  // one line
	size_t offset;		  // of the field in struct bs_config
};

// What the opened backstore is. Constant between resizes; read on any thread.
struct bs_limits {
	uint64_t size;		    // bytes, a multiple of block_size
	uint32_t block_size;	    // logical block length
	uint32_t physical_block;    // bytes, >= block_size, a power of two
	uint32_t optimal_io;	    // bytes, 0 unknown
	uint32_t max_io;	    // largest single read or write in bytes, 0 no limit
	uint32_t unmap_granularity; // bytes, 0 when unmap is not supported
	uint32_t atomic_write_max;  // bytes the medium itself writes atomically, 0 none
	bool can_unmap;		    // BS_UNMAP frees space
	bool unmap_zeroes;	    // reads return zeroes after BS_UNMAP (LBPRZ)
	bool can_write_zeroes;	    // BS_WRITE_ZEROES is supported without a data buffer
	bool can_extent;	    // BS_EXTENT reports allocation
	bool has_write_cache;	    // volatile cache: BS_FLUSH and BS_FUA mean something
	bool is_readonly;
	bool is_rotational;
	bool is_removable;
};

enum bs_op {
	BS_READ,	 // sg <- storage
	BS_WRITE,	 // sg -> storage
	BS_FLUSH,	 // everything completed before is durable afterwards
	BS_UNMAP,	 // offset, length may become holes
	BS_WRITE_ZEROES, // offset, length read as zeroes afterwards
	BS_EXTENT,	 // ret_extent_length, ret_is_mapped for the run that starts at offset
	BS_OP_MAX
};

enum { BS_FUA = 1 }; // the write is durable when it completes

// One I/O. Embedded in its owner (a task); the backstore owns it from submit to done.
struct bs_io {
	enum bs_op op;
	uint32_t flags;	 // BS_FUA
	uint64_t offset; // bytes, multiple of the block size
	uint64_t length; // bytes, multiple of the block size; the sum of sg for READ and WRITE
	struct sg *sg;
	uint32_t nsg;
	// Called exactly once, on the submitting worker, possibly before submit returns.
	// res: 0 or negative errno (-EIO medium error, -ENOSPC thin store full, -EREMOTEIO
	// transport, -EROFS ...). No short transfers: they are errors by then.
	void (*done)(struct bs_io *io, int res);
	uint64_t ret_extent_length; // BS_EXTENT: bytes, >= 1 block
	bool ret_is_mapped;	    // BS_EXTENT
	// Scratch of whoever serves the I/O at the moment.
	struct backstore *bs;
	struct uring_op uring;
	struct offload offload;
	uint64_t progress;			       // bytes done so far
	void (*lower_done)(struct bs_io *io, int res); // a filter keeps the owner's done here
	struct timer timer;			       // delay filter
	struct iovec iov[4];
	struct iovec *iov_more; // when nsg > 4
};

// A whole SCSI command for pass-through types.
struct bs_scsi {
	const uint8_t *cdb;
	uint32_t cdb_len;
	enum { BS_SCSI_NONE, BS_SCSI_IN, BS_SCSI_OUT } direction;
	struct sg *sg;
	uint32_t nsg, data_len; // bytes
	uint8_t status;		// SAM status, set on completion
	uint8_t sense[96];
	uint32_t sense_len;
	uint32_t residual; // bytes not transferred
	void (*done)(struct bs_scsi *io, int res);
	struct backstore *bs;
	struct offload offload;
	struct iovec iov[64];
	uint32_t timeout_ms;
};

struct backstore_type {
	const char *name;		 // "ramdisk", the folder's file name and the shell's
	const char *help;		 // one line
	const struct bs_option *options; // ends with a NULL name
	size_t size;			 // of the type's struct, which begins with struct backstore

	// Opens the storage and fills bs->limits. Control thread; may block. On failure it
	// returns a negative errno and leaves nothing behind.
	int (*open)(struct backstore *bs, const struct bs_config *config, struct err *e);
	// Control thread, no I/O in flight any more; may block.
	void (*close)(struct backstore *bs);
	// Looks at the storage again and stores a changed size in *ret_size. Control thread;
	// may block. Default: the size never changes.
	int (*refresh)(struct backstore *bs, uint64_t *ret_size, struct err *e);
	// Grows (or, where the type allows, shrinks) to size bytes. Control thread; may block.
	// Default: -EOPNOTSUPP.
	int (*resize)(struct backstore *bs, uint64_t size, struct err *e);
	// Serves io, which has passed backstore_submit()'s bounds checks. Worker thread; must
	// not block; completes through io->done. Default: -EOPNOTSUPP.
	void (*submit)(struct backstore *bs, struct bs_io *io);
	// The disk's own memory for [offset, offset + length), or NULL when it has none (then
	// data goes through submit). Valid while the backstore is open. Worker thread. Default:
	// NULL. Only a type whose writes need no completion of their own offers it.
	uint8_t *(*map)(struct backstore *bs, uint64_t offset, uint64_t length);
	// Serves a whole SCSI command. Worker thread; must not block. Default: -EOPNOTSUPP;
	// only types with is_passthrough set have it.
	void (*scsi)(struct backstore *bs, struct bs_scsi *io);
	bool is_passthrough;
};

struct backstore {
	const struct backstore_type *type;
	char *name;
	struct bs_limits limits;
	struct backstore *lower; // of a filter; NULL at the floor
	// Where direct memory access is possible, the base of it: map()'s answer for offset 0,
	// kept here so that the I/O path needs no call. NULL otherwise.
	uint8_t *memory;
};

// The types, in the order the shell lists them; ends with NULL. Filters are not among them.
extern const struct backstore_type *const backstore_types[];
const struct backstore_type *backstore_type_find(const char *name); // NULL: no such type

// Allocates, validates the config against the option rows and opens. Control thread; may
// block. On success *ret is to be closed with backstore_close().
int backstore_open(struct backstore **ret, const struct backstore_type *type,
		   const struct bs_config *config, struct err *e);
// Closes the whole stack, filters included, and frees it. No I/O may be in flight. NULL is
// fine. Control thread; may block.
void backstore_close(struct backstore *bs);

// Checks io's bounds in 64 bits, then hands it to the type. Worker thread. Out of range:
// done with -ERANGE; write to a read-only store: -EROFS.
void backstore_submit(struct backstore *bs, struct bs_io *io);

// map() with the same bounds check; NULL when there is no direct access.
uint8_t *backstore_map(struct backstore *bs, uint64_t offset, uint64_t length);

// Filters: a new top of the stack over lower, which it owns afterwards. Fault and latency
// injection are product features (storage-object attributes); a filter hides map(). Control
// thread. The settings may be changed while I/O runs (relaxed atomics).
struct bs_faults {
	uint32_t error_read_ppm, error_write_ppm,
		error_flush_ppm; // of a million I/Os, fail with -EIO
	uint32_t delay_read_us, delay_write_us, delay_flush_us;
};
int backstore_error_new(struct backstore **ret, struct backstore *lower, struct err *e);
int backstore_delay_new(struct backstore **ret, struct backstore *lower, struct err *e);
void backstore_error_set(struct backstore *filter, const struct bs_faults *faults);
void backstore_delay_set(struct backstore *filter, const struct bs_faults *faults);
// Takes the filter off, frees it and returns what was below. No I/O in flight.
struct backstore *backstore_filter_remove(struct backstore *filter);
