// SPDX-License-Identifier: BSD-2-Clause
// /backstores/TYPE and its storage objects in the tree: commands built from the type's
// option rows, summaries, links.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"
#include "target/config/file/document.h"
#include "target/config/file/saved_file.h"
#include "target/config/storage/storage.h"
#include "target/config/tree/settings.h"
#include "target/config/tree/in_use.h"
#include "target/config/tree/names.h"
#include "target/scsi/lu.h"
#include "target/scsi/medium.h"

// ---- commands of /backstores/TYPE ----

static int set_options(struct storage *s, const struct args *a, struct err *e)
{
	for (int i = 0; s->type->options[i].name; i++) {
		const char *name = s->type->options[i].name;
		int r = arg_given(a, name) ? storage_set_option(s, name, arg(a, name), e) : 0;
		if (r < 0)
			return r;
	}
	const char *dev = storage_get_option(s, "dev"), *wwn = arg(a, "wwn");
	const char *base = storage_get_option(s, "base");
	int r = dev ? name_check_dev(dev, e) : 0;
	if (!r && base)
		r = name_check_dev(base, e);
	if (r < 0 || !wwn)
		return r;
	r = name_check_wwn(wwn, e);
	if (!r)
		snprintf(s->wwn, sizeof s->wwn, "%s", wwn);
	return r;
}

// Initiators identify a disk by its serial: two disks with the same one look like two paths to one
// disk, and writes go to either.
static int refuse_same_serial(struct config *c, const struct storage *s, struct err *e)
{
	storage_each (other, c)
		if (other != s && !strcasecmp(other->wwn, s->wwn))
			return err_set(e, -EEXIST, "wwn: %s is used by storage object %s/%s",
				       s->wwn, other->node.parent->name, other->node.name);
	return 0;
}

static int refuse_twin(struct config *c, const struct storage *s, struct err *e)
{
	const char *dev = storage_get_option(s, "dev");
	const struct storage *other = storage_at(c, dev);
	if (!other)
		return 0;
	return err_set(e, -EEXIST, "storage object for %s already exists: %s", dev,
		       other->node.name);
}

static void say_note(const char *note, struct reply *r)
{
	while (*note) {
		size_t len = strcspn(note, "\n");
		if (len)
			reply_say(r, "%.*s", (int)len, note);
		note += len + (note[len] == '\n');
	}
}

static void say_created(const struct storage *s, struct reply *r)
{
	char size[32];
	const char *dev = storage_get_option(s, "dev");
	say_note(lu_backstore(s->lu)->note, r);
	format_size(storage_size(s), size);
	if (!strcmp(s->type->name, "fileio"))
		reply_say(r, "Created fileio %s with size %" PRIu64, s->node.name, storage_size(s));
	else if (!strcmp(s->type->name, "block"))
		reply_say(r, "Created block storage object %s using %s.", s->node.name, dev);
	else if (dev)
		reply_say(r, "Created %s storage object %s using %s", s->type->name, s->node.name,
			  dev);
	else
		reply_say(r, "Created %s %s with size %s.", s->type->name, s->node.name, size);
}

static bool asks_for_cache(const struct storage *s)
{
	const char *cache = storage_get_option(s, "cache");
	return is_yes(storage_get_option(s, "write_back")) ||
	       (cache && strcmp(cache, backstore_cache_name(BS_CACHE_WRITETHROUGH)));
}

static int create(struct config *c, struct node *n, const struct args *a, struct reply *r,
		  struct err *e)
{
	struct storage_type *st = NODE_OF(struct storage_type, n);
	struct storage *s;
	int code = storage_new(c, &s, st->type, arg(a, "name"), e);
	if (code < 0)
		return code;
	if (c->prefs.export_backstore_name_as_model)
		attr_set(attr_find(lu_attr_rows, "emulate_model_alias"), &s->attr, "1", NULL);
	code = set_options(s, a, e);
	s->accepts_data = !arg_bool(a, "inspect", true);
	// A volatile cache is reported as one.
	if (!code && asks_for_cache(s))
		attr_set(attr_find(lu_attr_rows, "emulate_write_cache"), &s->attr, "1", NULL);
	if (!code && arg_given(a, "wwn"))
		code = refuse_same_serial(c, s, e);
	if (!code)
		code = refuse_twin(c, s, e);
	if (!code)
		code = storage_open(s, true, e);
	if (!code) {
		s->node.class->attached(c, &s->node, true); // now it has a device path
		say_created(s, r);
		code = tree_appeared(c, &s->node, r, e);
	}
	return code;
}

