// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator: code shared by its subcommands. One thread, the program's; it may block.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/options.h"
#include "initiator/scsi_cdb.h"
#include "initiator/sync.h"
#include "initiator/tool/status.h"

enum { // the subcommands that take an option
	TOOL_DISCOVER = 1,
	TOOL_PING = 2,
	TOOL_INQUIRY = 4,
	TOOL_LUNS = 8,
	TOOL_READ = 16,
	TOOL_WRITE = 32,
	TOOL_VERIFY = 64,
	TOOL_CHECKSUM = 128,
	TOOL_BENCH = 256,
	TOOL_CAPACITY = 512,
	TOOL_UNMAP = 1024,
	TOOL_RESERVE = 2048,
	TOOL_COPY = 4096,
	TOOL_BOOT_CHECK = 8192,
	TOOL_ATTACH = 1 << 20,
	TOOL_DETACH = 1 << 21,
	TOOL_ATTACHED = 1 << 22,
	TOOL_LOG_IN = 1 << 23,
	TOOL_LOG_OUT = 1 << 24,
	TOOL_SESSIONS = 1 << 25,
	TOOL_BOOT = 1 << 26,
	// Those that do not log in.
	TOOL_HELD = TOOL_DETACH | TOOL_ATTACHED | TOOL_LOG_OUT | TOOL_SESSIONS,
	TOOL_MAKE = TOOL_ATTACH | TOOL_LOG_IN | TOOL_BOOT,
	TOOL_RANGE = TOOL_READ | TOOL_WRITE | TOOL_VERIFY | TOOL_CHECKSUM | TOOL_BENCH,
};

enum { TOOL_ARGS_MAX = 16, TOOL_KEYS_MAX = 32 };
#define TOOL_UNSET UINT64_MAX // of sizes and numbers

struct tool_options {
	const char *args[TOOL_ARGS_MAX];
	unsigned arg_count;
	bool is_tree; // of discover
	bool is_help, is_json, is_check_only, is_forced, allows_replaced, shows_progress;
	bool is_root_disk;
	bool is_export;
	const char *initiator_name, *iscsi_dir;
	const char *chap_user, *chap_secret_file, *chap_algs;
	const char *mutual_user, *mutual_secret_file;
	const char *header_digest, *data_digest;
	const char *keys[TOOL_KEYS_MAX]; // --set KEY=VALUE
	unsigned key_count;
	const char *initiator_port, *isid;
	uint64_t login_timeout, replacement_timeout, channels;
	uint64_t offset, length, seek;
	const char *output, *input, *op, *svg, *transport, *provider;
	const char *way; // of copy
	uint64_t pattern;
	uint64_t block_size, depth, seconds, count;
	uint64_t mix, sessions, rate;
	uint64_t key, service_key; // of persistent reservations
	const char *type;
	// Of attachments.
	const char *name, *via, *place, *policy, *no_path_retry, *run_dir, *entry_dir;
	const char *fence, *fence_wait;
	const char *startup; // of a record that is saved
	bool is_read_only, is_shared, stays, keeps_trying, is_all, saves;
	// Tells the nexuses of this machine's attachments apart, the same at each start, so that a
	// target ends what a process that has died left: in the ISID, or the extension of the SRP
	// port identifier. 0: none.
	uint64_t nexus;
	uint64_t queues, dead_seconds, level;
	// Of boot.
	bool is_version, boots_firmware, prints_firmware, sets_network, retries_all;
	const char *target, *address, *ibft_dir, *iscsid_conf;
	uint64_t port, tpgt, lun, debug, timeout, link_timeout;
	const char *params[TOOL_KEYS_MAX]; // --param NAME=VALUE
	unsigned param_count;
	// Of the command line of boot, or of firmware, not a file; NULL: none.
	const char *chap_secret, *mutual_secret;
	bool is_without_chap;				// whatever else is given
	unsigned *noop_out_interval, *noop_out_timeout; // seconds; NULL: the defaults
};

enum { TOOL_TARGET_MAX = 256, TOOL_PORT_MAX = 40 };

// A session that a URL and the options describe, not started.
struct tool_path {
	scsi_open_fn *open;
	void *config; // of the protocol, config_size bytes; may hold secrets
	size_t config_size;
	char target[TOOL_TARGET_MAX]; // its name
	// The initiator's port, as its option has it: with the target the I_T nexus, which has one
	// session. Empty: another one at each login.
	char port[TOOL_PORT_MAX];
	const char *port_cure; // how several paths to one target get ports of their own
	bool has_lun;
	uint16_t lun; // if the URL has one
};

