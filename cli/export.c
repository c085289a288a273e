// SPDX-License-Identifier: BSD-2-Clause
// export: storage object, target, LUN and ACL in one transaction, all or nothing.
#include "cli/export.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "core/attr.h"

// ---- what is asked for ----

// The value of NAME, as name=value or as --name value; a flag's is "true".
static const char *option(const struct line *l, const char *name, bool is_flag)
{
	for (unsigned i = 0; i < l->count; i++) {
		const struct line_value *v = &l->values[i];
		if (v->name && !strcmp(v->name, name))
			return v->text;
		if (v->name && !strncmp(v->name, "--", 2) && !strcmp(v->name + 2, name))
			return v->text;
		if (v->name || strncmp(v->text, "--", 2) || strcmp(v->text + 2, name))
			continue;
		if (is_flag)
			return "true";
		return i + 1 < l->count && !l->values[i + 1].name ? l->values[i + 1].text : NULL;
	}
	return NULL;
}

static int flag(const struct line *l, const char *name, bool *ret, struct err *e)
{
	const char *text = option(l, name, true);
	*ret = false;
	if (text && !parse_bool(text, ret))
		return err_set(e, -EINVAL, "%s: '%.60s' is not true|false.", name, text);
	return 0;
}

static int read_flags(struct export *x, const struct line *l, struct err *e)
{
	bool has_srp;
	int r = flag(l, "ro", &x->is_readonly, e);
	r = r ? r : flag(l, "iser", &x->has_iser, e);
	r = r ? r : flag(l, "srp", &has_srp, e);
	return !r && has_srp ? err_set(e, -EOPNOTSUPP, "export: SRP is not built in yet") : r;
}

static const char *const options[] = { "to",	 "target",   "size",   "ro",   "iser",	"srp",
				       "userid", "password", "portal", "name", "device" };

static bool is_known(const char *name)
{
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		if (!strcmp(options[i], name))
			return true;
	return false;
}

// What nobody knows is refused before anything is made.
static int check_names(const struct line *l, struct err *e)
{
	for (unsigned i = 0; i < l->count; i++) {
		const struct line_value *v = &l->values[i];
		const char *name = v->name ? v->name : strncmp(v->text, "--", 2) ? NULL : v->text;
		if (name && !strncmp(name, "--", 2))
			name += 2;
		if (name && !is_known(name))
			return err_set(e, -EBADRQC, "Unexpected keyword parameter '%.60s'.", name);
	}
	return 0;
}

// A name for the storage object: the last part of the path, as far as names may have it.
static void name_of(struct export *x, const char *given)
{
	const char *slash = strrchr(x->device, '/'), *from = slash ? slash + 1 : x->device;
	size_t n = 0;
	for (const char *p = given ? given : from; *p && n < sizeof x->name - 1; p++)
		x->name[n++] = strchr(" /:@[]*=;#'\"\\", *p) ? '-' : *p;
	if (!given && n > 4 && !strcmp(x->name + n - 4, ".img"))
		n -= 4;
	x->name[n] = 0;
}

static int make_secret(struct export *x, struct err *e)
{
	static const char letters[] = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789-.";
	unsigned char random[EXPORT_SECRET_SIZE - 1];
	if (getrandom(random, sizeof random, 0) != sizeof random)
		return err_errno(e, -errno, "secret");
	for (size_t i = 0; i < sizeof random; i++)
		x->secret[i] = letters[random[i] % (sizeof letters - 1)];
	explicit_bzero(random, sizeof random);
	return 0;
}

// The first address of this machine that others may use, for the lines that are printed.
static void own_address(char *ret, size_t size)
{
	struct ifaddrs *list = NULL;
	snprintf(ret, size, "127.0.0.1");
	if (getifaddrs(&list) < 0)
		return;
	for (struct ifaddrs *i = list; i; i = i->ifa_next) {
		bool is_usable = i->ifa_addr && i->ifa_addr->sa_family == AF_INET &&
				 i->ifa_flags & IFF_UP && !(i->ifa_flags & IFF_LOOPBACK);
		if (is_usable && !getnameinfo(i->ifa_addr, sizeof(struct sockaddr_in), ret,
					      (socklen_t)size, NULL, 0, NI_NUMERICHOST))
			break;
	}
	freeifaddrs(list);
}

