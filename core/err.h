// SPDX-License-Identifier: BSD-2-Clause
// Errors: a negative errno and one line "object: operation: cause (cure)".
//
// Library code fills a struct err and returns its code; it never logs. The layer that
// decides what to do logs or shows the text once. Any thread; nothing blocks.
#pragma once

#include <stdarg.h>

// The part of a request that an error is about, if the layer that found it knows.
enum err_part {
	ERR_PART_NONE, // unknown
	ERR_PART_PATH,
	ERR_PART_COMMAND,
	ERR_PART_POSITION, // a value without a name: index counts these from 0
	ERR_PART_NAME,	   // a value with this name
};

struct err {
	int code;	// negative errno, 0 when nothing failed
	char text[240]; // one line, no newline, never a secret
	enum err_part part;
	unsigned index;
	char name[48];
	char wants[8]; // with -EREMOTE: the format of the document that is missing, "": none
};

// Fills e (may be NULL) and returns code, for "return err_set(...)". code: negative errno.
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

// As err_set(), with ": " and strerror(-code) appended. code: negative errno.
int err_errno(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

// Adds the part of the request; name NULL: none. Returns e's code (NULL: no-op, returns 0).
int err_at(struct err *e, enum err_part part, unsigned index, const char *name);

// Prepends a prefix and ": " to e's text; returns e's code (NULL: no-op, returns 0).
int err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
