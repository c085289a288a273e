// SPDX-License-Identifier: BSD-2-Clause
// The interface of storage behind a logical unit: byte ranges, no CDBs
// (except pscsi). A type fills a struct backstore_type; slots it leaves out get failing
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

// How to open a backstore: the union of all types' options. Strings are borrowed
// for the call. A type's option rows say which fields it takes and requires; name,
// block_size, is_new and accepts_data belong to all. Start from backstore_config_init().
struct bs_config {
	const char *name;    // of the storage object, for messages
	const char *dev;     // file or device path
	uint64_t size;	     // bytes; 0 if not given
	uint32_t block_size; // logical block length: 512, 1024, 2048 or 4096; 0 for the type's
			     // default
	bool readonly;
	bool write_back;   // fileio: the same as cache=writeback
	uint32_t cache;	   // fileio, block: enum bs_cache
	bool iopoll;	   // fileio, block: poll the device for completions
	bool nullio;	   // ramdisk: no memory, reads zeroes
	bool hugepages;	   // ramdisk: memory from the machine's pool of 2 MiB pages
	bool sparse;	   // fileio: leave holes (default true); false reserves the space
	bool exclusive;	   // block: false: other programs may open it too (default true)
	bool force;	   // open a device although it is mounted, in use, or not empty
	const char *base;  // fileio: the image that dev is an overlay of; NULL: none
	uint32_t overlay;  // fileio: enum bs_overlay
	bool is_new;	   // created now, not restored from a saved file: a block device with signs
			   // of data is refused unless force or accepts_data
	bool accepts_data; // of a block device; it is opened as exclusively as an empty one
};

// One row per option; the shell's parameters, help, completion and validation come from it.
enum bs_option_type { BS_OPT_STRING, BS_OPT_PATH, BS_OPT_SIZE, BS_OPT_BOOL, BS_OPT_CHOICE };
struct bs_option {
	const char *name; // as in saveconfig.json and in the shell: dev, size, write_back ...
	enum bs_option_type type;
	bool is_required;
	const char *default_text; // the default, in the form that backstore_config_set() takes;
				  // NULL none
	const char *help;	  // one line
	size_t offset;		  // of the field in struct bs_config
	bool is_own;		  // unknown to rtslib: in the shell it comes after wwn
	const char *choices;	  // CHOICE: "a|b|c"; the field is a uint32_t, 1 for the first
	bool is_found; // if it is not given, the type chooses it when it creates the disk
};

// Where acknowledged writes are, and what makes them durable; "cache" in the shell.
enum bs_cache {
	BS_CACHE_UNSET,
	BS_CACHE_NONE,	       // in the device (O_DIRECT); BS_FLUSH or BS_FUA (WCE=1)
	BS_CACHE_WRITETHROUGH, // on stable storage (O_DIRECT): nothing (WCE=0)
	BS_CACHE_WRITEBACK,    // in the page cache; BS_FLUSH or BS_FUA (WCE=1)
};
#define BS_CACHE_CHOICES "none|writethrough|writeback"

// How a file with a base keeps what differs from it; "overlay" in the shell.
enum bs_overlay {
	BS_OVERLAY_UNSET, // a clone if the file system can, else a map
	BS_OVERLAY_CLONE, // it shares the unchanged blocks in the file system (FICLONE)
	BS_OVERLAY_MAP,	  // a file with its own blocks and a map of them: overlay.md
};
#define BS_OVERLAY_CHOICES "clone|map"

// Whether a reboot loses it: a file on tmpfs or ramfs, and one that has a device's place there.
enum bs_memory { BS_ON_STORAGE, BS_IN_MEMORY, BS_AMONG_NODES };

