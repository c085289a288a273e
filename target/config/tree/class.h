// SPDX-License-Identifier: BSD-2-Clause
// The operations of a node as rows: its commands with their parameters, and its groups of settings.
// The shell, its help and completion, and the RPC are generated from them. Control thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/attr.h"
#include "core/err.h"

struct config;
struct frozen_key;
struct json_object;
struct session_place;
struct node;

enum param_type {
	PARAM_STRING,
	PARAM_NUMBER,
	PARAM_BOOL,
	PARAM_SIZE,
	// From here to PARAM_LUN: not empty.
	PARAM_FILE, // a file or device that the daemon opens; completes file names
	// A file of the client's user, which the daemon does not open (document.c); completes file
	// names.
	PARAM_DOCUMENT, // the client sends its content
	PARAM_COPY, // the client writes it (reply_file()), and sends the present content on demand
	PARAM_NODE, // a path in the tree or an existing name
	// Hints for completion (complete.c); the command itself checks the value.
	PARAM_CHILD,	 // a child of the node
	PARAM_STORAGE,	 // a storage object, or a file for a new one
	PARAM_LUN,	 // a LUN of the ACL's portal group, or storage
	PARAM_PORTAL,	 // the address of a portal
	PARAM_ADDRESS,	 // an address of this machine
	PARAM_SRP_PORT,	 // the name of an SRP target; completion offers ports of this machine
	PARAM_SESSION,	 // a session's number
	PARAM_INITIATOR, // a name; completion offers those seen at logins
	PARAM_GROUP,	 // of settings; name=value may follow if the command takes them
};

struct param_row {
	const char *name;
	enum param_type type;
	bool is_required;
	const char *default_text; // default, NULL none
	const char *help;
	const char *alias;   // another accepted name, or NULL
	const char *choices; // "a|b|c", or NULL
};

// The parameters of a command, in its row: PARAMS({ "name", ... }, { ... }).
#define PARAMS(...) ((const struct param_row[]){ __VA_ARGS__, { 0 } })

// The same for the values of a group, in its row.
#define VALUES(...) ((const struct attr_row[]){ __VA_ARGS__, { 0 } })

enum { ARGS_MAX = 16, CHILD_NAME_SIZE = 224 };

// The arguments of a call, checked against the rows; one text per row.
struct args {
	const struct param_row *rows;
	const char *value[ARGS_MAX]; // NULL absent
	bool is_given[ARGS_MAX];     // else the default is used
	const char *key[ARGS_MAX];   // its name in the call, NULL: given by position
	// Of PARAM_DOCUMENT and PARAM_COPY: {"name", "document", "notes"}, document null if the
	// client has no such file; value is the name. NULL: only the name was sent.
	struct json_object *content[ARGS_MAX];
};

// The reply of a command: lines for the user and data for programs.
struct reply {
	struct json_object *messages; // array of strings
	struct json_object *data;     // NULL: nothing
	struct json_object *created;  // the path of the created object, NULL: none
	struct json_object *file;     // {"name", "text"}: a file for the client to write
	unsigned recoverable;	      // objects kept without effect, listed in the messages
	bool has_secret;	      // a message has a generated secret, which is not shown again
	bool is_report;		      // the messages are the result: shown at every level
	// How clients show data: NULL: as names and values; "messages": the messages are enough;
	// "refusals": as a list of refused logins.
	const char *view;
	struct json_object *levels; // of the messages (reply_levels()), NULL: none
};

// The client: a connection of the control socket, its process and user. id: unique, from 1 on.
struct config_client {
	uint64_t id;
	int pid;
	unsigned uid;
};

// 0 or a negative errno with text; on error nothing has changed.
typedef int command_fn(struct config *c, struct node *n, const struct args *a, struct reply *r,
		       struct err *e);

struct command_row {
	const char *name;
	const struct param_row *params; // ends with a NULL name
	const char *help;
	bool is_readonly; // permitted with read-only access
	command_fn *run;
	// Of the root: concerns the whole configuration. Every node accepts it; it runs at the
	// root.
	bool is_whole;
	// The messages are the result, like those of commands that only read; otherwise they tell
	// what was done, and clients may hide them.
	bool is_report;
	bool is_unrecorded; // changes nothing by itself: begin, commit, abort
};

// The values of a group in the saved file.
enum saved_form {
	SAVED_NOT,
	SAVED_NUMBERS, // as rtslib's attributes: numbers if they are, else strings
	SAVED_STRINGS, // as rtslib's parameters
	SAVED_TYPED,   // booleans, numbers and strings, by the type of the row
};

