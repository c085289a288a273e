// SPDX-License-Identifier: BSD-2-Clause
// The objects behind the nodes. Private to target/config; control thread.
#pragma once

#include <json-c/json.h>
#include <stdint.h>
#include <time.h>
#include <sys/types.h>

#include "backstores/backstore.h"
#include "core/log.h"
#include "target/config/config.h"
#include "core/json/json.h"
#include "target/config/txn.h"
#include "target/fabric/portal.h"
#include "target/fabric/view.h"
#include "target/iscsi/settings.h"
#include "target/scsi/alua/alua.h"
#include "target/scsi/lu_attr.h"
#include "transport/srp/name.h"

enum { STORAGE_OPTIONS_MAX = 12, NAME_MAX_LEN = 127, LUN_MAX = 16383 };

// /backstores/TYPE
struct storage_type {
	struct node node;
	const struct backstore_type *type;
	char class_name[40];
	const struct node_class *objects;		  // the class of its children
	struct node_class class;			  // built from the type's option rows
	struct command_row commands[3];			  // create, delete
	struct param_row params[STORAGE_OPTIONS_MAX + 3]; // name, options, wwn, the end
	struct attr_row options[STORAGE_OPTIONS_MAX + 1]; // in the saved file
};

// /backstores/TYPE/NAME
struct storage {
	struct node node;
	struct node alua; // its children are struct alua_node; none with a pass-through type
	const struct backstore_type *type; // NULL: a plugin that does not exist here
	char *option[STORAGE_OPTIONS_MAX]; // text per row of type->options, NULL default
	char wwn[40];			   // unit serial
	struct lu_attr attr;
	struct lu *lu;	  // NULL: waiting
	char reason[240]; // why it is waiting
	struct config *config;
	struct list waiting_link; // in config->waiting while there is no lu
	struct list luns;	  // struct lun, storage_link
	unsigned lun_count;
	bool is_busy;	   // in use elsewhere: waits until it is free
	enum bs_path path; // what storage_look.c saw last
};

struct alua_node {
	struct node node;
	struct alua_attr attr; // as configured, without changes by initiators
	unsigned transitions;  // requested, not yet in force
};

struct auth_group {
	uint32_t enable;				    // discovery only
	struct view_auth auth;				    // CHAP
	char password_file[256], mutual_password_file[256]; // files of secrets: secret.h
};

// /iscsi/WWN
struct target {
	struct node node;
	struct view_target *view; // the last published one; one reference
	bool is_dirty;		  // must be rebuilt before the next publish
	struct list dirty_link;
};

// What the portal groups of a fabric have.
struct tpg_kind {
	const struct node_class *acl_class;
	bool has_portals;
	// The name of an initiator, normalised. -EINVAL.
	int (*initiator_name)(const char *in, char out[224], struct err *e);
};

// /iscsi/WWN/tpgN
struct tpg {
	struct node node;
	struct node acls, luns, portals;
	const struct tpg_kind *kind;
	uint16_t tag, relative_port;
	uint32_t is_enabled;
	struct tpg_attr attr;
	struct auth_group auth;
	struct iscsi_offer offer;
};

struct srpt_attr {
	uint32_t srp_max_rdma_size, srp_max_rsp_size, srp_sq_size, use_srq;
};

// /srpt/WWN: the target and its one portal group are the same node.
struct srpt_target {
	struct tpg tpg;
	struct srpt_attr attr;
};

struct lun {
	struct node node; // "lunN"
	uint32_t number;
	char alias[11];
	char group[ALUA_NAME_MAX]; // ALUA group of the path
	uint16_t relative_port;	   // as set at the logical unit; 0: not yet
	struct {
		const struct lu *lu; // NULL: none yet
		uint16_t port, group;
	} told;			 // the relative port of its path, and the port's ALUA group
	struct storage *storage; // NULL: broken, kept has the path
	uint32_t write_protect;	 // of all initiators
	struct list storage_link;
	struct list mapped; // struct mapped_lun, lun_link
};

struct acl {
	struct node node; // initiator name
	char *tag;	  // name of a group of initiators, NULL none
	struct acl_attr attr;
	struct auth_group auth;
};