static int resize(struct config *c, struct node *n, const struct args *a, struct reply *r,
		  struct err *e)
{
	struct storage *s = NODE_OF(struct storage, n);
	const char *text = arg(a, "size");
	char shown[32];
	uint64_t size = 0;
	bool has_changed = false;
	if (!s->lu)
		return err_set(e, -EAGAIN, "%s: waiting: %s", s->node.name, s->reason);
	size_t noted = strlen(lu_backstore(s->lu)->note);
	int code = text ? parse_size(text, &size, e) : 0;
	if (!code && text)
		code = backstore_resize(lu_backstore(s->lu), size, e);
	else if (!code)
		code = backstore_refresh(lu_backstore(s->lu), &has_changed, e);
	if (code < 0)
		return code;
	say_note(lu_backstore(s->lu)->note + noted, r);
	size = backstore_size(lu_backstore(s->lu));
	if (has_changed || text)
		lu_set_size(s->lu, size);
	c->storage->resizes++;
	txn_touch(c); // its size is saved
	format_size(size, shown);
	reply_say(r, "%s now has %s.", s->node.name, shown);
	return 0;
}

static int saveconfig(struct config *c, struct node *n, const struct args *a, struct reply *r,
		      struct err *e)
{
	const char *file = config_named_file(c, arg(a, "savefile"));
	int code = file == c->file ? config_save(c, false, e) // which always contains everything
				   : config_copy_part(c, n, a, r, e);
	if (!code)
		reply_say(r, "Storage Object '%s:%s' saved to %s.", n->parent->name, n->name, file);
	return code;
}

// clang-format off
static const struct command_row object_commands[] = {
	{ "resize", PARAMS(
		{ "size", PARAM_SIZE, false, NULL,
		  "new size (default: the current size of the storage)" }),
	  "Grow the storage, or detect its new size.", false, resize, .is_report = true },
	{ "reset", PARAMS(
		{ "force", PARAM_BOOL, false, "false", "true: reset it even if in use" },
		{ "confirm", PARAM_BOOL, false, "false", "true: required to confirm, unless force=true" }),
	  "Discard what was written over the base: the disk is as the base again.", false,
	  storage_reset },
	{ "saveconfig", PARAMS(
		{ "savefile", PARAM_COPY, false, NULL, "file (default: the daemon's own)" }),
	  "Save this storage object and its targets only.", false, saveconfig },
	{ 0 },
};
// clang-format on

static void attach(struct config *c, struct node *n, bool is_attached)
{
	struct storage *s = NODE_OF(struct storage, n);
	const char *dev = storage_get_option(s, "dev");
	if (is_attached && !s->lu && !list_linked(&s->waiting_link))
		list_push_back(&c->storage->waiting, &s->waiting_link);
	else if (!is_attached)
		list_remove(&s->waiting_link);
	if (!dev)
		return;
	// Two restored objects may have one path: look-ups find the first.
	if (is_attached)
		map_put(&c->storage->paths, &c->storage->paths, dev, s);
	else if (storage_at(c, dev) == s)
		map_remove(&c->storage->paths, &c->storage->paths, dev);
}

static bool is_used(const struct node *n, const struct session_place *p)
{
	const struct storage *s = NODE_OF(const struct storage, n);
	list_each (const struct lun, l, &s->luns, storage_link)
		if (l->node.class->is_used(&l->node, p))
			return true;
	return false;
}

static int remove_luns(struct config *c, struct node *n, struct err *e)
{
	struct list *luns = &NODE_OF(struct storage, n)->luns;
	int r = 0;
	while (!r && !list_empty(luns))
		r = tree_remove(c, &list_entry(luns->next, struct lun, storage_link)->node, e);
	return r;
}

// At the end of the summary: why no block of an open disk can be accessed.
static void summarize_sanitize(const struct lu *lu, struct summary *ret)
{
	uint32_t state = sanitize_state(lu);
	size_t n = strlen(ret->text);
	if (state == SANITIZE_FAILED)
		snprintf(ret->text + n, sizeof ret->text - n, ", SANITIZE is due");
	else if (state != SANITIZE_IDLE)
		snprintf(ret->text + n, sizeof ret->text - n, ", SANITIZE runs: %u%%",
			 sanitize_percent(state));
	ret->is_broken = state == SANITIZE_FAILED;
	ret->is_healthy = !ret->is_broken;
}

static void summarize_path(const struct storage *s, struct summary *ret)
{
	size_t n = strlen(ret->text);
	if (s->path == BS_PATH_SAME)
		return;
	snprintf(ret->text + n, sizeof ret->text - n, ", its %s was %s while in use",
		 strcmp(s->type->name, "block") ? "file" : "device",
		 s->path == BS_PATH_REMOVED ? "removed" : "replaced");
	ret->is_broken = true;
	ret->is_healthy = false;
}

