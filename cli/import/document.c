// SPDX-License-Identifier: BSD-2-Clause
// Builds parts of a document in the form of the saved file, for the readers of other targets'
// files.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/import.h"
#include "core/json/json.h"
#include "transport/iscsi/keys.h"
#include "transport/iscsi/name.h"
#include "transport/srp/name.h"

static void begin(struct import *im)
{
	struct json_object *section = json_object_new_object();
	im->doc = json_object_new_object();
	im->storage = json_object_new_array();
	im->targets = json_object_new_array();
	im->own = json_object_new_object();
	im->disks = json_object_new_object();
	im->names = json_object_new_object();
	im->iqns = json_object_new_object();
	im->told = json_object_new_object();
	json_object_object_add(im->doc, "storage_objects", im->storage);
	json_object_object_add(im->doc, "targets", im->targets);
	json_object_object_add(section, "objects", im->own);
	json_object_object_add(im->doc, IMPORT_OWN, section);
}

static void end(struct import *im)
{
	for (unsigned i = 0; i < im->kept_count; i++) {
		explicit_bzero(im->kept[i].text, im->kept[i].len);
		free(im->kept[i].text);
	}
	free(im->kept);
	json_object_put(im->disks);
	json_object_put(im->names);
	json_object_put(im->iqns);
	json_object_put(im->told);
}

// A document must be UTF-8, or it cannot be read again.
static int read_all(const struct import_kind *kind, struct import *im, char *text, struct err *e)
{
	int r = kind->read(im, text, e);
	return im->is_malformed ? import_fail(e, im->at, "not UTF-8 (iconv -f ISO-8859-1 -t UTF-8)")
				: r;
}

struct json_object *import_text(const struct import_kind *kind, const char *file, char *text,
				size_t len, bool may_include, struct json_object *notes,
				struct err *e)
{
	struct import im = { .notes = notes, .may_include = may_include, .size = len, .files = 1 };
	im.at = (struct import_place){ .file = file };
	begin(&im);
	int r = len > IMPORT_SIZE_MAX
			? err_set(e, -EFBIG, "%s: longer than %d bytes", file, IMPORT_SIZE_MAX)
		: strlen(text) != len ? err_set(e, -EINVAL, "%s: not a text file: NUL byte", file)
				      : read_all(kind, &im, text, e);
	if (!r && json_object_array_length(notes) && !json_object_array_length(im.storage) &&
	    !json_object_array_length(im.targets))
		r = err_set(e, -EINVAL, "%s: no disks and no targets in the format of %s", file,
			    kind->help);
	if (!r && im.mapped > IMPORT_MAPPED_MAX)
		r = err_set(e, -EFBIG, "%s: more than %d mapped LUNs in all", file,
			    IMPORT_MAPPED_MAX);
	end(&im);
	explicit_bzero(text, len);
	if (!r)
		return im.doc;
	json_object_put(im.doc);
	return NULL;
}

bool import_is_parameter(const char *name)
{
	struct iscsi_offer_row row;
	unsigned at = 0;
	while (iscsi_offer_next(&at, &row))
		if (!strcmp(row.name, name))
			return true;
	return false;
}

void import_bool_field(struct json_object *o, const char *key, bool is_true)
{
	json_object_object_add(o, key, json_object_new_boolean(is_true));
}

void import_attribute(struct json_object *o, const char *name, int value)
{
	json_object_object_add(json_part(o, "attributes"), name, json_object_new_int(value));
}

void import_parameter(struct json_object *tpg, const char *name, const char *value)
{
	json_put_text(json_part(tpg, "parameters"), name, value);
}

void import_own(struct import *im, const char *path, const char *group, const char *name,
		const char *text)
{
	json_put_text(json_part(json_part(im->own, path), group), name, text);
}

// ---- targets ----

static bool is_srpt(const char *fabric)
{
	return !strcmp(fabric, "srpt");
}

bool import_initiator(struct import *im, const char *fabric, const char *name, char out[224])
{
	struct err why = { 0 };
	int r = is_srpt(fabric) ? name_srpt_initiator(name, out, &why)
				: name_iscsi(name, false, out, &why);
	if (r < 0)
		import_note(im, im->at, "initiator %.100s: %s; skipped", name, why.text);
	return !r;
}