struct mapped_lun {
	struct node node; // "mapped_lunN"
	uint32_t number;
	uint32_t is_write_protected;
	char alias[11];
	struct lun *lun; // NULL: broken
	struct list lun_link;
	uint32_t tpg_lun; // as saved, for a broken link
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

// A target or storage object of an unsupported kind: node.kept is its content.
struct foreign {
	struct node node;
};

// targetcli's global preferences that concern the daemon: automatic steps of create, and the number
// of backups.
struct prefs {
	uint32_t auto_add_default_portal, auto_add_mapped_luns, auto_enable_tpgt;
	uint32_t export_backstore_name_as_model, max_backup_files;
};

// Counts of operations since the start of the process, for tests of the work of a change: a clock
// would measure the machine.
extern struct config_work {
	unsigned long names; // numbers that number_free() tried
	unsigned long texts; // objects whose text for the saved file was built
	unsigned long ports; // ALUA ports set at logical units
} config_work;

enum { OWN_FILES = 11 }; // rows of own_files.c

struct file_id {
	dev_t dev;
	ino_t ino;
	bool is_there;
};

struct config {
	struct worker *control;
	struct prefs prefs;
	char *file, *state_dir, *socket;
	const struct command_row *every_node;	 // commands of every node
	const struct node_class *const *classes; // all, ends with NULL
	struct map names;			 // (parent, name) -> struct node
	struct map paths; // ("dev", path) -> struct storage, for block and fileio
	struct node root, backstores, iscsi, srpt;
	struct storage_type *types;
	unsigned type_count;
	struct auth_group discovery;
	struct txn txn;
	struct {
		bool is_open, has_changes;
		struct txn_mark mark; // after the last successful command
	} together;		      // commands of one change: together.c
	struct config_client caller;
	struct {
		const struct node *in;	 // node of the running create, NULL: none
		const struct node *node; // the first node that it has attached
	} created;
	struct {
		bool is_open;
		struct config_client owner;
		time_t since;
		unsigned seconds; // limit
		struct timer limit;
		bool has_resized;
		uint64_t lapsed; // the client whose transaction timed out, until it is told
	} transaction;		 // begin.c
	struct {
		struct json_object *commands; // texts, since the last save
		unsigned more;		      // number of dropped ones
		struct json_object *saved;    // of the saved file: its origin
	} change;
	bool skips_backup;     // of the change that is being saved
	struct list dirty;     // struct target
	struct list waiting;   // struct storage
	unsigned lost_portals; // portals without an address
	unsigned broken_luns;  // LUNs without storage
	bool is_view_dirty;    // targets added or removed, discovery auth changed
	struct {
		uint64_t inode;
		struct timespec mtime;
	} saved; // the file when we last read or wrote it
	struct {
		bool are_known;
		struct file_id file[OWN_FILES], folder[OWN_FILES];
	} own;			// the daemon's own files
	bool has_replaced_edit; // an edited file was replaced, not reported yet
	struct timer retry;
	uint64_t retry_usec; // its current delay
	struct timer look;   // storage_look.c
	unsigned closing;
	void (*quiet)(void *arg);
	void *quiet_arg;
	bool is_shutting_down;
	uint64_t generation, view_generation;
	uint8_t ports[65536 / 8]; // relative target ports in use, one bit each
};

#define NODE_OF(type, n) container_of((n), type, node)

extern const struct node_class root_class, backstores_class, iscsi_class, target_class, tpg_class,
	luns_class, acls_class, portals_class, lun_class, acl_class, mapped_lun_class, portal_class,
	storage_class, alua_class, alua_group_class, fabric_class, foreign_class,
	foreign_storage_class, srpt_class, srpt_target_class, srpt_acl_class;
extern const struct command_row every_node_commands[], acl_commands[];
extern const struct node_class *const node_classes[]; // all of them, ends with NULL
extern const struct saved_class acl_saved;
extern const struct group_row tpg_fields[]; // of the saved file
extern const struct group_row root_groups[], storage_groups[], tpg_groups[], lun_groups[];

// All rows of saveconfig.json in addition to a node's own fields.
extern const struct attr_row auth_rows[], discovery_rows[], pref_rows[], srpt_attr_rows[];
// ---- tpg_params.c ----
const struct attr_row *param_rows(void);
int tpg_param_set(struct node *n, const struct attr_row *row, const char *text, struct err *e);
size_t tpg_param_get(struct node *n, const struct attr_row *row, char *out, size_t size);
// ---- auth.c ----
int auth_check(const struct auth_group *a, struct err *e); // -EINVAL

// ---- part.c ----
// Adds to e the value of a failed call that it is about, unless it has a part already or its text
// refers to none.
void part_find(const struct command_row *row, struct json_object *positional,
	       struct json_object *named, struct err *e);

// ---- own_files.c ----
// -EINVAL with text: dev is, or would become, one of the daemon's own files, under any name.
// Usually two system calls. Control thread; blocks on the file system.
int own_files_refuse(struct config *c, const char *dev, struct err *e);
// The files may have changed: call before opening disks.
void own_files_forget(struct config *c);

// ---- names.c ----
int name_check_storage(const char *name, struct err *e);
// The path of a new file or device: no control characters [core/utf8.h]. Restored paths may have
// them, since those disks would be lost.
int name_check_dev(const char *dev, struct err *e);
int name_check_wwn(const char *uuid, struct err *e);
enum { NAME_SECRET_SIZE = 17 };
// 16 letters and digits of 96 random bits: required by RFC 7143, and the maximum of Windows.
void name_new_secret(char out[NAME_SECRET_SIZE]);
void name_new_uuid(char out[40]);
void name_new_alias(char out[11]);
void name_new_iqn(char out[224]);

// ---- srpt.c ----
int srpt_target_new(struct config *c, struct srpt_target **ret, const char *name, struct err *e);

// ---- credentials.c: required credentials of logins, from the tree ----
enum credentials {
	CREDENTIALS_NONE,
	CREDENTIALS_NO_PASSWORD,
	CREDENTIALS_ONE_WAY,
	CREDENTIALS_MUTUAL
};
enum credentials credentials_of(const struct auth_group *a);
// The credentials of logins by the ACL: its own, or those of its portal group. *ret_is_own: which.
enum credentials credentials_of_acl(const struct acl *a, bool *ret_is_own);
bool acl_needs_credentials(const struct acl *a);
// Why no login by the ACL, or without an ACL where permitted, can succeed. NULL: it can.
const char *acl_warning(const struct acl *a);
const char *tpg_warning(const struct tpg *tpg);
// Warns the user of that, with cures.
void acl_warn(const struct acl *a, struct reply *r);
void tpg_warn(const struct tpg *tpg, struct reply *r);
// The same after settings that decide about it: a class's warn.
void acl_warn_set(const struct node *n, const struct group_row *g, struct json_object *values,
		  struct reply *r);
void tpg_warn_set(const struct node *n, const struct group_row *g, struct json_object *values,
		  struct reply *r);

// ---- no_effect.c ----
// Why the setting never has an effect; NULL: it has.
const char *no_effect_here(const struct attr_row *row);
// Why the setting with value text has no effect; NULL: it has, or is the default.
const char *no_effect(const struct node *n, const struct attr_row *row, const char *text);
// ---- storage_no_effect.c ----
const char *storage_no_effect(const struct node *n, const struct attr_row *row);

// ---- negotiated.c: negotiated values of the live session of an ACL ----
size_t negotiated_get(struct node *n, const struct attr_row *row, char *out, size_t size);

// ---- acl_group.c ----
// Runs a command below .../acls/TAG for all ACLs with that tag or, if it only reads, for the first.
// *ret: as config_run(). False: no ACL has the tag; nothing was done.
bool acl_group_run(struct config *c, const struct config_call *call, bool is_admin,
		   config_run_fn *run, int *ret, struct reply *out, struct err *e);

// ---- config.c ----
// Reports once, to the next client with a change, that the saved file had been edited.
void config_tell_replaced(struct config *c, struct reply *r);

// ---- audit.c ----
// A command as text, without values of settings.
void audit_text(char *out, size_t size, const char *path, const struct command_row *row,
		struct json_object *positional, struct json_object *named);
// Logs who has run a command that changes the configuration.
void audit_change(const struct config *c, const char *path, const struct command_row *row,
		  struct json_object *positional, struct json_object *named);

// ---- acl_tag.c ----
struct acl *acl_by_name(struct config *c, struct node *acls, const char *text); // NULL: none
// Iterates the ACLs of text, a name or a tag, starting with NULL.
struct acl *acl_next(struct config *c, struct node *acls, const char *text,
		     const struct acl *after);
int acl_unknown(const char *text, struct err *e); // -ENOENT
// Commands of acls.
int acl_tag(struct config *c, struct node *n, const struct args *a, struct reply *r, struct err *e);
int acl_untag(struct config *c, struct node *n, const struct args *a, struct reply *r,
	      struct err *e);

// ---- in_use.c ----
// -EBUSY with the session if a session uses n, unless a has force. A session uses the LUNs that it
// has read, written or reserved, their storage, and, if it uses any LUN, the target, portal group,
// ACL and portal that it logged in through. Seeing a LUN is not use.
// PARAM_FORCE: the last parameter of each command concerned.
#define PARAM_FORCE                                                                                \
	{                                                                                          \
		"force", PARAM_BOOL, false, "false", "true: delete it even if in use", NULL        \
	}
// Where a session is logged in, and the LUNs that it uses.
struct session_place {
	const struct session_use *use;
	const struct target *target;
	const struct tpg *tpg;
	const struct acl *acl; // NULL: by demo mode
};
bool place_uses(const struct session_place *p, uint32_t lun); // a number that the session sees
bool lun_is_used(const struct node *n, const struct session_place *p); // luns.c
int in_use_refuse(struct config *c, const struct node *n, const struct args *a, struct err *e);
// Removes n unless it is in use.
int delete_unused(struct config *c, struct node *n, const struct args *a, struct err *e);

// ---- model.c: creates and finds objects. New ones are attached within the transaction. ----
struct storage_type *storage_type_of(struct config *c, const char *name);
int storage_new(struct config *c, struct storage **ret, const struct backstore_type *type,
		const char *name, struct err *e);
struct storage *storage_find(struct config *c, const char *path); // /backstores/T/N, T/N
int target_new(struct config *c, struct target **ret, const char *name, struct err *e);
// Commands of a portal group, and of an SRP target, which is also its portal group.
int tpg_enable(struct config *c, struct node *n, const struct args *a, struct reply *r,
	       struct err *e);
int tpg_disable(struct config *c, struct node *n, const struct args *a, struct reply *r,
		struct err *e);
// Gives the TPG this RELATIVE TARGET PORT IDENTIFIER if it is free.
void tpg_want_port(struct config *c, struct tpg *tpg, uint16_t port);
int tpg_new(struct config *c, struct tpg **ret, struct target *t, unsigned tag, struct err *e);
// Fills the zeroed tpg and attaches it to parent; frees it on failure.
int tpg_add(struct config *c, struct tpg *tpg, struct node *parent, const struct node_class *class,
	    const struct tpg_kind *kind, const char *name, unsigned tag, const char *taken,
	    struct err *e);
void tpg_attached(struct config *c, struct node *n, bool is_attached);
void tpg_free(struct config *c, struct node *n);
int lun_new(struct config *c, struct lun **ret, struct tpg *tpg, uint32_t number, struct storage *s,
	    struct err *e);
int acl_new(struct config *c, struct acl **ret, struct tpg *tpg, const char *initiator,
	    struct err *e);
void acl_free(struct config *c, struct node *n);
// The name of an initiator of that portal group, normalised.
int acl_name(const struct tpg *tpg, const char *in, char out[224], struct err *e);
int mapped_lun_new(struct config *c, struct mapped_lun **ret, struct acl *a, uint32_t number,
		   struct lun *l, bool is_write_protected, struct err *e);
// is_dry: does not listen.
int portal_new(struct config *c, struct portal_node **ret, struct tpg *tpg, const char *host,
	       uint16_t port, unsigned transports, bool is_dry, struct err *e); // portal.c
// Calls fn for the portals of every TPG; fn must not remove one from the tree.
void portals_each(struct config *c, void (*fn)(struct config *c, struct portal_node *p, void *arg),
		  void *arg); // portal.c
void portal_split(const struct portal_node *p, char host[TCP_ADDR_TEXT], uint16_t *ret_port);
// Makes the listening portal offer the node's current transports; call after the save.
void portal_follow(struct portal_node *p);
const char *portal_transport_name(unsigned mask);			    // "tcp", "iser", "all"
int portal_transport_parse(const char *name, unsigned *ret, struct err *e); // -EINVAL
// The portal of that address, or NULL.
struct portal_node *portal_find(struct config *c, struct tpg *tpg, const char *host, uint16_t port);
bool portal_retry(struct config *c, struct portal_node *p); // true: it has an address now
int foreign_new(struct config *c, struct node *parent, const struct node_class *class,
		const char *name, struct json_object *kept, struct err *e);
// "/srpt": created on demand.
struct node *kept_fabric(struct config *c, const char *fabric, struct err *e);

// ---- tree.c ----
// Adds a new node to parent, or frees it. taken: the message if its name is in use. -EEXIST,
// -ENOMEM.
int tree_add(struct config *c, struct node *parent, struct node *n, const char *taken,
	     struct err *e);
// Removes a node with everything below it and everything that uses it.
int tree_remove(struct config *c, struct node *n, struct err *e);
// The summary of a node, by its class or by the number of its children.
void tree_summary(struct config *c, const struct node *n, struct summary *ret);
// A class's free for objects that are only a node and plain fields.
void tree_free(struct config *c, struct node *n);
// Calls changed of the nearest class that has it, from n upwards.
void tree_changed(struct config *c, struct node *n);

struct target *target_of(const struct node *n); // of iSCSI; NULL: n is not in such a
						// target
// The fabric of n, which is below its node; NULL: this program does not have it, yet.
const struct fabric_ops *node_fabric(const struct node *n);
// The name of n's target, iSCSI or SRP, as used in logins; "": none.
const char *target_name(const struct node *n);
struct tpg *tpg_of(const struct node *n);
// Calls fn for every portal group; fn must not remove one.
void tpgs_each(struct config *c, void (*fn)(struct config *c, struct tpg *tpg, void *arg),
	       void *arg);
bool model_is_empty(const struct config *c);

// ---- storage.c: the life of a storage object ----
// Opens it; is_new: a new object, so the file may be created. On failure it waits with the reason,
// and the code is returned with the text.
int storage_open(struct storage *s, bool is_new, struct err *e);
// Adds it to those that are retried.
void storage_wait(struct storage *s, const struct err *why);
// Releases the logical unit; it closes when the last session has released it too.
void storage_release(struct storage *s);
// Reopens it at the commit. -ENOMEM.
int storage_restart(struct config *c, struct node *n);
void storage_free(struct config *c, struct node *n);
// Options by name. get returns NULL if it is not set.
int storage_set_option(struct storage *s, const char *name, const char *text, struct err *e);
const char *storage_get_option(const struct storage *s, const char *name);
uint64_t storage_size(const struct storage *s);
// Whether closing it loses data: a RAM disk that was written. lost_data.c; examines its memory.
bool storage_loses_data(const struct storage *s);
void storage_look_init(struct config *c); // starts to check open storage every ten seconds
// Busy files are retried soonest: a file held by a killed predecessor is free as soon as the kernel
// has cleaned up.
enum { STORAGE_BUSY_USEC = 20000, STORAGE_RETRY_USEC = 1000000 };

// ---- retry.c ----
void storage_retry(struct timer *t);

// ---- luns.c ----
// The lowest number not used by a child of n named PREFIXnumber; above LUN_MAX: none is free.
uint32_t number_free(const struct config *c, struct node *n, const char *prefix);
// The number in text, or number_free() without one; -EINVAL.
int number_pick(const struct config *c, struct node *n, const char *prefix, const char *text,
		struct err *e);
// The LUN of text: its number, or a storage object, file or device, for which a LUN is created if
// missing. -ENOENT and errors of creating one.
int lun_for(struct config *c, struct tpg *tpg, const char *text, struct lun **ret, struct reply *r,
	    struct err *e);
struct lun *lun_of_storage(const struct tpg *tpg, const struct storage *s); // NULL: none

// ---- lun_link.c ----
// Connects the LUNs that were kept without s to it. -ENOMEM.
int luns_find_storage(struct config *c, struct storage *s, struct reply *r, struct err *e);

// ---- alua.c ----
int alua_new(struct config *c, struct alua_node **ret, struct storage *s, const char *name,
	     uint32_t id, struct err *e);
int alua_check_name(const struct storage *s, const char *name, uint32_t id, struct err *e);
void alua_push(struct storage *s); // every group, to the logical unit that just opened
uint16_t alua_group_id(struct config *c, const struct lun *l);
void alua_sync_ports(struct config *c, struct target *t); // before its LUNs become visible

// ---- commit.c ----
// Ends the transaction: views of the dirty targets, saved file, publish. On failure everything is
// undone. saves: false while reading a saved file.
int config_commit(struct config *c, bool saves, struct err *e);
// Ends every command: commits if code is 0, else undoes; returns the code. If several are one
// change, the successful ones are committed with the last.
int config_finish(struct config *c, int code, struct err *e);

// ---- root.c ----
void config_drop_all(struct config *c); // deletes everything; the saved file stays

// ---- publish.c ----
int view_build(struct config *c, struct target *t, struct view_target **ret, struct err *e);
// Publishes the current targets (t->view of each).
int config_publish(struct config *c, struct err *e);

// ---- save.c, saved_file.c, restore.c ----
struct json_object *save_document(struct config *c);
char *save_text(struct config *c, size_t *ret_len); // the same as text, for free(); NULL: no memory
// Replaces the saved file.
int config_save(struct config *c, bool may_be_empty, struct err *e);
// -EPERM: the configuration is empty, the file is not.
int config_refuse_empty(const char *file, struct err *e);
bool document_has_objects(struct json_object *doc);
// The configuration, including secrets, as a file for the client: the parameter savefile.
int config_copy(struct config *c, const struct args *a, struct reply *r, struct err *e);
// One storage object, and the targets that export it, put into the content of that file.
int config_copy_part(struct config *c, struct storage *s, const struct args *a, struct reply *r,
		     struct err *e);
// The file of a command: c->file for NULL and for every path to it.
const char *config_named_file(const struct config *c, const char *path);
void config_note_file(struct config *c); // accepts the current file as ours
struct restore_options {
	const char *only_target, *only_storage; // NULL: everything; restore_is_meant()
	bool is_dry;				// read only: opens no storage, no listeners
	bool is_running;			// keeps and reports existing objects
	bool is_apply;		    // ... changes them to match the document, deletes others
	bool is_undo;		    // ... which was saved here before
	bool may_be_empty;	    // ... and was the whole configuration then
	struct json_object *undone; // ... commands that it undoes, an array
	bool is_forced;		    // data of RAM disks may be lost (plan_run())
};
// Whether the user's text refers to this storage object: its name or path. NULL: any.
bool restore_is_meant(const char *wanted, const char *plugin, const char *name);
// Adds the content of the document, within the transaction. Appends error lines to errors (an
// array); the return code is for fatal errors.
int restore_document(struct config *c, struct json_object *doc, const struct restore_options *o,
		     struct json_object *errors, struct err *e);

// Whether the document can be applied, before anything changes (is_apply): -EBUSY with text if it
// gives an open disk in a file or device another size, which cannot change. If undo does not undo a
// resize of it, the disk keeps its size: a line is added to notes, unless NULL.
int restore_check(struct config *c, struct json_object *doc, const struct restore_options *o,
		  struct json_object *notes, struct err *e);

// ---- groups.c ----
const struct group_row *group_find(const struct node_class *class, const char *name);
const struct attr_row *group_rows(const struct group_row *g);
// The struct that the rows describe, and the memory of its values.
void *group_base(const struct group_row *g, struct node *n);
char *group_memory(const struct group_row *g, struct node *n);
size_t group_get(const struct group_row *g, struct node *n, const struct attr_row *row, char *out,
		 size_t size);
int group_set(const struct group_row *g, struct node *n, const struct attr_row *row,
	      const char *text, struct err *e);
struct json_object *group_schema(const struct group_row *g);
int config_get(struct config *c, struct node *n, const struct args *a, struct reply *r,
	       struct err *e);
// Sets values (an object) of one group: all of them or none.
int config_set(struct config *c, struct node *n, const char *group, struct json_object *values,
	       struct reply *r, struct err *e);

// ---- storage_saved.c ----
extern const struct saved_class storage_saved;
void storage_saved_options(struct storage_type *st); // fills its rows

// ---- storage_class.c ----
int storage_types_new(struct config *c, struct err *e);
void storage_types_free(struct config *c);