static int set_portal(struct export *x, struct err *e)
{
	snprintf(x->port, sizeof x->port, "3260");
	if (!x->portal) {
		own_address(x->address, sizeof x->address);
		return 0;
	}
	const char *colon = strrchr(x->portal, ':');
	bool has_port = colon && (colon[-1] == ']' || strchr(x->portal, ':') == colon);
	size_t len = has_port ? (size_t)(colon - x->portal) : strlen(x->portal);
	if (!len || len >= sizeof x->address || (has_port && strlen(colon + 1) >= sizeof x->port))
		return err_set(e, -EINVAL, "portal: '%.80s' is no ADDRESS[:PORT]", x->portal);
	memcpy(x->address, x->portal, len);
	x->address[len] = 0;
	if (has_port)
		snprintf(x->port, sizeof x->port, "%s", colon + 1);
	return 0;
}

static int read_options(struct export *x, const struct line *l, struct err *e)
{
	const char *first = line_positional(l, 0), *given = option(l, "target", false);
	const char *device = option(l, "device", false);
	*x = (struct export){
		.size = option(l, "size", false),
		.initiator = option(l, "to", false),
		.user = option(l, "userid", false),
		.portal = option(l, "portal", false),
		.password = option(l, "password", false),
	};
	int r = check_names(l, e);
	if (!r)
		r = read_flags(x, l, e);
	if (r < 0)
		return r;
	if (!device && first && strncmp(first, "--", 2))
		device = first;
	if (!device || !x->initiator)
		return err_set(e, -EBADRQC,
			       "Missing required parameter '%s' (export DEVICE to=INITIATOR)",
			       device ? "to" : "device");
	x->device = shell_whole_path(device);
	if (!x->device)
		return err_set(e, -ENOMEM, "out of memory");
	if (given)
		snprintf(x->target, sizeof x->target, "%s", given);
	const char *colon = strrchr(x->initiator, ':');
	if (!x->user)
		x->user = colon && colon[1] ? colon + 1 : x->initiator;
	name_of(x, option(l, "name", false));
	r = set_portal(x, e);
	return r || x->password ? r : make_secret(x, e);
}

// ---- what is done ----

// One command of the daemon: words without a name, then, behind a NULL, name=value pairs. The
// reply's first message, for free(), in *ret unless that is NULL.
static int command(struct shell *s, char **ret, struct err *e, const char *path, const char *name,
		   ...)
{
	struct json_object *p = params_at(path), *list = json_object_new_array();
	struct json_object *named = json_object_new_object(), *o;
	const char *word, *value;
	va_list ap;
	va_start(ap, name);
	while ((word = va_arg(ap, const char *)))
		json_object_array_add(list, json_object_new_string(word));
	while ((word = va_arg(ap, const char *))) {
		value = va_arg(ap, const char *);
		if (value)
			json_object_object_add(named, word, json_object_new_string(value));
	}
	va_end(ap);
	json_object_object_add(p, "command", json_object_new_string(name));
	json_object_object_add(p, "positional", list);
	json_object_object_add(p, "named", named);
	int r = shell_call(s, "tree.run", p, &o, e);
	if (r < 0)
		return r;
	struct json_object *messages = field(o, "messages");
	if (ret && messages && json_object_is_type(messages, json_type_array) &&
	    json_object_array_length(messages))
		*ret = strdup(json_object_get_string(json_object_array_get_idx(messages, 0)));
	json_object_put(o);
	return 0;
}
#define END (const char *)NULL

static int make_storage(struct shell *s, const struct export *x, char path[128], struct err *e)
{
	struct stat st;
	bool is_there = !stat(x->device, &st);
	const char *kind = is_there && S_ISBLK(st.st_mode) ? "block" : "fileio", *dev = "dev";
	const char *readonly = x->is_readonly ? "true" : NULL;
	char where[64];
	if (!is_there && !x->size)
		return err_set(e, -ENOENT, "%.120s: %s (size=SIZE makes a file there)", x->device,
			       strerror(errno));
	if (!strcmp(kind, "fileio")) {
		dev = "file_or_dev";
		readonly = NULL; // the mapping says it
	}
	snprintf(where, sizeof where, "/backstores/%s", kind);
	snprintf(path, 128, "%s/%s", where, x->name);
	return command(s, NULL, e, where, "create", END, "name", x->name, dev, x->device,
		       "readonly", readonly, "size", is_there ? NULL : x->size, END);
}