struct group_row {
	const char *name; // "attribute", "parameter", "auth"
	const struct attr_row *rows;
	const struct attr_row *(*get_rows)(void); // instead: rows that are created at first use
	// The struct that the rows describe, from the node on, which an object begins with; size of
	// the memory of the values, which undo restores, and its offset in that struct. Size 0: no
	// memory. NULL slots below take the default in brackets.
	ptrdiff_t at;
	size_t offset, size;
	bool is_worded; // its booleans are true and false instead of 1 and 0
	// The value shown to users instead of get's text, if not only the shell changes it [get].
	size_t (*show)(struct node *n, const struct attr_row *row, char *out, size_t size);
	// Setting and getting one value [attr_set, attr_get].
	int (*set)(struct node *n, const struct attr_row *row, const char *text, struct err *e);
	size_t (*get)(struct node *n, const struct attr_row *row, char *out, size_t size);
	// Checks the struct after all values of a request are set [no check].
	int (*check)(struct config *c, struct node *n, struct err *e);
	// Applies one value to the running object [no-op]; called again with the old text if a
	// later step fails.
	int (*apply)(struct config *c, struct node *n, const struct attr_row *row, const char *text,
		     struct err *e);
	// A value with ATTR_RESTART was set: makes it take effect at the commit [nothing]. -ENOMEM.
	int (*restart)(struct config *c, struct node *n);
	// ---- the saved file ----
	enum saved_form form;
	const struct attr_row *(*node_rows)(
		const struct node *n); // ... instead of rows, if they
				       // differ between nodes of a class
	const char *part; // key of the object with the values; NULL: they are in the node's object
	const char *prefix; // of their keys there; NULL: none
	// Values of rows that rtslib does not know are in our own section, in an object named like
	// the group, or, without a name, in the node's [rows with ATTR_OWN].
	bool (*is_own)(const struct node *n, const struct attr_row *row);
	// Adds what get() reads to the key of a kept text [what it returns].
	void (*key)(struct frozen_key *k, const struct node *n);
	bool is_whole; // absent values are defaults, also in files of other programs
};

// The children of a class for its command "delete", delete_child() (in_use.h). The texts have one
// %s: the child as users write it.
struct child_names {
	const char *missing, *deleted; // "No target %s", "Deleted Target %s."
	const char *prefix;	       // of the node's name, before that; NULL: none
	// The normal form of what the arguments name. -EINVAL with text. NULL: the first argument.
	int (*normal)(const struct node *n, const struct args *a, char out[CHILD_NAME_SIZE],
		      struct err *e);
};

struct summary {
	char text[320];
	bool is_healthy, is_broken; // no health to report
	const char *warning;	    // NULL, or a constant: why the object does not work
};

struct node_class {
	const char *name; // "backstores.ramdisk", "tpg"; the schema's key
	const char *help;
	const struct command_row *commands; // ends with a NULL name; those of every node are added
	const struct group_row *groups;	    // ends with a NULL name
	bool is_target, is_group;	    // a target, a portal group; of SRP both
	const struct saved_class *saved;    // saved.h; NULL: not in the saved file by itself
	void (*summary)(struct config *c, const struct node *n, struct summary *ret);
	struct child_names child;
	const char *counts; // what its children are, for a summary of their number; NULL: none
	// Data of `info`, added to a new object; NULL: only name and class.
	void (*info)(struct config *c, const struct node *n, struct json_object *ret);
	// Warns after values of a group were set. May be NULL.
	void (*warn)(const struct node *n, const struct group_row *g, struct json_object *values,
		     struct reply *r);
	// Why a setting has no effect at this node, NULL: it has. May be NULL.
	const char *(*no_effect)(const struct node *n, const struct attr_row *row);
	// Whether the session uses the node, a constraint of its removal. NULL: none can.
	bool (*is_used)(const struct node *n, const struct session_place *p);
	// Removes the objects that use the node, which is removed next. May be NULL.
	int (*remove_users)(struct config *c, struct node *n, struct err *e);
	// The node, or one below it whose class has no such function, has changed: running objects
	// learn of it at the commit. May be NULL.
	void (*changed)(struct config *c, struct node *n);
	// The node was added to the tree or removed from it: update links to other objects. May be
	// NULL.
	void (*attached)(struct config *c, struct node *n, bool is_attached);
	// Node n, of any class, is new: connects the nodes of this class that were saved with a
	// link to it. r: NULL while a file is read. May be NULL.
	int (*appeared)(struct config *c, struct node *n, struct reply *r, struct err *e);
	// Frees a detached node without children; NULL for nodes that live as long as the tree.
	void (*free)(struct config *c, struct node *n);
};

// Finds the row in the class or among those of every node; NULL: not found.
const struct command_row *command_find(const struct config *c, const struct node_class *class,
				       const char *name);

// The row of the root with is_whole; NULL: not found.
const struct command_row *command_whole(const struct config *c, const char *name);

// By name or alias; NULL: not found. rows may be NULL.
const struct param_row *param_find(const struct param_row *rows, const char *name);
// Whether it is a file of the client's user, which the daemon does not open.
bool param_is_of_client(const struct param_row *row);

// Fills a from JSON values: positional (array or NULL) and named (object or NULL). The
// texts belong to the JSON objects. -EBADRQC: not the parameters of the rows; -EINVAL: not of their
// types; with the shell's usual texts.
int args_parse(const struct param_row *rows, struct json_object *positional,
	       struct json_object *named, struct args *a, struct err *e);

// By name of the row; NULL: absent. Only names that are in the rows.
const char *arg(const struct args *a, const char *name);
bool arg_given(const struct args *a, const char *name);
bool arg_bool(const struct args *a, const char *name, bool absent);

// Adds the part of the call to e: the value of this parameter. Returns e's code.
int arg_at(const struct args *a, const char *name, struct err *e);
// The content that the client sent for a parameter, NULL: none. Borrowed.
struct json_object *arg_content(const struct args *a, const char *name);
// A file for the client to write, with its user's rights; takes over the malloc()ed text, which may
// contain secrets. text NULL: -ENOMEM with text in e; else 0.
int reply_file(struct reply *r, const char *name, char *text, struct err *e);

// Sets the levels of the messages of a command that changes something: "info", "note" and "warning"
// by their first word.
void reply_levels(struct reply *r, const struct command_row *row);

void reply_say(struct reply *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void reply_done(struct reply *r); // frees its contents
