// SPDX-License-Identifier: BSD-2-Clause
// Attributes as table rows. A row holds a setting's name, type, range, default, unit and
// help; validation, help, completion, JSON and man pages are generated from it.
// A row describes a field of some struct by its offset. Pure functions; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"

enum attr_type {
	ATTR_BOOL,   // uint32_t field; 0/1, also true/false, yes/no, on/off on input
	ATTR_UINT,   // uint32_t field, min..max
	ATTR_UINT64, // uint64_t field, min..max
	ATTR_INT,    // int32_t field, min..max
	ATTR_ENUM,   // uint32_t field: index into choices
	ATTR_STRING, // char array field of size max, NUL terminated
};

enum {
	ATTR_READONLY = 1, // shown, never set by a user
	ATTR_RESTART = 2,  // takes effect at the next login or open
	ATTR_SECRET = 4,   // masked on display, absent from logs
	ATTR_IGNORED = 8,  // known to targetcli, without effect here: only saved
	ATTR_OWN = 16,	   // unknown to rtslib
	ATTR_NAME = 32,	   // STRING: the name of an existing object, which completion offers
	// In the saved file:
	ATTR_SPARSE = 64, // left out while it has its default
	ATTR_GIVEN =
		128, // belongs to the object from its creation: never read into an existing one
	ATTR_GENERATED = 256, // has no default: if it is absent, the object's own one continues
};

struct attr_row {
	const char *name;
	enum attr_type type;
	size_t offset;
	int64_t min, max; // UINT/INT: range; STRING: size of the array, and length of a good secret
	const char *default_text;
	const char *unit;	    // "s", "blocks", "bytes", "us" or NULL
	const char *help;	    // one line
	const char *const *choices; // NULL-terminated words. ENUM: the values; STRING: suggestions
	uint32_t flags;
	// In words. ATTR_STRING: the accepted values; NULL: any text that fits. ATTR_BOOL: NULL for
	// "0 or 1".
	const char *range;
	const char *saved; // its key in the saved file, if that is not its name
	// Why it has no effect, which `set` and the help say. NULL: it has, unless ATTR_IGNORED.
	const char *no_effect;
};

// Rows end with a NULL name. Returns NULL for an unknown name.
const struct attr_row *attr_find(const struct attr_row *rows, const char *name);

// Writes every row's default into the struct at base.
void attr_defaults(const struct attr_row *rows, void *base);

// Parses text into the field. -EINVAL with "name: cause (accepted values)" if it does not fit; the
// field is then unchanged. Ignores ATTR_READONLY: the caller checks it.
int attr_set(const struct attr_row *row, void *base, const char *text, struct err *e);

// The field as text, in the form that saveconfig.json and `get` show; at most size bytes.
// Secrets are not masked: the caller does that. Returns the length.
size_t attr_get(const struct attr_row *row, const void *base, char *out, size_t size);

// "0..512", "0 or 1", "a|b|c": the accepted values as text.
size_t attr_range(const struct attr_row *row, char *out, size_t size);

// Parses 0 1, false true, no yes, off on, in any case. False: not a boolean.
bool parse_bool(const char *text, bool *ret);
// Whether text is a boolean that is true; NULL is not.
bool is_yes(const char *text);
// A UUID: 8-4-4-4-12 hex digits [RFC 9562].
bool is_uuid(const char *text);
// Sizes as users write them: 512, 4k, 10M, 1.5G, 1GiB, 128MB (powers of 1024). -EINVAL,
// -ERANGE with text.
int parse_size(const char *text, uint64_t *ret, struct err *e);
// "16.0MiB", below 1 KiB "N bytes", as targetcli writes sizes.
void format_size(uint64_t bytes, char out[32]);
