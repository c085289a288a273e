// SPDX-License-Identifier: BSD-2-Clause
// export: creates storage object, target, LUN and ACL in one transaction.
#include "cli/export/export.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "cli/boot/boot.h"
#include "cli/shell/command.h"

static int make_secret(char ret[EXPORT_SECRET_SIZE], struct err *e)
{
	static const char letters[] = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789-.";
	unsigned char random[EXPORT_SECRET_SIZE - 1];
	if (getrandom(random, sizeof random, 0) != sizeof random)
		return err_errno(e, -errno, "secret");
	for (size_t i = 0; i < sizeof random; i++)
		ret[i] = letters[random[i] % (sizeof letters - 1)];
	ret[sizeof random] = 0;
	explicit_bzero(random, sizeof random);
	return 0;
}

#define END (const char *)NULL

static void add_cure(struct err *e, const char *cure)
{
	char text[sizeof e->text];
	snprintf(text, sizeof text, "%s", e->text);
	err_set(e, e->code, "%.120s (%s)", text, cure);
}

// A device that is missing: its directory is /dev, below it, or a link to there.
static bool is_among_devices(const char *path)
{
	char folder[PATH_MAX], real[PATH_MAX];
	const char *slash = strrchr(path, '/');
	if (!slash || slash - path >= PATH_MAX - 1)
		return false;
	snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
	return !strncmp(path, "/dev/", 5) ||
	       (realpath(folder, real) && (!strncmp(real, "/dev/", 5) || !strcmp(real, "/dev")));
}

static int make_storage(struct shell *s, struct export *x, struct err *e)
{
	struct stat st;
	bool is_there = !stat(x->device, &st);
	const char *kind = is_there && S_ISBLK(st.st_mode) ? "block" : "fileio", *dev = "dev";
	const char *readonly = x->is_readonly ? "true" : NULL;
	char where[64];
	if (!is_there && !x->size)
		return err_set(e, -ENOENT, "%.120s: No such file or directory (%s)", x->device,
			       is_among_devices(x->device)
				       ? "is the device connected, and its name right? lsblk lists "
					 "devices"
				       : "use size=SIZE to create a file");
	if (!strcmp(kind, "fileio")) {
		dev = "file_or_dev";
		readonly = NULL; // the mapped LUN has it
	}
	snprintf(where, sizeof where, "/backstores/%s", kind);
	snprintf(x->storage, sizeof x->storage, "%s/%s", where, x->name);
	int r = export_command(s, x, NULL, e, where, "create", END, "name", x->name, dev, x->device,
			       "readonly", readonly, "size", is_there ? NULL : x->size, "cache",
			       x->cache, "force", x->is_forced ? "true" : NULL, END);
	if (r == -EEXIST)
		add_cure(e, "export NAME shares a storage object that exists");
	return r;
}

// The last component of the created path.
static int take_step(char *ret, size_t size, const char *created, struct err *e)
{
	const char *slash = created ? strrchr(created, '/') : NULL;
	if (!slash || strlen(slash + 1) >= size)
		return err_set(e, -EPROTO,
			       "export: unexpected answer of farblockd: created '%.80s'",
			       created ? created : "nothing");
	snprintf(ret, size, "%s", slash + 1);
	return 0;
}

static int make_target(struct shell *s, struct export *x, struct err *e)
{
	char *created = NULL;
	int r = export_command(s, x, &created, e, x->protocol->fabric, "create", END, "wwn",
			       *x->target ? x->target : NULL, END);
	if (r == -EEXIST)
		r = 0;
	else if (!r)
		r = take_step(x->target, sizeof x->target, created, e);
	x->is_new = !r && created;
	free(created);
	return r;
}

static void acl_path(const struct export *x, const struct export_initiator *to,
		     char ret[EXPORT_PATH_SIZE])
{
	char below[EXPORT_NAME_SIZE + 8];
	snprintf(below, sizeof below, "/acls/%s", to->name);
	export_path(x, below, ret);
}

// The ACL and its credentials; an existing ACL keeps its secret.
static int admit(struct shell *s, struct export *x, struct export_initiator *to, struct err *e)
{
	char acls[EXPORT_PATH_SIZE], acl[EXPORT_PATH_SIZE];
	acl_path(x, to, acl);
	export_path(x, "/acls", acls);
	x->is_quiet = true; // it warns that there are no credentials, which follow
	const char *preset = x->is_boot && x->protocol->has_credentials ? "boot" : NULL;
	int r = export_command(s, x, NULL, e, acls, "create", to->name, END, "add_mapped_luns",
			       "false", "preset", preset, END);
	x->is_quiet = false;
	if (r == -EEXIST && !x->password)
		return 0;
	if ((r && r != -EEXIST) || !x->protocol->has_credentials)
		return r;
	r = x->password ? 0 : make_secret(to->secret, e);
	return r ? r
		 : export_command(s, x, NULL, e, acl, "set", "auth", END, "userid", to->user,
				  "password", x->password ? x->password : to->secret, END);
}

