// SPDX-License-Identifier: BSD-2-Clause
// What the objects of a fabric have that others do not have: a struct of its own, which
// target/config carries, shows, saves and publishes by these descriptions alone. Control thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/attr.h"
#include "core/err.h"

// The struct of a portal group (view_tpg.own) or of an ACL (view_acl.own).
// Values of the group `attribute` of an ACL for a purpose, and those that the portal group should
// have for it: rows that end with a NULL name. text: NULL: the default.
struct fabric_preset_value {
	const char *name, *text;
};
struct fabric_preset {
	const char *name, *help;
	const struct fabric_preset_value *values, *of_group;
};

struct fabric_settings {
	const struct attr_row *rows; // its group `attribute`; ends with a NULL name
	size_t size;		     // of the struct
	// Fills what has no row; the rows' defaults are set. Absent: nothing.
	void (*init)(void *own);
	// Checks the struct after values of the rows were set. -EINVAL with text. Absent: no check.
	int (*check)(const void *own, struct err *e);
	const struct fabric_preset *presets; // of an ACL; ends with a NULL name. NULL: none
};

// The group `parameter` of a portal group: what it offers at logins. Absent: it is empty.
struct fabric_params {
	const struct attr_row *(*rows)(void);
	// One value of the group's struct, as attr_set() and attr_get(). Rows with ATTR_IGNORED
	// are not passed: they are only saved.
	int (*set)(void *group, const struct attr_row *row, const char *text, struct err *e);
	size_t (*get)(const void *group, const struct attr_row *row, char *out, size_t size);
};

// Who may log in to a portal group, in terms that all fabrics have.
struct fabric_access {
	bool is_open;		// initiators without an ACL
	bool is_open_read_only; // ... which then cannot write
	bool is_acl_read_only;
	bool needs_credentials; // unless an ACL says otherwise
};