struct tool {
	const struct tool_verb *verb;
	char *argv0; // of the program; NULL: unknown
	struct tool_options o;
	// Reads a URL and the options; asks for missing secrets and the resolver. Free ret with
	// tool_path_done(). TOOL_OK, or an exit status with a text.
	int (*path)(const struct tool *t, const char *url, bool needs_lun, struct tool_path *ret,
		    struct err *e);
	// Absent: nothing. What the protocol has to say after tool_open().
	void (*opened)(struct tool *t);
	// After tool_open().
	char target[TOOL_TARGET_MAX]; // its name
	uint16_t lun;
	const char *login; // of attachments: what they were made for, a record or target; or NULL
	struct scsi_sync *sync;
	// Before tool_open(): the initiator's port is the same at each start, as its registrations
	// need it.
	bool keeps_port;
};

struct tool_verb {
	const char *name;
	unsigned bit;
	unsigned args_min, args_max;
	const char *args, *help;
	int (*run)(struct tool *t); // an exit status
};

// tool.c
// Prints "farblock-initiator: ..." and returns status; after a signal it prints nothing about
// cancelled commands and returns the signal's status.
int tool_fail(int status, const struct err *e);
// The same with the status of the error (status.h).
int tool_fail_by(const struct err *e);

// Options are for several URLs, maybe of several protocols, each of which takes its own.
static inline bool tool_is_mixed(const struct tool *t)
{
	return t->verb && (t->verb->bit == TOOL_COPY || t->o.is_tree ||
			   (t->verb->bit & TOOL_MAKE && t->o.arg_count > 1));
}

// options.c. -EINVAL with a text.
int tool_options_parse(struct tool_options *o, unsigned verb, int argc, char **argv, struct err *e);
// Options that from has been given replace those of to; login keys are added. -EINVAL with a text.
int tool_options_overlay(struct tool_options *to, const struct tool_options *from, struct err *e);
extern const struct option_row tool_option_rows[];
// Calls found with the name and the value of each option of verb that was given; "yes": it has
// none.
void tool_options_each(const struct tool_options *o, unsigned verb,
		       void (*found)(void *arg, const char *name, const char *value), void *arg);

// interrupt.c: SIGINT and SIGTERM. After init the first one cancels the session that is set,
// or ends the program if none is; the second one ends it.
void tool_interrupt_init(void);
void tool_interrupt_set(struct scsi_sync *y);  // NULL: none
void tool_interrupt_also(struct scsi_sync *y); // a second session; NULL: none
int tool_interrupted(void);		       // the exit status, 128 and the signal; 0: no
// From now on a signal ends a blocking read or write of the program's thread with EINTR; before, it
// ends sleeps alone.
void tool_interrupt_data(void);
// The program's thread reads and writes no data any more. After a signal it is woken no more: that
// would cut off the messages and results that it writes.
void tool_interrupt_over(void);

// progress.c: a transfer of total bytes (0: unknown), its name and progress; what is used until the
// end. The program's thread. After a signal the end tells how many bytes and blocks were done.
void tool_progress_begin(const struct tool *t, const char *what, uint64_t total,
			 uint32_t block_size);
// The same of a time in nanoseconds; 0: without end.
void tool_progress_begin_time(const struct tool *t, const char *what, uint64_t total_ns);
void tool_progress(uint64_t done);
// What is shown in place of the rate.
void tool_progress_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void tool_progress_end(void); // also reports an interruption
// One line on standard error, "farblock-initiator: ...". Any thread.
void tool_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
// The same for what is waited for, unless it was one of the last 16 causes. The program's thread.
void tool_say_waiting(const struct err *why);

// Logs out; NULL-safe.
void tool_close(struct tool *t);

// Logs in by the first argument, a URL; fills target, lun and sync; signals cancel the session from
// now on. TOOL_OK or an exit status after printing the error.
int tool_open(struct tool *t, bool needs_lun);
// The same by a path.
int tool_open_path(struct tool *t, const struct tool_path *p);
// count further sessions to the same LUN, watched; ret has those that were opened, also after a
// failure: close each with scsi_sync_close(). Negative with a text.
int tool_open_more(struct tool *t, struct scsi_sync **ret, unsigned count, struct err *e);
// Keeps a copy of a protocol's configuration and wipes the original. TOOL_OK, or an exit status
// with a text.
int tool_path_set(struct tool_path *p, scsi_open_fn *open, void *config, size_t size,
		  struct err *e);
// Wipes and frees. One that is zeroed is fine.
void tool_path_done(struct tool_path *p);

// memory.c: memory for the data of commands, announced to devices (core/region.h). Blocks
// while it is pinned. -ENOMEM with a text.
struct tool_memory;
int tool_memory_new(struct tool_memory **ret, size_t len, struct err *e);
uint8_t *tool_memory_at(const struct tool_memory *m, size_t offset);
void tool_memory_free(struct tool_memory *m); // no command may be using it; NULL is fine

