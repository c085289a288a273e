// SPDX-License-Identifier: BSD-2-Clause
// export: parses its line. Values are positional, name=value, --name value or --name=value. Pure.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/command.h"
#include "cli/export/export.h"
#include "cli/shell/files.h"
#include "core/attr.h"

// clang-format off
const struct shell_param export_params[] = {
	{"device", "file", true, NULL, "block device or file (created if size= is given), or an existing storage object"},
	{"to", "string", true, NULL, "names of the initiators to admit, separated by commas"},
	{"target", "string", false, NULL, "name of the target, created if missing; default: a new target"},
	{"name", "string", false, NULL, "name of the storage object; default: the file's name"},
	{"size", "size", false, NULL, "size of the file to create"},
	{"ro", "bool", false, "false", "read-only for the initiator"},
	{"iser", "bool", false, "false", "enable iSER at the portal, and print commands for iSER"},
	{"srp", "bool", false, "false", "share it over SRP, with port ids, GUIDs or addresses as initiators"},
	{"userid", "string", false, NULL, "CHAP name; default: the end of the initiator's name"},
	{"password", "string", false, NULL, "CHAP secret; default: generated and shown"},
	{"portal", "string", false, NULL,
	 "ADDRESS[:PORT] to listen on, created if missing; default: a portal of the target, or 0.0.0.0:3260 (SRP: 0.0.0.0:3261)"},
	{"force", "bool", false, "false", "accept a device that is mounted, in use or not empty"},
	{"boot", "bool", false, "false", "also print what a machine needs to boot from it (see boot-info); new ACLs of iSCSI get the preset boot"},
	{"cache", "string", false, NULL,
	 "what makes writes durable: none, writethrough or writeback; default: of the storage object"},
	{0},
};
// clang-format on

// Values by parameter of export_params.
struct values {
	const char *text[16];
	bool is_positional[16];
};

static int find(const char *name, size_t len)
{
	const struct shell_param *p = export_params;
	for (int i = 0; p[i].name; i++)
		if (strlen(p[i].name) == len && !strncmp(p[i].name, name, len))
			return i;
	return -1;
}

static bool is_flag(int i)
{
	return !strcmp(export_params[i].type, "bool");
}

static int put(struct values *v, const char *name, const char *text, struct err *e)
{
	int i = find(name, strlen(name));
	if (i < 0)
		return err_set(e, -EBADRQC, "Unexpected keyword parameter '%.60s'.", name);
	if (v->text[i] && v->is_positional[i])
		return err_set(e, -EBADRQC,
			       "%s: given by position, as '%.60s', and by name (name the other "
			       "values, such as size=SIZE)",
			       name, v->text[i]);
	if (v->text[i])
		return err_set(e, -EBADRQC, "%s: given twice%s", name,
			       strcmp(name, "to") ? ""
						  : " (use to=INITIATOR,INITIATOR for several)");
	v->text[i] = text;
	return 0;
}

// A positional value belongs to the first parameter without a value.
static int put_next(struct values *v, const char *text, struct err *e)
{
	for (int i = 0; export_params[i].name; i++)
		if (!v->text[i]) {
			v->is_positional[i] = true;
			return put(v, export_params[i].name, text, e);
		}
	return err_set(e, -EBADRQC, "Unexpected value '%.60s'.", text);
}

// "--name" at l->values[*i], followed by its value unless it is a flag. Moves *i to the last word
// used.
static int put_dashed(struct values *v, const struct line *l, unsigned *i, struct err *e)
{
	const char *name = l->values[*i].text + 2;
	int row = find(name, strlen(name));
	if (row >= 0 && is_flag(row))
		return put(v, name, "true", e);
	if (row >= 0 && (*i + 1 == l->count || l->values[*i + 1].name))
		return err_set(e, -EBADRQC, "--%s: value missing", name);
	return put(v, name, row < 0 ? "" : l->values[++*i].text, e);
}

