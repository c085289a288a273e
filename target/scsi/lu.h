// SPDX-License-Identifier: BSD-2-Clause
// Logical unit: one storage object's device server state, shared by every path to it. This is what
// its owner and the holders of a reference need; lu_state.h has what commands read.
//
// Ownership: the control thread creates, changes settings (lu_attr.h) and closes. The LU's home
// worker owns the state that all paths share (reservations, ALUA, frozen ranges). On the I/O path a
// worker reads only its own struct lu_channel, which the home worker updates by messages; a change
// is complete when every channel has acknowledged it.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct backstore;
struct device_server;
struct err;
struct lu;
struct lu_attr;
struct lu_counters;
struct worker;

// Creates an LU over bs, which it then owns; on failure the caller keeps bs. server executes its
// commands; attr holds the settings; unit_serial is a UUID text. Control thread; may block (reads
// the APTPL file in state_dir).
int lu_new(struct lu **ret, const struct device_server *server, const char *name,
	   struct backstore *bs, const char *unit_serial, const struct lu_attr *attr,
	   const char *state_dir, struct err *e);
// After the last lu_put() the LU and its bs are closed on control, which need not run yet; then
// closed is called there. Control thread, before others know the LU.
void lu_set_closed(struct lu *lu, struct worker *control, void (*closed)(void *arg), void *arg);
struct lu *lu_get(struct lu *lu); // any thread
void lu_put(struct lu *lu);	  // any thread; NULL is fine

// Tells this farblockd from others that may serve the same disk, in VPD page F0h: what one of them
// ends says nothing about the others. 0: unknown; 1 unless it is set. Control thread, before the
// first LU.
void lu_set_server_id(uint64_t id);
uint64_t lu_server_id(void);

// Which disk it is: one that was closed and opened again has the same number, and no other disk has
// it; 0: what stands in for one whose file or device is missing (lu_set_absent()). awaited: what is
// known of the number without the file, the same for a disk and what stands in for it; 0: nothing.
// Without this call each unit is a disk of its own. Control thread, before others know the LU.
void lu_set_disk(struct lu *lu, uint64_t disk, uint64_t awaited);

// Its content is another one than initiators that knew the unit before have read: MEDIUM MAY HAVE
// CHANGED for each I_T nexus at its first command. Control thread, before others know the LU.
void lu_set_medium_changed(struct lu *lu);

// It stands in for a unit whose file or device is missing, over a backstore_absent_new(): it
// answers what identifies it (INQUIRY, REPORT TARGET PORT GROUPS ...), and NOT READY, becoming
// ready (04/01) to everything else: Linux, dm-multipath and our initiator then keep the disk and
// repeat the command. To replace it in a LUN map by the unit with the same serial number, or that
// one by it, is no change of the LUNs. Control thread, before others know the LU.
void lu_set_absent(struct lu *lu);

// The backstore changed its size: new capacity, CAPACITY DATA HAS CHANGED for every nexus. Control
// thread.
void lu_set_size(struct lu *lu, uint64_t bytes);

// Top of the stack of its backstore; the storage object as "PLUGIN/NAME"; its capacity in bytes.
// Any thread.
struct backstore *lu_backstore(const struct lu *lu);
void lu_object_name(const struct lu *lu, char *ret, size_t size);
uint64_t lu_size(const struct lu *lu);

// Sum of the channels' counters; may be slightly inconsistent. Any thread.
void lu_counters_sum(const struct lu *lu, struct lu_counters *ret);

// Commands of sessions that have ended that may still change its medium (ending.h). Any thread.
unsigned lu_ended_writes(const struct lu *lu);

// The cache mode that initiators see: that of the backstore, or "writethrough" if every write is
// durable, as with emulate_write_cache=0. NULL: it has none. Any thread.
const char *lu_cache_name(const struct lu *lu);
