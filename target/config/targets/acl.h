// SPDX-License-Identifier: BSD-2-Clause
// ACLs: initiators that may log in. Private to target/config; control thread.
#pragma once

#include "target/config/targets/targets.h"

extern const struct command_row acl_commands[];
extern const struct saved_class acl_saved;

int acl_new(struct config *c, struct node **ret, struct tpg *tpg, const char *initiator,
	    struct err *e);
// The commands name mapped LUNs: a class's child.
#define ACL_CHILD                                                                                  \
	{                                                                                          \
		"no mapped LUN %s", "Deleted Mapped LUN %s.", "mapped_lun", lun_given              \
	}
void acl_info(struct config *c, const struct node *n, struct json_object *ret);
void acl_summary(struct config *c, const struct node *n, struct summary *ret);
int acl_set_tag(struct config *c, struct acl *a, const char *tag, struct err *e); // NULL: none
void acl_free(struct config *c, struct node *n);
// The name of an initiator of that portal group, normalised.
int acl_name(const struct tpg *tpg, const char *in, char out[224], struct err *e);

// Puts the rows of the fabric into the groups of the class.
void acl_groups_use(const struct fabric_ops *fabric);
// The group `attribute` of the ACLs of a fabric: its own rows, then those that all have.
enum { ACL_ROWS_MAX = 24 }; // with the end
#define ACL_ATTRIBUTE_GROUP                                                                        \
	{                                                                                          \
		.name = "attribute", .form = SAVED_NUMBERS, .part = "attributes",                  \
		.at = offsetof(struct acl, common)                                                 \
	}
void acl_attributes_use(struct group_row *attribute, struct attr_row rows[ACL_ROWS_MAX],
			const struct fabric_ops *fabric);

// ---- acl_tag.c ----
struct acl *acl_by_name(struct config *c, struct node *acls, const char *text); // NULL: none
struct acl *acl_by_tag(const struct node *acls, const char *tag); // the first one; NULL: none
int acl_unknown(const char *text, struct err *e);		  // -ENOENT
// Commands of acls.
int acl_tag(struct config *c, struct node *n, const struct args *a, struct reply *r, struct err *e);
int acl_untag(struct config *c, struct node *n, const struct args *a, struct reply *r,
	      struct err *e);

// ---- acl_preset.c ----
#define ACL_PRESETS "boot|default"
// The preset that all its values are of; NULL: of none.
const char *acl_preset(const struct acl *a);
// -EINVAL: no such preset; -EOPNOTSUPP: the fabric has none; errors of setting.
int acl_set_preset(struct config *c, struct acl *a, const char *name, struct reply *r,
		   struct err *e);
// A command of an ACL.
int acl_preset_command(struct config *c, struct node *n, const struct args *a, struct reply *r,
		       struct err *e);

// ---- negotiated.c: negotiated values of the live session of an ACL ----
size_t negotiated_get(struct node *n, const struct attr_row *row, char *out, size_t size);