// targetcli's words, unless a mode was chosen.
static void cache_summary(const struct storage *s, char *ret, size_t size)
{
	const char *chosen = storage_get_option(s, "cache");
	bool has_cache = lu_backstore(s->lu)->limits.has_write_cache;
	if (chosen)
		snprintf(ret, size, "cache=%s ", chosen);
	else
		snprintf(ret, size, "%s", has_cache ? "write-back " : "write-thru ");
}

// A file below /dev takes the place of a missing device.
static void summarize_memory(const struct storage *s, struct summary *ret)
{
	enum bs_memory memory = lu_backstore(s->lu)->limits.in_memory;
	size_t n = strlen(ret->text);
	if (memory == BS_ON_STORAGE)
		return;
	snprintf(ret->text + n, sizeof ret->text - n, "%s, lost at reboot",
		 memory == BS_AMONG_NODES ? ", a file in memory, not a device" : ", in memory");
	ret->is_broken |= memory == BS_AMONG_NODES;
	ret->is_healthy &= memory != BS_AMONG_NODES;
}

static void summarize_base(const struct storage *s, struct summary *ret)
{
	enum bs_overlay overlay = lu_backstore(s->lu)->limits.overlay;
	const char *base = storage_get_option(s, "base");
	size_t n = strlen(ret->text);
	char shown[120];
	if (!overlay || !base)
		return;
	utf8_show(base, shown, sizeof shown);
	snprintf(ret->text + n, sizeof ret->text - n, ", %s of %s",
		 overlay == BS_OVERLAY_CLONE ? "clone" : "overlay", shown);
}

static void summarize(struct config *c, const struct node *n, struct summary *ret)
{
	const struct storage *s = NODE_OF(const struct storage, n);
	const char *dev = storage_get_option(s, "dev");
	const char *nullio = storage_get_option(s, "nullio");
	char size[32], shown[200] = "", cache[32] = "";
	bool has_cache = strcmp(s->type->name, "ramdisk") && strcmp(s->type->name, "null") &&
			 strcmp(s->type->name, "pscsi");
	if (!s->lu) {
		if (dev && strstr(s->reason, dev)) // once is enough
			dev = NULL;
		char why[200];
		utf8_show(s->reason, why, sizeof why);
		if (dev) // a restored one may have any name
			utf8_show(dev, shown, 100);
		snprintf(ret->text, sizeof ret->text, "%s%swaiting: %s", shown, dev ? " " : "",
			 why);
		ret->is_broken = true;
		return;
	}
	format_size(storage_size(s), size);
	if (dev)
		utf8_show(dev, shown, sizeof shown);
	if (has_cache)
		cache_summary(s, cache, sizeof cache);
	snprintf(ret->text, sizeof ret->text, "%s%s%s(%s) %s%s%s", is_yes(nullio) ? "nullio " : "",
		 shown, dev ? " " : "", size, lu_backstore(s->lu)->limits.is_readonly ? "ro " : "",
		 cache, s->lun_count ? "activated" : "deactivated");
	summarize_base(s, ret);
	summarize_sanitize(s->lu, ret);
	summarize_path(s, ret);
	summarize_memory(s, ret);
}

static void sanitize_info(const struct lu *lu, struct json_object *ret)
{
	uint32_t state = sanitize_state(lu);
	if (state == SANITIZE_IDLE)
		return;
	json_put_text(ret, "sanitize", state == SANITIZE_FAILED ? "due" : "running");
	if (state != SANITIZE_FAILED)
		json_put_number(ret, "sanitize_percent", sanitize_percent(state));
	else
		json_put_bool(ret, "sanitize_may_be_left", sanitize_may_be_left(lu));
}

// Its lines, joined.
static void put_note(const char *note, struct json_object *ret)
{
	char line[2 * sizeof((struct backstore *)0)->note];
	size_t n = 0;
	for (; *note; note++) {
		if (*note == '\n')
			line[n++] = ';';
		line[n++] = *note == '\n' ? ' ' : *note;
	}
	line[n] = 0;
	json_put_text(ret, "note", line);
}

static void info(struct config *c, const struct node *n, struct json_object *ret)
{
	const struct storage *s = NODE_OF(const struct storage, n);
	json_put_text(ret, "plugin", s->type->name);
	for (int i = 0; s->type->options[i].name; i++)
		json_put_text(ret, s->type->options[i].name, s->option[i]);
	json_put_text(ret, "wwn", s->wwn);
	json_put_number(ret, "size", storage_size(s));
	json_put_text(ret, "state", s->lu ? "open" : "waiting");
	if (!s->lu)
		json_put_text(ret, "reason", s->reason);
	if (s->lu && lu_cache_name(s->lu))
		json_put_text(ret, "cache_mode", lu_cache_name(s->lu));
	if (s->lu && lu_backstore(s->lu)->note[0])
		put_note(lu_backstore(s->lu)->note, ret);
	if (s->lu && s->path != BS_PATH_SAME)
		json_put_text(ret, "backing", s->path == BS_PATH_REMOVED ? "removed" : "replaced");
	if (s->lu && lu_backstore(s->lu)->limits.in_memory)
		json_put_bool(ret, "lost_at_reboot", true);
	if (s->lu)
		sanitize_info(s->lu, ret);
	struct json_object *luns = json_list(ret, "luns");
	list_each (const struct lun, l, &s->luns, storage_link) {
		char path[600];
		node_path(&l->node, path, sizeof path);
		json_add_text(luns, path);
	}
}