static int map(struct shell *s, struct export *x, const struct export_initiator *to, struct err *e)
{
	char acl[EXPORT_PATH_SIZE];
	acl_path(x, to, acl);
	return export_command(s, x, NULL, e, acl, "create", x->lun, x->lun, END, "write_protect",
			      x->is_readonly ? "true" : NULL, END);
}

static int take_lun(struct export *x, const char *created, struct err *e)
{
	char step[16];
	int r = take_step(step, sizeof step, created, e);
	if (!r && strncmp(step, "lun", 3))
		r = err_set(e, -EPROTO, "export: farblockd created an unexpected LUN '%s'", step);
	if (!r)
		snprintf(x->lun, sizeof x->lun, "%.7s", step + 3);
	return r;
}

static int share(struct shell *s, struct export *x, struct err *e)
{
	char luns[EXPORT_PATH_SIZE], *created = NULL;
	export_path(x, "/luns", luns);
	int r = export_command(s, x, &created, e, luns, "create", x->storage, END,
			       "add_mapped_luns", "false", END);
	if (r == -EEXIST)
		r = export_find_lun(s, x, e);
	else if (!r)
		r = take_lun(x, created, e);
	free(created);
	for (unsigned i = 0; !r && i < x->count; i++)
		r = map(s, x, &x->to[i], e);
	return r;
}

// A new file remains if a later step fails: so storage comes after the steps that fail for invalid
// names.
static int make_parts(struct shell *s, struct export *x, struct err *e)
{
	int r = make_target(s, x, e);
	for (unsigned i = 0; !r && i < x->count; i++)
		r = admit(s, x, &x->to[i], e);
	if (!r)
		r = export_make_portal(s, x, e);
	if (!r && !*x->storage)
		r = make_storage(s, x, e);
	return r ? r : share(s, x, e);
}

static int make_all(struct shell *s, struct export *x, struct err *e)
{
	struct err ignored;
	int r = export_command(s, x, NULL, e, "/", "begin", END, END);
	if (r < 0)
		return r;
	r = make_parts(s, x, e);
	if (!r)
		r = export_command(s, x, NULL, e, "/", "commit", END, END);
	if (r < 0)
		export_command(s, x, NULL, &ignored, "/", "abort", END, END);
	else
		export_look_at_portal(s, x);
	return r;
}

// ---- the result ----

// What the initiator needs to boot from the LUN; NULL: it was not asked for, or cannot be found out
// any more.
static struct json_object *boot_of(struct shell *s, const struct export *x, unsigned i)
{
	char below[24], path[EXPORT_PATH_SIZE];
	struct json_object *ret = NULL;
	struct err ignored;
	snprintf(below, sizeof below, "/luns/lun%.7s", x->lun);
	export_path(x, below, path);
	return x->is_boot && !boot_info(s, path, x->to[i].name, &ret, &ignored) ? ret : NULL;
}

static void show_boot(struct shell *s, const struct export *x)
{
	for (unsigned i = 0; i < x->count; i++) {
		struct json_object *boot = boot_of(s, x, i);
		if (boot)
			fprintf(s->look.out, "\nTo boot from it:\n");
		if (boot)
			boot_show(boot, s->look.out);
		json_object_put(boot);
	}
}

static void show_answer(struct shell *s, const struct export *x)
{
	struct json_object *o;
	if (!s->is_json) {
		export_lines(x, s->look.out);
		show_boot(s, x);
		return;
	}
	o = export_json(x);
	for (unsigned i = 0; i < x->count && x->is_boot; i++)
		json_object_array_add(json_list(o, "boot"), boot_of(s, x, i));
	show_json_once(&s->look, o);
}

static int run(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	struct export x;
	int r = export_read(&x, l, e);
	if (!r)
		r = export_find_storage(s, &x, e);
	if (!r)
		r = make_all(s, &x, e);
	if (!r)
		show_answer(s, &x);
	explicit_bzero(x.to, sizeof x.to);
	json_object_put(x.warnings);
	free(x.device);
	return r;
}

const struct shell_command command_export = {
	"export", export_params,
	"Share a disk with an initiator, and print the commands that attach it.", run,
	.is_open = true
};
