// SPDX-License-Identifier: BSD-2-Clause
// export: shares a disk in one line, and prints the commands that attach it. Parsing the line, the
// daemon's commands, and printing are a file each.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "cli/shell.h"

enum { EXPORT_SECRET_SIZE = 17, EXPORT_INITIATORS_MAX = 16, EXPORT_NAME_SIZE = 224 };

// Who may log in.
struct export_initiator {
	char name[EXPORT_NAME_SIZE], user[EXPORT_NAME_SIZE]; // user: its CHAP name
	char secret[EXPORT_SECRET_SIZE];		     // that was made, "" none
};

struct export
{
	char *device;	      // whole path, for free()
	const char *given;    // as typed
	const char *size;     // of a file that is made
	const char *asked;    // name of the storage object, NULL: from the device's
	const char *user;     // NULL: from each initiator's name
	const char *portal;   // as typed, NULL: one that the target has
	const char *password; // made when none is given
	bool is_readonly, has_iser, is_forced;
	bool is_new; // the target was made, with the default portal of those
	unsigned count;
	struct export_initiator to[EXPORT_INITIATORS_MAX];
	char name[64];		      // of the storage object
	char storage[256];	      // its path
	struct json_object *warnings; // texts, NULL none
	char target[EXPORT_NAME_SIZE], lun[8];
	char portal_name[96];	   // of the portal that is used, as in the tree
	char address[80], port[8]; // what initiators connect to; IPv6 in brackets
	char portal_waits[160];	   // why nobody can connect to it yet, "" they can
	bool has_tcp;		   // it serves iSCSI over TCP, too
};

// What a line asks for, its texts the line's. -EBADRQC with text: words that mean nothing or are
// missing; -EINVAL, -EOPNOTSUPP, -ENOMEM. x->device is for free() also on error.
int export_read(struct export *x, const struct line *l, struct err *e);

// One command of the daemon: words without a name, then, behind a NULL, name=value pairs (those
// without a value left out), then a NULL. *ret, for free(), is the path that was created, NULL
// none; may be NULL. Warnings go to x->warnings. 0 or a negative errno with text. Blocks.
int export_command(struct shell *s, struct export *x, char **ret, struct err *e, const char *path,
		   const char *name, ...);

// A storage object that is there: finds the one that the line means, as "/backstores/TYPE/NAME",
// "TYPE/NAME" or "NAME", into x->storage; empty: the line means a file or device. -EEXIST: several
// have that name. Blocks.
int export_find_storage(struct shell *s, struct export *x, struct err *e);
// The LUN that the target has of x->storage already, into x->lun; -ENOENT: none. Blocks.
int export_find_lun(struct shell *s, struct export *x, struct err *e);

// Makes the portal that is asked for, or one where the target has none, offers iSER there if that
// is asked for, and fills portal_name, address and port. Blocks.
int export_make_portal(struct shell *s, struct export *x, struct err *e);
// Fills portal_waits and has_tcp. Blocks.
void export_look_at_portal(struct shell *s, struct export *x);

// What attaches the disk, for several programs. Secrets are in it once: where one was made.
void export_lines(const struct export *x, FILE *out);
// The same for programs. For json_object_put().
struct json_object *export_json(const struct export *x);
