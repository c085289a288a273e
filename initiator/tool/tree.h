// SPDX-License-Identifier: BSD-2-Clause
// What a portal leads to, as a tree: targets, portal groups, and their logical units. The program's
// thread; blocks.
#pragma once

#include "initiator/tool/tool.h"

struct tree;

// Reads which disks are attached on this machine. Errors with a text.
int tree_new(struct tree **ret, const struct tool *t, struct err *e);
// Prints the JSON, if the user asked for it, and frees r; NULL is fine. Returns the exit status:
// TOOL_FAILED if no portal listed its targets, 128 and the signal's number after a signal.
int tree_end(struct tree *r);

// Begins with a portal; url is shown and copied.
void tree_begin(struct tree *r, const char *url);
// A target at a portal, with the tag of the portal's group, -1: none. The portals of a target
// follow each other. Any thread. portal is shown, url is for tree_visit(); all are copied. -ENOMEM.
int tree_found(struct tree *r, const char *target, int tag, const char *portal, const char *url);

// The session that a URL of tree_found() describes. Errors with a text.
typedef int tree_path(void *arg, const char *url, struct tool_path *ret, struct err *e);
// Logs in to each portal group, by the first of its portals that admits it, and shows all; what
// fails is shown with its cause.
void tree_visit(struct tree *r, tree_path *path, void *arg);
// Instead of tree_visit(): the portal does not tell its targets. A text to show beside.
void tree_failed(struct tree *r, const struct err *why);
void tree_note(struct tree *r, const char *text);
