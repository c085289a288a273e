// SPDX-License-Identifier: BSD-2-Clause
// Test bench for the device server: real workers, a control thread, a RAM disk, a logical unit
// and nexuses, driven from the test's own thread. A set-up that fails ends the program.
#pragma once

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "backstores/backstore.h"
#include "core/worker.h"
#include "target/scsi/lu.h"
#include "target/scsi/nexus.h"
#include "target/scsi/task.h"
#include "target/scsi/tmf.h"

#define BENCH_WORKERS 4
#define BENCH_NEXUSES 8
#define BENCH_DATA    (1u << 20)

struct bench_options {
	unsigned workers;    // 1 if 0
	unsigned nexuses;    // 1 if 0; the i-th lives on worker i % workers
	uint64_t size;	     // of the RAM disk, 1 MiB if 0
	uint32_t block_size; // 512 if 0
	bool nullio;
	bool is_srp;   // the nexuses are of SRP
	bool keeps_ua; // do not take the first unit attentions away
	uint32_t lun;  // number of the LU in the maps
	const char *state_dir;
	const struct backstore_type *type; // instead of ramdisk; dev is its path
	const char *dev;
	bool write_back;
	const char *const *attrs; // "name=value", NULL-terminated, set before lu_new()
};

struct bench {
	struct worker *control, *workers[BENCH_WORKERS];
	unsigned nworkers, nnexuses;
	bool is_srp;
	struct lu *lu;
	struct nexus *nexuses[BENCH_NEXUSES];
	struct lun_map *map;
	sem_t closed;
};

// A command and its result.
struct bench_cmd {
	// set by the caller
	uint8_t cdb[64];
	unsigned cdb_len;
	uint8_t attr;
	uint64_t lun;
	const void *out; // data-out, out_len bytes
	uint32_t out_len, expected_in;
	bool holds_data;    // data-out comes, and a piece of data-in is taken, with
			    // bench_send_data() only
	bool holds_release; // task_release() comes with bench_release() only
	int data_result;    // result passed to task_data_ready() and task_part_sent() instead of 0
	// the result
	uint8_t status, sense_len, sense[SENSE_MAX];
	uint32_t code; // SENSE() of the sense data, 0 without
	bool is_aborted, sends_aborted, is_done, in_place;
	uint32_t fetched, data_in; // of all pieces
	unsigned pieces;	   // of data-in that were sent before the last one
	uint64_t wanted;
	uint8_t data[BENCH_DATA];
	uint64_t order; // of done() in this process
	// private
	struct bench *bench;
	unsigned nexus;
	struct task task;
	struct msg msg;
	sem_t asked, done;
	bool released;
};

void bench_init(struct bench *b, const struct bench_options *o);
void bench_done(struct bench *b);

// Another LU over a RAM disk of size bytes; the caller owns the reference.
struct lu *bench_lu(struct bench *b, const char *name, const char *serial,
		    const struct bench_options *o);
// Gives the nexus a map of count LUs at LUN numbers[i]; waits until it is in force.
void bench_set_map(struct bench *b, unsigned nexus, unsigned count, const uint16_t *numbers,
		   struct lu *const *lus);
// Loses the nexus and recreates it with the bench's map (unit attention 29/07 is pending).
void bench_relogin(struct bench *b, unsigned nexus);
void bench_nexus_free(struct bench *b, unsigned nexus);
// Runs fn on the worker of a nexus, or on the control thread.
void bench_on_nexus(struct bench *b, unsigned nexus, void (*fn)(void *arg), void *arg);
void bench_on_control(struct bench *b, void (*fn)(void *arg), void *arg);
// lu_attr_apply() by name; its result.
int bench_attr(struct bench *b, const char *name, const char *text);

// Starts a command; c must not move until bench_wait(). The caller owns the memory.
void bench_start(struct bench *b, unsigned nexus, struct bench_cmd *c);
void bench_wait(struct bench_cmd *c);
// Waits until the device server requests data-out, or sends a piece of data-in.
void bench_wait_asked(struct bench_cmd *c);
void bench_send_data(struct bench_cmd *c);
void bench_release(struct bench_cmd *c);
void bench_abort(struct bench_cmd *c, bool with_status);
// Waits until the workers have handled what was posted before.
void bench_settle(struct bench *b);

// Runs one command to its end; *c is overwritten. Returns the status.
int bench_run(struct bench *b, unsigned nexus, struct bench_cmd *c, const uint8_t *cdb,
	      unsigned cdb_len, const void *out, uint32_t out_len, uint32_t expected_in);
// The same with the CDB's bytes in place: BENCH_IN(b, 0, &c, 512, 0x28, 0, ...).
#define BENCH_CDB(b, n, c, out, out_len, in, ...)                                                  \
	bench_run(b, n, c, (const uint8_t[]){ __VA_ARGS__ },                                       \
		  sizeof((const uint8_t[]){ __VA_ARGS__ }), out, out_len, in)
#define BENCH_IN(b, n, c, in, ...)	  BENCH_CDB(b, n, c, NULL, 0, in, __VA_ARGS__)
#define BENCH_OUT(b, n, c, out, len, ...) BENCH_CDB(b, n, c, out, len, 0, __VA_ARGS__)
#define BENCH_NONE(b, n, c, ...)	  BENCH_CDB(b, n, c, NULL, 0, 0, __VA_ARGS__)

// Task management, to its end.
enum tmf_result bench_tmf(struct bench *b, unsigned nexus, enum tmf_function fn, uint64_t lun);