// Properties of an open backstore. Constant except size, which backstore_resize() and
// backstore_refresh() change while workers run: off the control thread read it with
// backstore_size().
struct bs_limits {
	uint64_t size;		    // bytes, a multiple of block_size
	uint32_t block_size;	    // logical block length
	uint32_t physical_block;    // bytes, >= block_size, a power of two
	uint32_t optimal_io;	    // bytes, 0 unknown
	uint32_t max_io;	    // preferred limit of a read or write in bytes, 0: no limit; a
				    // hint, larger ones are served too
	uint32_t unmap_granularity; // bytes, 0: unmap is not supported
	uint32_t atomic_write_max;  // bytes that the medium itself writes atomically, 0 none
	bool can_unmap;		    // BS_UNMAP frees space
	bool unmap_zeroes;	    // reads return zeroes after BS_UNMAP (LBPRZ)
	bool can_write_zeroes;	    // BS_WRITE_ZEROES is supported without a data buffer
	bool can_extent;	    // BS_EXTENT reports allocation
	bool has_write_cache;	    // volatile cache: BS_FLUSH and BS_FUA have an effect
	bool is_volatile;	    // no data outlives the daemon, flushed or not
	enum bs_memory in_memory;   // of a file
	enum bs_cache cache;	    // UNSET: the type has no such choice
	enum bs_overlay overlay;    // UNSET: it has no base
	bool is_readonly;
	bool is_rotational;
	bool is_removable;
	uint8_t device_type; // of a pass-through device: peripheral device type (SPC-6 table 142)
};

enum bs_op {
	BS_READ,	 // sg <- storage
	BS_WRITE,	 // sg -> storage
	BS_FLUSH,	 // all operations completed before it are durable afterwards
	BS_UNMAP,	 // offset, length may become holes; durable with BS_FUA or BS_FLUSH only
	BS_WRITE_ZEROES, // offset, length read as zeroes afterwards; the space stays allocated
	BS_EXTENT,	 // ret_extent_length, ret_is_mapped for the run that starts at offset
	BS_OP_MAX
};

enum { BS_FUA = 1 }; // the write (or the zeroes, or the hole) is durable when it completes

// How a write becomes durable.
enum bs_durable {
	BS_NOT_DURABLE,
	BS_WRITTEN_DURABLY,	// by RWF_DSYNC
	BS_WRITTEN_BEFORE_SYNC, // it is being written, a sync follows
	BS_DURABLE_BY_SYNC,	// it has been written
	BS_WRITTEN_AGAIN,	// without RWF_DSYNC, to see whether the write or the sync failed
};

struct bs_io;

// The bytes of a read or write, from its progress on, that are moved in one piece of a file.
struct bs_part {
	int fd;
	bool is_buffered; // fd has no O_DIRECT, whatever the store's own has
	uint64_t shift;	  // a byte of the disk is that much later in the file
	uint64_t end;	  // of the progress
	// It has been moved, or a hole or zeroes are in its place; or a negative errno.
	void (*done)(struct bs_io *io, int res);
};

#define BS_IO_IOV 8 // pieces passed to the kernel at once; longer lists take several rounds

// One I/O. Embedded in its owner (a task); the backstore owns it from submit to done. The owner
// sets the fields above ret_extent_length; the rest needs no initialisation.
struct bs_io {
	enum bs_op op;
	uint32_t flags;	 // BS_FUA
	uint64_t offset; // bytes, multiple of the block size
	uint64_t length; // bytes, multiple of the block size; the sum of sg for READ and WRITE;
			 // for EXTENT the limit of the result; FLUSH covers everything and ignores
			 // both
	struct sg *sg;
	uint32_t nsg;
	// Called exactly once, on the submitting worker, possibly before submit returns.
	// res: 0 or negative errno (-EIO medium error, -ENOSPC thin store full, -EREMOTEIO
	// transport, -EROFS ...). A short transfer is an error.
	void (*done)(struct bs_io *io, int res);
	struct buf_copies *copied;  // counter of payload copies; NULL: none
	uint64_t ret_extent_length; // BS_EXTENT: bytes, >= 1 block
	bool ret_is_mapped;	    // BS_EXTENT
	// Scratch space of the code that serves the I/O.
	struct backstore *bs;
	struct uring_op uring;
	struct offload offload;
	struct timer timer; // delay filter
	uint64_t progress;  // bytes done so far
	struct bs_part part;
	struct {
		uint64_t block;
		uint8_t looked; // 1: at the first block, 2: at the last one
		bool is_reading;
	} copy;		 // of a block from the base
	uint32_t step;	 // of an operation in several steps
	uint32_t tries;	 // retries after EAGAIN or EINTR
	uint8_t *bounce; // replaces memory that O_DIRECT cannot use, bounce_size bytes
	uint32_t bounce_size;
	struct buf *bounce_buf; // owner of bounce, NULL if it came from the heap
	enum bs_durable durable;
	bool is_polled;	  // it is in the ring with IOPOLL
	struct list link; // of those that wait for a sync
	int result;	  // from the offload thread to the worker
	struct iovec iov[BS_IO_IOV];
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
	struct buf_copies *copied; // as in struct bs_io
	uint32_t timeout_ms;	   // 0 for the default of 60 s
	// Scratch.
	struct backstore *bs;
	struct offload offload;
	struct iovec iov[64];
	void *bounce; // data_len bytes if the device node takes no scatter list
	int result;   // from the offload thread to the worker
};

