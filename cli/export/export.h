// SPDX-License-Identifier: BSD-2-Clause
// export: shares a disk with one command, and prints the commands that attach it. One file each for
// parsing, the daemon's commands, and printing.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "cli/shell/command.h"

enum { EXPORT_SECRET_SIZE = 17, EXPORT_INITIATORS_MAX = 16, EXPORT_NAME_SIZE = 224 };
enum { EXPORT_PATH_SIZE = 560 };

// An initiator that may log in.
struct export_initiator {
	char name[EXPORT_NAME_SIZE], user[EXPORT_NAME_SIZE]; // user: its CHAP name
	char secret[EXPORT_SECRET_SIZE];		     // generated, "": none
};

struct export;

// A protocol, as its targets stand in the tree and as initiators use them.
struct export_protocol {
	const char *fabric; // "/iscsi"
	const char *group;  // from a target's node to its portal group: "/tpg1"
	const char *port;   // default
	bool has_credentials;
	// The normal form of a name, as the tree has it. -EINVAL with text.
	int (*name_target)(const char *in, char out[EXPORT_NAME_SIZE], struct err *e);
	int (*name_initiator)(const char *in, char out[EXPORT_NAME_SIZE], struct err *e);
	// Prints, or adds to the JSON, what attaches the disk at that initiator.
	void (*lines)(const struct export *x, const struct export_initiator *to, FILE *out);
	void (*put)(const struct export *x, const struct export_initiator *to,
		    struct json_object *ret);
};
extern const struct export_protocol export_iscsi, export_srp;

struct export
{
	const struct export_protocol *protocol;
	char *device;	      // absolute path, for free()
	const char *given;    // as typed
	const char *size;     // of a new file
	const char *cache;    // of a new storage object, NULL: its default
	const char *asked;    // name of the storage object, NULL: from the device's
	const char *user;     // NULL: from each initiator's name
	const char *portal;   // as typed, NULL: one of the target's
	const char *password; // generated if not given
	bool is_readonly, has_iser, is_forced;
	bool is_boot;  // also prints what a machine needs to boot from it
	bool is_quiet; // warnings of the current command are not kept
	bool is_new;   // the target was created, with the default portal
	unsigned count;
	struct export_initiator to[EXPORT_INITIATORS_MAX];
	char name[64];		      // of the storage object
	char storage[256];	      // its path
	struct json_object *warnings; // texts, NULL none
	char target[EXPORT_NAME_SIZE], lun[8];
	char portal_name[96];	   // of the portal, as in the tree
	char address[80], port[8]; // address for initiators; IPv6 in brackets
	char portal_waits[160];	   // why it is waiting, "": it is listening
	bool has_tcp;		   // it also offers iSCSI over TCP
};

extern const struct shell_param export_params[]; // ends with a NULL name
// The path of a node below the portal group: "/portals".
void export_path(const struct export *x, const char *below, char ret[EXPORT_PATH_SIZE]);

// Parses a line; the texts belong to the line. -EBADRQC with text: unknown or missing values;
// -EINVAL, -EOPNOTSUPP, -ENOMEM. Free x->device, on errors too.
int export_read(struct export *x, const struct line *l, struct err *e);

// Runs a command of the daemon: positional values, NULL, names and values in pairs (skipped if the
// value is NULL), NULL. *ret, for free(), is the created path, NULL: none; may be NULL. Adds
// warnings to x->warnings. 0 or a negative errno with text. Blocks.
int export_command(struct shell *s, struct export *x, char **ret, struct err *e, const char *path,
		   const char *name, ...);

// Finds an existing storage object by "/backstores/TYPE/NAME", "TYPE/NAME" or "NAME" and fills
// x->storage; empty: the line names a file or device. -EEXIST: several have this name. Blocks.
int export_find_storage(struct shell *s, struct export *x, struct err *e);
// Fills x->lun with the target's existing LUN of x->storage; -ENOENT: none. Blocks.
int export_find_lun(struct shell *s, struct export *x, struct err *e);

// Creates the requested portal, or one if the target has none, enables iSER on request, and fills
// portal_name, address and port. Blocks.
int export_make_portal(struct shell *s, struct export *x, struct err *e);
// Fills portal_waits and has_tcp. Blocks.
void export_look_at_portal(struct shell *s, struct export *x);

// Prints commands of several programs that attach the disk. A generated secret is shown once.
void export_lines(const struct export *x, FILE *out);
// The same as JSON. For json_object_put().
struct json_object *export_json(const struct export *x);