// The word of a message behind a prefix, up to its last dot.
static int word_behind(const char *message, const char *prefix, char *ret, size_t size,
		       struct err *e)
{
	size_t len = strlen(prefix), n = message ? strlen(message) : 0;
	if (n < len + 2 || strncmp(message, prefix, len) || n - len - 1 >= size)
		return err_set(e, -EPROTO, "export: farblockd answered '%.80s'",
			       message ? message : "nothing");
	memcpy(ret, message + len, n - len - 1);
	ret[n - len - 1] = 0;
	return 0;
}

static int make_target(struct shell *s, struct export *x, struct err *e)
{
	char *told = NULL;
	int r = command(s, &told, e, "/iscsi", "create", END, "wwn", *x->target ? x->target : NULL,
			END);
	if (r == -EEXIST)
		r = 0;
	else if (!r)
		r = word_behind(told, "Created target ", x->target, sizeof x->target, e);
	free(told);
	return r;
}

// The ACL, and what proves who it is; one that is there keeps its secret.
static int admit(struct shell *s, struct export *x, struct err *e)
{
	char acls[300], acl[560];
	snprintf(acls, sizeof acls, "/iscsi/%s/tpg1/acls", x->target);
	snprintf(acl, sizeof acl, "%s/%s", acls, x->initiator);
	int r = command(s, NULL, e, acls, "create", x->initiator, END, "add_mapped_luns", "false",
			END);
	bool is_new = !r;
	if (r && r != -EEXIST)
		return r;
	if (!is_new && !x->password) {
		explicit_bzero(x->secret, sizeof x->secret);
		return 0;
	}
	return command(s, NULL, e, acl, "set", "auth", END, "userid", x->user, "password",
		       x->password ? x->password : x->secret, END);
}

static int share(struct shell *s, struct export *x, const char *storage, struct err *e)
{
	char luns[300], acl[560], *told = NULL;
	snprintf(luns, sizeof luns, "/iscsi/%s/tpg1/luns", x->target);
	snprintf(acl, sizeof acl, "/iscsi/%s/tpg1/acls/%s", x->target, x->initiator);
	int r = command(s, &told, e, luns, "create", storage, END, "add_mapped_luns", "false", END);
	if (!r)
		r = word_behind(told, "Created LUN ", x->lun, sizeof x->lun, e);
	free(told);
	if (!r)
		r = command(s, NULL, e, acl, "create", x->lun, x->lun, END, "write_protect",
			    x->is_readonly ? "true" : NULL, END);
	return r;
}

// A file that is made stays when the rest is taken back: storage comes after what names may spoil.
static int make_all(struct shell *s, struct export *x, struct err *e)
{
	char storage[128];
	struct err ignored;
	int r = command(s, NULL, e, "/", "begin", END, END);
	if (r < 0)
		return r;
	r = make_target(s, x, e);
	if (!r)
		r = admit(s, x, e);
	if (!r)
		r = make_storage(s, x, storage, e);
	if (!r)
		r = share(s, x, storage, e);
	if (!r)
		r = command(s, NULL, e, "/", "commit", END, END);
	if (r < 0)
		command(s, NULL, &ignored, "/", "abort", END, END);
	return r;
}

static int run(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	struct export x;
	int r = read_options(&x, l, e);
	if (!r)
		r = make_all(s, &x, e);
	if (!r && s->is_json) {
		struct json_object *o = export_json(&x);
		show_json(&s->look, o);
		json_object_put(o);
	} else if (!r) {
		export_lines(&x, s->look.out);
	}
	explicit_bzero(x.secret, sizeof x.secret);
	free(x.device);
	return r;
}

// clang-format off
static const struct shell_param params[] = {
	{"device", "file", true, NULL, "block device or file; a file is made when there is a size"},
	{"to", "string", true, NULL, "name of the initiator that may log in"},
	{"target", "string", false, NULL, "name of a target, made if it is not there; by default a new one"},
	{"name", "string", false, NULL, "of the storage object; by default the file's"},
	{"size", "size", false, NULL, "of a file that is made"},
	{"ro", "bool", false, "false", "the initiator may not write"},
	{"iser", "bool", false, "false", "prints what attaches it over iSER"},
	{"srp", "bool", false, "false", "refused: SRP is not built in yet"},
	{"userid", "string", false, NULL, "CHAP name; by default the end of the initiator's name"},
	{"password", "string", false, NULL, "CHAP secret; by default one is made and shown"},
	{"portal", "string", false, NULL, "ADDRESS[:PORT] that the printed lines name"},
	{0},
};
// clang-format on

const struct shell_command command_export = {
	"export", params, "Shares a disk with an initiator, and prints what attaches it.", run
};