static int sort_words(struct values *v, const struct line *l, struct err *e)
{
	int r = 0;
	for (unsigned i = 0; !r && i < l->count; i++) {
		const struct line_value *w = &l->values[i];
		if (w->name)
			r = put(v, w->name + (strncmp(w->name, "--", 2) ? 0 : 2), w->text, e);
		else if (!strncmp(w->text, "--", 2))
			r = put_dashed(v, l, &i, e);
		else
			r = put_next(v, w->text, e);
	}
	return r;
}

static const char *value(const struct values *v, const char *name)
{
	return v->text[find(name, strlen(name))];
}

static int read_flag(const struct values *v, const char *name, bool *ret, struct err *e)
{
	const char *text = value(v, name);
	*ret = false;
	if (text && !parse_bool(text, ret))
		return err_set(e, -EINVAL, "%s: '%.60s' is not true|false.", name, text);
	return 0;
}

// A name for the storage object: the last component of the path, with invalid characters replaced.
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

static int copy_name(char ret[EXPORT_NAME_SIZE], const char *text, size_t len,
		     int (*normal)(const char *in, char out[EXPORT_NAME_SIZE], struct err *e),
		     struct err *e)
{
	char name[EXPORT_NAME_SIZE];
	if (len >= sizeof name)
		return err_set(e, -EINVAL, "name too long: %.60s... (%zu bytes; at most %d)", text,
			       len, EXPORT_NAME_SIZE - 1);
	snprintf(name, sizeof name, "%.*s", (int)len, text);
	return normal(name, ret, e);
}

// "INITIATOR,INITIATOR": no name has a comma.
static int read_initiators(struct export *x, const char *text, struct err *e)
{
	int r = 0;
	for (const char *at = text; !r && at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		struct export_initiator *to = &x->to[x->count];
		if (x->count++ == EXPORT_INITIATORS_MAX)
			return err_set(e, -EINVAL, "to: more than %d initiators",
				       EXPORT_INITIATORS_MAX);
		r = copy_name(to->name, at, strcspn(at, ","), x->protocol->name_initiator, e);
		const char *colon = strrchr(to->name, ':');
		const char *user = x->user ? x->user : colon && colon[1] ? colon + 1 : to->name;
		if (!r && strlen(user) >= sizeof to->user)
			r = err_set(e, -EINVAL, "userid: longer than %zu bytes",
				    sizeof to->user - 1);
		if (!r)
			snprintf(to->user, sizeof to->user, "%s", user);
	}
	return r;
}

int export_read(struct export *x, const struct line *l, struct err *e)
{
	struct values v = { 0 };
	bool has_srp = false;
	int r = sort_words(&v, l, e);
	const char *device = value(&v, "device");
	*x = (struct export){ .size = value(&v, "size"),
			      .cache = value(&v, "cache"),
			      .user = value(&v, "userid"),
			      .given = device,
			      .asked = value(&v, "name"),
			      .portal = value(&v, "portal"),
			      .password = value(&v, "password") };
	const char *to = value(&v, "to"), *target = value(&v, "target");
	if (!r && (!device || !to))
		r = err_set(e, -EBADRQC,
			    "Missing required parameter '%s' (export DEVICE to=INITIATOR)",
			    device ? "to" : "device");
	x->device = r ? NULL : files_whole_path(device);
	if (!r && !x->device)
		r = err_set(e, -ENOMEM, "out of memory");
	r = r ? r : read_flag(&v, "ro", &x->is_readonly, e);
	r = r ? r : read_flag(&v, "iser", &x->has_iser, e);
	r = r ? r : read_flag(&v, "force", &x->is_forced, e);
	r = r ? r : read_flag(&v, "srp", &has_srp, e);
	r = r ? r : read_flag(&v, "boot", &x->is_boot, e);
	x->protocol = has_srp ? &export_srp : &export_iscsi;
	if (!r && has_srp && (x->has_iser || x->user || x->password))
		r = err_set(e, -EBADRQC, "%s: does not apply to SRP",
			    x->has_iser ? "iser"
			    : x->user	? "userid"
					: "password");
	r = r ? r : read_initiators(x, to, e);
	if (!r && target)
		r = copy_name(x->target, target, strlen(target), x->protocol->name_target, e);
	if (!r)
		name_of(x, x->asked);
	return r;
}
