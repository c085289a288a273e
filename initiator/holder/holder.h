// SPDX-License-Identifier: BSD-2-Clause
// An attachment: the process that holds a disk (initiator/disk/) and the carrier that makes it
// local (initiator/attach/), and what other processes ask of it. The program's thread.
//
// One process for each attachment: one that dies takes no other disk along, and recovery is that of
// one disk. Each has two files in the run directory: NAME.json, what it is, and NAME.sock, a socket
// for requests; and a lock, NAME.lock.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "core/err.h"
#include "initiator/attach/carrier.h"
#include "initiator/disk/disk.h"

#define HOLDER_RUN_DIR "/run/farblock-initiator"

enum {
	HOLDER_NAME_MAX = 64,
	HOLDER_ANSWER_MAX = 64 << 10, // bytes of an answer
};

struct json_object;

struct holder_config {
	const char *name, *run_dir;
	const char *login;	       // what it was attached for, in the status; NULL: itself
	const struct carrier_ops *via; // NULL: the best one of this machine
	struct carrier_config carrier; // name and recovery are filled
	struct disk_config disk;
	bool is_shared; // the disk may be attached more than once to be written
	// The disk is reserved for this host, which this tells from others; 0: it is not.
	uint32_t reserving_host;
	bool is_root; // it holds the root file system
	char *argv0;  // its first byte becomes '@': spared at shutdown by systemd; NULL: not
};

// True for a name that can be a file's: letters, digits, '.', '_', '-', ':' and not first '.'.
bool holder_name_is_valid(const char *name);

// Attaches, calls ready with the status (holder_status(), valid during the call) and holds until
// SIGTERM, SIGINT, a request to detach, or the carrier's end. Takes over the device of a process of
// that name which has died, if the carrier can. No threads may run before; SIGTERM and SIGINT are
// blocked. 0: detached in order; else negative with a text. -EEXIST: it is attached.
int holder_run(const struct holder_config *c, void (*ready)(void *arg, struct json_object *status),
	       void *arg, struct err *e);

// ---- process.c ----

// Before threads start, which inherit it: their allocations do not wait for write-back, which may
// be that to this disk.
void holder_process_begin(void);
// Once the disk is attached: locks the memory, marks the process for systemd's shutdown, protects
// it from the OOM killer: what this process may. argv0: see holder_config.
void holder_process_protect(char *argv0);

// ---- files.c: what is in the run directory ----

struct holder_files {
	char state[256], socket[256], lock[256];
};
// -ENAMETOOLONG, -EINVAL with a text.
int holder_files(struct holder_files *ret, const char *run_dir, const char *name, struct err *e);

// The state file has changed: has udev look at a device again, whose links (etc/61-farblock.rules)
// come from it. Does nothing if device is no block device, or /sys is not ours.
void holder_tell_udev(const char *device);
// Nothing is left of an attachment with this device: removes state and socket, and tells udev.
void holder_files_remove(const struct holder_files *f, const char *device);

// The names of all attachments, running or dead, sorted; calls found for each, which returns false
// to stop. -errno with a text; a missing directory has none.
int holder_each(const char *run_dir, bool (*found)(void *arg, const char *name), void *arg,
		struct err *e);
// The state file as an object, for json_object_put(); NULL with a text.
struct json_object *holder_state_read(const struct holder_files *f, struct err *e);

// ---- lost.c: processes that live, though their files in the run directory were removed ----

// The process of root or of this user that has run_dir/NAME.SUFFIX open, a lock that was removed;
// 0: none. For HOLDER_RUN_DIR also the directory of earlier versions.
pid_t holder_lost(const char *run_dir, const char *name, const char *suffix);
// Calls found for each attachment of such a process.
void holder_each_lost(const char *run_dir, void (*found)(void *arg, const char *name, pid_t pid),
		      void *arg);
// Asks the process to detach in order, and waits for its end, up to 50 s. -EBUSY with a text: it
// has not ended, as when the disk is used.
int holder_end_lost(const char *name, pid_t pid, struct err *e);

// ---- left.c ----

typedef const struct carrier_ops *holder_find_fn(const char *name); // carrier_find()

// Takes away what the process of name, which has died, left: its device (carrier_ops.clear) and its
// files. -EHOSTDOWN: users of the device wait for a successor, and not is_forced; -EBUSY: it has a
// process; others of the carrier. All with a text; then all files stay. May block.
int holder_clear(const char *run_dir, const char *name, holder_find_fn *find, bool is_forced,
		 struct err *e);

// ---- client.c ----

// Sends a request ("status", "detach", "detach force") and reads the answer, an object, for
// json_object_put(). NULL with a text. Blocks for as long as the request takes, at most three
// minutes, of "status" half a minute.
struct json_object *holder_ask(const struct holder_files *f, const char *request, struct err *e);
// Whether that error of holder_ask() says that the process has died. Every other one says nothing:
// it may be stopped, or busy.
bool holder_is_gone(const struct err *e);

// An error as the two members of an answer that has one, "error" and "code".
void holder_answer_add_error(struct json_object *answer, const struct err *e);
// The error of an answer: its code with the text, or 0.
int holder_answer_error(struct json_object *answer, struct err *e);