// What has become of the path that a backstore was opened from.
enum bs_path { BS_PATH_SAME, BS_PATH_REMOVED, BS_PATH_REPLACED };

struct backstore_type {
	const char *name;		 // "ramdisk": the name of its file and in the shell
	const char *help;		 // one line
	const struct bs_option *options; // ends with a NULL name
	size_t size;			 // of the type's struct, which begins with struct backstore

	// Opens the storage, fills bs->limits and, for direct access, bs->memory. Control thread;
	// may block. On failure it returns a negative errno and has released everything;
	// backstore_open() prefixes the text with type and object.
	int (*open)(struct backstore *bs, const struct bs_config *config, struct err *e);
	// Control thread, without I/O in flight; may block. Default: no-op.
	void (*close)(struct backstore *bs);
	// Reads the size of the storage again into *ret_size. Control thread; may
	// block. Default: the size never changes.
	int (*refresh)(struct backstore *bs, uint64_t *ret_size, struct err *e);
	// Used and total bytes of the pool that holes are filled from: the file
	// system for a sparse file. Control thread; may block. Default: -EOPNOTSUPP: there is
	// no such pool, or it cannot be queried.
	int (*space)(struct backstore *bs, uint64_t *ret_used, uint64_t *ret_total);
	// Whether it holds data that would be lost by closing it. Control thread; may block.
	// Default: no.
	bool (*holds_data)(struct backstore *bs);
	// Whether path, which it was opened from, still names what is open. Control thread; may
	// block. Default: BS_PATH_SAME.
	enum bs_path (*path)(struct backstore *bs, const char *path);
	// The descriptor of the file or device that is open, which stays its own. Control thread.
	// Default: -1.
	int (*fd)(struct backstore *bs);
	// BS_FLUSH from the control thread, which it may block. Default: nothing to flush.
	int (*flush)(struct backstore *bs, struct err *e);
	// Grows to size bytes, a multiple of the block size above the current size; the caller
	// publishes it in limits. Control thread; may block. Default: -EOPNOTSUPP.
	int (*resize)(struct backstore *bs, uint64_t size, struct err *e);
	// Serves io, which has passed the checks of backstore_submit(): in bounds, whole blocks,
	// not empty, permitted. Worker thread; must not block; completes through io->done. Default:
	// -EOPNOTSUPP.
	void (*submit)(struct backstore *bs, struct bs_io *io);
	// Serves a whole SCSI command. Worker thread; must not block. Default: -EOPNOTSUPP; only
	// types with is_passthrough implement it.
	void (*scsi)(struct backstore *bs, struct bs_scsi *io);
	bool is_passthrough;
	bool inspects; // a new one refuses a block device with signs of data
};

struct backstore {
	const struct backstore_type *type;
	struct backstore_type ops; // *type, with defaults in absent slots
	char *name;
	struct bs_limits limits;
	struct backstore *lower; // of a filter; NULL at the bottom
	// The memory of the disk, if direct access is possible; its address is constant while the
	// backstore is open. Only for types whose writes need no completion. NULL: data goes
	// through submit.
	uint8_t *memory;
	// Warnings for the user after a successful open (a size ignored, O_DIRECT not possible):
	// lines separated by a newline, or empty.
	char note[400];
};

// The types, in the order of the shell; ends with NULL. Without filters.
extern const struct backstore_type *const backstore_types[];
const struct backstore_type *backstore_type_find(const char *name); // NULL: no such type