// disk.c: a block device behind a URL.
struct tool_disk {
	struct scsi_sync *sync;
	uint16_t lun;
	uint64_t blocks;
	uint32_t block_size; // bytes, a power of two from 512 to 64 KiB
	uint32_t chunk;	     // bytes per command, a multiple of block_size
	uint32_t chunk_max;  // maximum of chunk
	bool is_thin;
};

// The failure of a command as text: its sense data, or why the session was lost or the command
// rejected.
void tool_cmd_text(struct scsi_sync *y, const struct scsi_cmd *c, char *ret, size_t size);

// Runs c; -EIO or c's res with a text unless it succeeds.
int tool_run(struct scsi_sync *y, struct scsi_sync_cmd *c, enum scsi_op op, struct err *e);

// Runs a command that reads up to size bytes; *ret_len: those received, the rest of data is 0. As
// tool_run().
int tool_data_in(struct scsi_sync *y, uint16_t lun, enum scsi_op op, const struct scsi_args *args,
		 uint8_t *data, uint32_t size, uint32_t *ret_len, struct err *e);

// Waits until the disk is ready and reads its capacity. Errors with a text.
int tool_disk_open(struct tool_disk *d, struct scsi_sync *y, uint16_t lun, struct err *e);

// tool_open(), and the logical unit of the URL, watched from now on (scsi_watch). TOOL_OK or an
// exit status after printing the error.
int tool_watch_disk(struct tool *t, struct tool_disk *d);

// The same, with --bs applied.
int tool_open_disk(struct tool *t, struct tool_disk *d);

// signature.c: whether the disk may be overwritten: it is not attached here and has no known
// signature, or --force or the user at the terminal permits it. TOOL_OK, or an exit status after
// printing the error.
int tool_may_overwrite(struct tool *t, struct tool_disk *d);

// signature.c: the content of a disk as libblkid knows it, "an ext4 filesystem", "": unknown or
// none. Reads its first and last blocks. 0 or a negative errno with text.
int tool_signature(struct tool_disk *d, char *ret, size_t size, struct err *e);

// claim.c: keeps attachments of this machine away from the disk until the program ends. -EBUSY with
// a text: it is attached, or being written by another command.
int tool_claim(struct tool *t, struct tool_disk *d, struct err *e);

typedef int64_t tool_take(void *arg, uint64_t offset, const uint8_t *buf, uint32_t len,
			  struct err *e);

// Transfers data by consecutive commands, several at a time. Reading: bytes from offset on (both
// multiples of the block size); take gets them in order. Writing: give fills buf with up to len
// bytes and returns how many (0: end); a partial last block is read first, to preserve its rest.
// Both return a negative errno to stop. Returns the bytes transferred.
struct tool_io {
	bool is_write;
	uint64_t offset, bytes; // bytes: writing: upper limit
	uint64_t done;		// before this: counts in the progress
	tool_take *take;
	int64_t (*give)(void *arg, uint64_t offset, uint8_t *buf, uint32_t len, struct err *e);
	void *arg;
};
int64_t tool_io_run(struct tool_disk *d, const struct tool_io *io, struct err *e);
// Reads every block that the bytes from first to before last touch; 0 or a negative errno.
int tool_read_blocks(struct tool_disk *d, uint64_t first, uint64_t last, tool_take *take, void *arg,
		     struct err *e);
// SYNCHRONIZE CACHE, if the device has a cache.
int tool_flush(struct tool_disk *d, struct err *e);

// The range of --offset and --length, within the device; -EINVAL: beyond the end.
int tool_range(const struct tool *t, const struct tool_disk *d, uint64_t *ret_offset,
	       uint64_t *ret_length, struct err *e);

// luns.c: the addresses that REPORT LUNS gives, at most 16384; those of other than peripheral or
// flat addressing are left out. free() them. Errors with a text.
int tool_report_luns(struct scsi_sync *y, uint16_t **ret, unsigned *ret_count, struct err *e);
// luns.c: the disks of the target, at most max. Negative with a text; -E2BIG: more.
int tool_disks(struct scsi_sync *y, uint16_t *ret, unsigned max, unsigned *ret_count,
	       struct err *e);

// inquiry.c: the name of a peripheral device type; formatted in buf if it has none.
#define TOOL_TYPE_TEXT 16
const char *tool_device_type(uint8_t type, char buf[TOOL_TYPE_TEXT]);

// The subcommands.
int tool_inquiry(struct tool *t);
int tool_luns(struct tool *t);
int tool_read(struct tool *t);
int tool_write(struct tool *t);
int tool_verify(struct tool *t);
int tool_checksum(struct tool *t);
int tool_bench(struct tool *t);
int tool_capacity(struct tool *t);
int tool_unmap(struct tool *t);
int tool_reserve(struct tool *t);
int tool_copy(struct tool *t);
int tool_boot_check(struct tool *t);