const struct node_class storage_class = {
	.name = "storage",
	.help = "A storage object",
	.saved = &storage_saved,
	.remove_users = remove_luns,
	.is_used = is_used,
	.no_effect = storage_no_effect,
	.commands = object_commands,
	.groups = storage_groups,
	.summary = summarize,
	.info = info,
	.attached = attach,
	.free = storage_free,
};

const struct node_class backstores_class = {
	.name = "backstores",
	.help = "Storage objects by type",
};

// clang-format off
static const struct param_row name_params[] = {
	{ "name", PARAM_CHILD, true, NULL, "name of the storage object", NULL },
	{ "save", PARAM_BOOL, false, NULL, "accepted for compatibility: every change is saved",
	  NULL },
	PARAM_FORCE,
	{ 0 },
};
// clang-format on

static const enum param_type param_types[] = {
	[BS_OPT_STRING] = PARAM_STRING, [BS_OPT_PATH] = PARAM_FILE,	[BS_OPT_SIZE] = PARAM_SIZE,
	[BS_OPT_BOOL] = PARAM_BOOL,	[BS_OPT_CHOICE] = PARAM_STRING,
};

static void add_options(struct storage_type *st, unsigned *n, bool is_own)
{
	for (const struct bs_option *o = st->type->options; o->name && *n <= STORAGE_OPTIONS_MAX;
	     o++) {
		if (o->is_own != is_own)
			continue;
		bool is_file_or_dev = !strcmp(st->type->name, "fileio") && !strcmp(o->name, "dev");
		st->params[(*n)++] = (struct param_row){
			.name = is_file_or_dev ? "file_or_dev" : o->name, // targetcli's term
			.type = param_types[o->type],
			.is_required = o->is_required,
			.default_text = o->is_required ? NULL : o->default_text,
			.help = o->help,
			.alias = is_file_or_dev ? o->name : NULL,
			.choices = o->choices,
		};
	}
}

// create NAME, targetcli's options, WWN, in its order, then ours.
static void build_params(struct storage_type *st)
{
	unsigned n = 0;
	st->params[n++] =
		(struct param_row){ "name", PARAM_STRING, true, NULL, "name of the storage object",
				    NULL };
	add_options(st, &n, false);
	st->params[n++] = (struct param_row){
		"wwn", PARAM_STRING, false, NULL, "unit serial, a UUID (default: generated)", NULL
	};
	add_options(st, &n, true);
	if (st->type->inspects)
		st->params[n++] = (struct param_row)PARAM_INSPECT;
}

static int init_type(struct config *c, struct storage_type *st, const struct backstore_type *type)
{
	st->type = type;
	st->objects = &storage_class;
	build_params(st);
	storage_saved_options(st);
	st->commands[0] = (struct command_row){ "create", st->params, type->help, false, create };
	st->commands[1] = (struct command_row){ "delete", name_params,
						"Delete a storage object and the LUNs that use it.",
						false, delete_child };
	snprintf(st->class_name, sizeof st->class_name, "backstores.%s", type->name);
	st->class = (struct node_class){
		.name = st->class_name,
		.child = {"No storage object named %s.", "Deleted storage object %s."},
		.help = type->help,
		.commands = st->commands,
		.counts = "Storage Objects",
	};
	int r = node_init(&st->node, &st->class, type->name);
	return r ? r : node_attach(&c->names, &c->backstores, &st->node);
}

int storage_types_new(struct config *c, struct err *e)
{
	unsigned n = 0;
	while (backstore_types[n])
		n++;
	c->storage->types = calloc(n, sizeof *c->storage->types);
	for (unsigned i = 0; c->storage->types && i < n; i++, c->storage->type_count++)
		if (init_type(c, &c->storage->types[i], backstore_types[i]) < 0)
			break;
	return c->storage->type_count == n ? 0 : err_set(e, -ENOMEM, "backstores: out of memory");
}

void storage_types_free(struct config *c)
{
	for (unsigned i = 0; i < c->storage->type_count; i++)
		node_done(&c->storage->types[i].node);
	free(c->storage->types);
	c->storage->types = NULL;
	c->storage->type_count = 0;
}
