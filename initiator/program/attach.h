// SPDX-License-Identifier: BSD-2-Clause
// The subcommands on attachments. The program's thread; may block.
#pragma once

#include "initiator/holder/holder.h"
#include "initiator/tool/tool.h"

int attach_run(struct tool *t);	  // attach
int detach_run(struct tool *t);	  // detach
int attached_run(struct tool *t); // attached
int login_run(struct tool *t);	  // login
int logout_run(struct tool *t);	  // logout
int sessions_run(struct tool *t); // sessions
int boot_run(struct tool *t);	  // boot

// detach.c: logout of what was given to login; NULL: all.
int logout_of(const struct tool *t, const char *login);

// detach.c: what another user's attachments are is not shown, which this says: TOOL_PERMISSION if
// nothing else was shown. Nothing if none is hidden.
int attach_say_hidden(unsigned hidden, unsigned shown);

// Where attachments have their state.
static inline const char *attach_run_dir(const struct tool *t)
{
	return t->o.run_dir ? t->o.run_dir : HOLDER_RUN_DIR;
}

// attach_options.c: what holder_run() needs, from the options and URLs.
struct attach_plan {
	struct tool *tool;
	struct tool_path *paths; // of tool->o.arg_count
	struct disk_path_config *disk_paths;
	char name[HOLDER_NAME_MAX + 1];
};
// Free it with attach_plan_done(). TOOL_OK, or an exit status with a text.
int attach_plan_make(struct attach_plan *p, struct tool *t, struct holder_config *ret,
		     struct err *e);
void attach_plan_done(struct attach_plan *p);
// The name of an attachment: that of a target or record and the LUN, as a file's name.
void attach_name(const char *base, unsigned lun, char ret[HOLDER_NAME_MAX + 1]);

// What an attachment calls with its status (holder_status()) when the device can be used.
struct json_object;
typedef void attach_ready(void *arg, struct json_object *status);

// attach.c: the disk of t's URLs by t's options, in a process of its own. from: the entry that has
// them, for errors; NULL: the command line. An exit status after printing the error.
struct entry;
int attach_disk(struct tool *t, const struct entry *from, attach_ready *ready, void *arg);
// Prints an error of making a configuration, with where its option is; returns the exit status.
int attach_fail(int status, const struct entry *from, struct err *e);

// A URL, or a string of add_target; else the name of an entry.
bool attach_is_url(const char *word);

// attach_child.c: prints the device, or the status as JSON; arg: a struct tool.
void attach_print(void *arg, struct json_object *status);
// In a process of its own; returns the exit status when the device can be used.
int attach_in_background(struct tool *t, const struct holder_config *c, attach_ready *ready,
			 void *arg);
// The same without printing the error, which is in e unless the status is that of a signal.
int attach_try(struct tool *t, const struct holder_config *c, attach_ready *ready, void *arg,
	       struct err *e);
int attach_in_foreground(struct tool *t, const struct holder_config *c);

// attach_leave.c: a disk that holds the root file system. Gives this process a root of its own,
// with /dev, /proc, /sys, /run and run_dir as they are now: it still sees them when another root
// has taken their place, and their directories have gone; it keeps no other file system busy. The
// working directory is "/" then. -EPERM, -ENOMEM; after one of these what it sees may be
// incomplete.
int attach_leave_root(const char *run_dir, struct err *e);
// attach_keep.c: runs hold(c, ...) in a child process, and again when that dies, until the disk is
// detached in order. SIGTERM and SIGINT ask for that: the child, or what is left of one that has
// died; a refusal changes nothing. SIGHUP is ignored. fd: the command, which hears what the first
// child says; it is closed then. A first child that fails is not repeated. Returns the exit status,
// of such a child its own, an errno; -ECHILD: a signal has ended that.
int attach_keep(const struct holder_config *c, int (*hold)(void *arg, int fd), int fd);
// Asks the keeper of name as holder_ask() asks its process. -ECONNREFUSED, -ENOENT: it has none,
// and nothing will bring the disk back; of a detach, -EAGAIN in the answer: the process is to be
// asked.
struct json_object *attach_keep_ask(const char *run_dir, const char *name, const char *request,
				    struct err *e);
// -EEXIST with a text: the process of name has died, and its keeper will bring the disk back.
int attach_keep_check(const char *run_dir, const char *name, struct err *e);