// Zeroes config and applies the defaults of the type's option rows. Any thread.
void backstore_config_init(struct bs_config *config, const struct backstore_type *type);
// Sets the option called key from its text (sizes as parse_size() takes them). The string is
// borrowed. Any thread. -EINVAL with a text that names the valid values.
int backstore_config_set(struct bs_config *config, const struct backstore_type *type,
			 const char *key, const char *text, struct err *e);

// Allocates, validates the config against the option rows and opens. Control thread; may
// block. On success close *ret with backstore_close(); read (*ret)->note.
int backstore_open(struct backstore **ret, const struct backstore_type *type,
		   const struct bs_config *config, struct err *e);
// Closes the whole stack, filters included, and frees it. No I/O may be in flight. NULL is
// fine. Control thread; may block.
void backstore_close(struct backstore *bs);
// Stands in for storage of the type whose file or device is missing: size 0, every I/O fails with
// -EOPNOTSUPP. block_size as in struct bs_config. Control thread. -ENOMEM.
int backstore_absent_new(struct backstore **ret, const struct backstore_type *type,
			 const char *name, uint32_t block_size);

// Checks io in 64 bits, then passes it to the type. Worker thread. done gets -ERANGE: out of range;
// -EINVAL: not whole blocks, or sg does not match length; -EROFS: change of a read-only store; 0:
// nothing to do.
void backstore_submit(struct backstore *bs, struct bs_io *io);

// Passes a SCSI command to a pass-through type. Worker thread.
void backstore_scsi(struct backstore *bs, struct bs_scsi *io);

// The current limits.size. Any thread.
uint64_t backstore_size(const struct backstore *bs);
// "none", "writethrough", "writeback", or NULL for UNSET. Any thread.
const char *backstore_cache_name(enum bs_cache cache);

// The disk's memory for [offset, offset + length), or NULL: out of bounds, or no direct access. Any
// thread.
uint8_t *backstore_map(struct backstore *bs, uint64_t offset, uint64_t length);

// Reads the size of the storage again; *ret_changed: whether backstore_size() has changed. Control
// thread; may block; I/O may be in flight.
int backstore_refresh(struct backstore *bs, bool *ret_changed, struct err *e);
// Calls space() of the bottom type. Control thread; may block.
int backstore_space(struct backstore *bs, uint64_t *ret_used, uint64_t *ret_total);
// Calls holds_data() of the bottom type. Control thread; may block.
bool backstore_holds_data(struct backstore *bs);
// Calls path() of the bottom type. Control thread; may block.
enum bs_path backstore_path(struct backstore *bs, const char *path);
// Calls fd() of the bottom type. Control thread.
int backstore_fd(struct backstore *bs);
// What was written before is durable afterwards. Control thread; may block; I/O may be in flight.
int backstore_flush(struct backstore *bs, struct err *e);
// Grows the storage to size bytes and publishes it. -EINVAL if size is below the current one or not
// whole blocks, -EROFS, -EOPNOTSUPP. Control thread; may block; I/O may be in flight.
int backstore_resize(struct backstore *bs, uint64_t size, struct err *e);

// For types: adds a line to bs->note.
void backstore_note(struct backstore *bs, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
// For types: converts a -errno of the storage to one that io->done may report (see struct bs_io).
int backstore_errno(int res);

// Filters: put a new top over lower, which it then owns. Fault and latency injection are product
// features (storage-object attributes); a filter hides the memory, and refuses a pass-through type.
// Control thread. The settings may be changed while I/O runs (relaxed atomics). UNMAP and
// WRITE_ZEROES count as writes, EXTENT as a read.
struct bs_faults {
	uint32_t error_read_ppm, error_write_ppm,
		error_flush_ppm; // I/Os per million that fail with -EIO
	uint32_t delay_read_us, delay_write_us, delay_flush_us;
};
int backstore_error_new(struct backstore **ret, struct backstore *lower, struct err *e);
int backstore_delay_new(struct backstore **ret, struct backstore *lower, struct err *e);
void backstore_error_set(struct backstore *filter, const struct bs_faults *faults);
void backstore_delay_set(struct backstore *filter, const struct bs_faults *faults);
// Removes and frees the top filter and returns the lower backstore. No I/O in flight.
struct backstore *backstore_filter_remove(struct backstore *filter);