int import_target(struct import *im, const char *fabric, const char *wwn, char out[224],
		  struct json_object **ret, struct err *e)
{
	static const char *const lists[] = { "luns", "portals", "node_acls" };
	struct json_object *there, *t = json_object_new_object();
	struct json_object *tpg = json_object_new_object(), *tpgs = json_object_new_array();
	struct err why = { 0 };
	int r = is_srpt(fabric) ? name_srpt_target(wwn, out, &why)
				: name_iscsi(wwn, true, out, &why);
	json_put_text(t, "fabric", fabric);
	json_put_text(t, "wwn", r ? wwn : out);
	json_object_object_add(tpg, "tag", json_object_new_int(1));
	for (int i = 0; i < 3; i++)
		json_object_object_add(tpg, lists[i], json_object_new_array());
	json_object_array_add(tpgs, tpg);
	json_object_object_add(t, "tpgs", tpgs);
	json_object_array_add(im->targets, t);
	*ret = tpg;
	if (r < 0)
		return import_fail(e, im->at, "target %.100s: %s", wwn, why.text);
	if (json_object_object_get_ex(im->iqns, out, &there))
		return import_fail(e, im->at,
				   "target %.100s: already defined in line %d (merge both "
				   "definitions)",
				   out, json_object_get_int(there));
	json_object_object_add(im->iqns, out, json_object_new_int((int)im->at.line));
	return 0;
}

struct json_object *import_lun(struct json_object *tpg, int number, const char *path,
			       bool is_readonly)
{
	struct json_object *o = json_object_new_object();
	json_object_object_add(o, "index", json_object_new_int(number));
	json_put_text(o, "storage_object", path);
	if (is_readonly)
		import_bool_field(o, "write_protect", true);
	json_object_array_add(json_field(tpg, "luns"), o);
	return o;
}

void import_portal(struct json_object *tpg, const char *host, bool is_iser)
{
	struct json_object *o = json_object_new_object();
	json_put_text(o, "ip_address", host);
	json_object_object_add(o, "port", json_object_new_int(3260));
	if (is_iser)
		import_bool_field(o, "iser", true);
	json_object_array_add(json_field(tpg, "portals"), o);
}

struct json_object *import_acl(struct json_object *tpg, const char *initiator)
{
	struct json_object *o = json_object_new_object();
	json_put_text(o, "node_wwn", initiator);
	json_object_object_add(o, "mapped_luns", json_object_new_array());
	json_object_array_add(json_field(tpg, "node_acls"), o);
	return o;
}

bool import_map(struct import *im, struct json_object *acl, int number, int lun, bool is_readonly)
{
	if (im->mapped++ >= IMPORT_MAPPED_MAX)
		return false; // import_text() fails
	struct json_object *m = json_object_new_object();
	json_object_object_add(m, "index", json_object_new_int(number));
	json_object_object_add(m, "tpg_lun", json_object_new_int(lun));
	import_bool_field(m, "write_protect", is_readonly);
	json_object_array_add(json_field(acl, "mapped_luns"), m);
	return true;
}

// ---- accounts ----

void import_user(struct import *im, struct import_users *u, const char *direction, char *value)
{
	char *rest = value, *name = import_word(&rest), *password = import_word(&rest);
	int d = strcmp(direction, "incoming") ? IMPORT_OUTGOING : IMPORT_INCOMING;
	if (!name || !password)
		import_note(im, im->at, "an %s account needs a name and a password; skipped",
			    direction);
	else if (u->name[d])
		import_note(im, im->at,
			    "%s account %.60s: an ACL has only one account, the first; skipped "
			    "(create ACLs with this userid and password for its initiators)",
			    direction, name);
	else
		u->name[d] = name, u->password[d] = password;
	if (password && import_word(&rest))
		import_note(im, im->at, "%s account %.60s: text after the password skipped",
			    direction, name);
}

void import_put_users(struct json_object *o, const char *prefix, const struct import_users *u)
{
	static const char *const between[] = { "", "mutual_" };
	char key[64];
	for (int d = 0; d < 2; d++) {
		if (!u->name[d])
			continue;
		snprintf(key, sizeof key, "%s_%suserid", prefix, between[d]);
		json_put_text(o, key, u->name[d]);
		snprintf(key, sizeof key, "%s_%spassword", prefix, between[d]);
		json_put_text(o, key, u->password[d]);
	}
}

void import_discovery(struct import *im, const struct import_users *u)
{
	if (!u->name[IMPORT_INCOMING] && !u->name[IMPORT_OUTGOING])
		return;
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	json_put_text(o, "name", "iscsi");
	import_bool_field(o, "discovery_enable_auth", u->name[IMPORT_INCOMING] != NULL);
	import_put_users(o, "discovery", u);
	json_object_array_add(list, o);
	json_object_object_add(im->doc, "fabric_modules", list);
}
