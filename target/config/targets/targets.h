// SPDX-License-Identifier: BSD-2-Clause
// Fabrics, targets and their portal groups: /iscsi/WWN/tpgN, /srpt/WWN. Private to target/config;
// control thread.
#pragma once

#include "target/config/file/restore.h"
#include "target/fabric/fabric.h"
#include "target/fabric/portal.h"
#include "target/fabric/view.h"

struct auth_group {
	uint32_t enable;				    // discovery only
	struct view_auth auth;				    // CHAP
	char password_file[256], mutual_password_file[256]; // files of secrets: secret.c
};

// What sessions see of a target. Embedded in the object of its node.
struct published {
	struct node *node;	  // the target's
	struct view_target *view; // the last published one; one reference
	bool is_dirty;		  // must be rebuilt before the next publish
	struct list dirty_link;
};

// /iscsi/WWN
struct target {
	struct node node;
	struct published published;
};

// What the portal groups of a fabric are in the tree.
struct tpg_kind {
	const struct node_class *acl_class, *portals_class, *portal_class;
	const struct fabric_ops *(*fabric)(void);
};

// /iscsi/WWN/tpgN; /srpt/WWN, the target and its only portal group
struct tpg {
	struct node node;
	struct node acls, luns, portals;
	const struct tpg_kind *kind;
	uint16_t tag, relative_port;
	uint32_t is_enabled;
	struct auth_group auth;
	struct published published; // of a target that is its portal group
	// fabric_ops.group. Not aligned to more than a list head: list_each() takes the head for an
	// object at its end.
	uint64_t own[];
};

// What ACLs of all fabrics have: the last rows of their group `attribute`.
struct acl_common {
	char host[FABRIC_HOST_SIZE];
};

struct acl {
	struct node node; // initiator name
	char *tag;	  // name of a group of initiators, NULL none
	struct auth_group auth;
	struct acl_common common;
	uint64_t own[]; // fabric_ops.acl; as above
};

struct mapped_lun {
	struct node node; // "mapped_lunN"
	uint32_t number;
	uint32_t is_write_protected;
	char alias[11];
	struct lun *lun; // NULL: broken
	struct list lun_link;
	uint32_t tpg_lun; // its number, also if it is broken
};

struct portal_node {
	struct node node;    // "0.0.0.0:3260"
	struct portal *open; // NULL: the address is not usable yet (its interface is missing)
	char reason[160];    // why it is NULL
	unsigned transports; // PORTAL_*: offered
	unsigned opened_for; // ... as passed to open
	struct portal_attr attr;
	uint32_t is_iser; // set as in targetcli (enable_iser, the saved file)
	uint32_t is_offload;
};

// /iscsi, /srpt
struct fabric_node {
	struct node node;
	struct auth_group discovery; // of a fabric that has it
};

// Fabrics and targets.
struct config_targets {
	struct fabric_node iscsi, srpt;
	struct list dirty;	  // struct published
	unsigned lost_portals;	  // portals without an address
	unsigned broken_luns;	  // LUNs without storage
	bool is_view_dirty;	  // targets added or removed, discovery auth changed
	uint8_t ports[65536 / 8]; // relative target ports in use, one bit each
};

extern const struct node_class iscsi_class, target_class, tpg_class, luns_class, acls_class,
	portals_class, lun_class, acl_class, mapped_lun_class, portal_class;
extern const struct group_row tpg_fields[]; // of the saved file
extern struct group_row tpg_groups[];

// ---- iscsi.c, tpg.c ----
// Puts the rows of the fabric into the classes. Once, before the first node.
void iscsi_rows_use(void);
// Creates a portal group below parent.
int tpg_add(struct config *c, struct node **ret, struct node *parent,
	    const struct node_class *class, const struct tpg_kind *kind, const char *name,
	    unsigned tag, const char *taken, struct err *e);
// For the relative port: a class's attached.
void tpg_attached(struct config *c, struct node *n, bool is_attached);
void tpg_free(struct config *c, struct node *n);
// Commands of a portal group, and of an SRP target, which is also its portal group.
int tpg_enable(struct config *c, struct node *n, const struct args *a, struct reply *r,
	       struct err *e);
int tpg_disable(struct config *c, struct node *n, const struct args *a, struct reply *r,
		struct err *e);
// What `info` says of a portal group of every fabric.
void tpg_info(const struct tpg *tpg, struct json_object *ret);
// ---- published.c ----
void published_init(struct published *p, struct node *target);
// The target is to be published again: a class's changed.
void published_changed(struct config *c, struct published *p);
void published_done(struct published *p);
struct published *published_of(struct node *target);
// The portal groups of a target: its children, or the target itself.
#define target_each_group(t, target)                                                               \
	for (struct tpg *t = target_next_group(target, NULL); t; t = target_next_group(target, t))
struct tpg *target_next_group(const struct node *target, const struct tpg *after); // NULL: the end
unsigned target_group_count(const struct node *target);

// Gives a new portal group the RELATIVE TARGET PORT IDENTIFIER of the document if it is free.
int tpg_keep_port(struct restore *r, struct node *n, struct json_object *o, bool is_old,
		  struct err *e);

// ---- places.c: where a node stands ----
// The fabric of n, which is below its node; NULL: this program does not have it, yet.
const struct fabric_ops *node_fabric(const struct node *n);
// The name of n's target, iSCSI or SRP, as used in logins; "": none.
const char *target_name(const struct node *n);
struct tpg *tpg_of(const struct node *n);
struct fabric_access tpg_access(const struct tpg *tpg); // what its settings say of logins
// Every portal group; the body must not remove one.
#define tpg_each(t, c) for (struct tpg *t = tpg_next(c, NULL); t; t = tpg_next(c, t))
struct tpg *tpg_next(const struct config *c, const struct tpg *after); // NULL: the first, the end

// ---- tpg_groups.c ----
// Puts the rows of the fabric into the groups of the class.
void tpg_groups_use(const struct fabric_ops *fabric);
