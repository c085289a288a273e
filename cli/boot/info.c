// SPDX-License-Identifier: BSD-2-Clause
// boot-info: finds everything out, and puts the answer together.
#include <errno.h>

#include "cli/boot/boot.h"

static void put_head(const struct boot *b, struct json_object *o)
{
	json_put_text(o, "target", b->target);
	json_put_number(o, "lun", b->lun);
	json_put_text(o, "path", b->path);
	json_put_text(o, "storage_object", *b->storage ? b->storage : NULL);
	json_put_text(o, "initiator", b->is_known ? b->initiator : NULL);
	json_put_text(o, "user", *b->user ? b->user : NULL);
	json_put_bool(o, "read_only", b->is_readonly);
}

static void done(struct boot *b)
{
	struct boot_settings *t = &b->settings;
	struct json_object *all[] = { t->group_attr, t->group_auth, t->acl_attr, t->acl_auth,
				      t->discovery };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		json_object_put(all[i]);
}

int boot_info(struct shell *s, const char *path, const char *initiator, struct json_object **ret,
	      struct err *e)
{
	struct boot_wish w = { .path = path, .initiator = initiator };
	return boot_info_of(s, &w, ret, e);
}

int boot_info_of(struct shell *s, const struct boot_wish *w, struct json_object **ret,
		 struct err *e)
{
	struct boot b = { .s = s };
	struct json_object *o = json_object_new_object();
	b.warnings = json_object_new_array();
	b.ways = json_object_new_array();
	int r = boot_take_wish(&b, w, e);
	if (!r)
		r = boot_find(&b, w->path, w->initiator, e);
	if (!r && b.is_srp && *b.mac)
		r = err_set(e, -EINVAL, "mac: %.160s is of SRP, which has no lines for dnsmasq",
			    b.target);
	if (!r)
		boot_warn_all(&b);
	if (!r)
		r = boot_find_places(&b, e);
	if (!r && b.is_srp)
		r = boot_srp_ways(&b, e);
	else if (!r)
		boot_iscsi_ways(&b);
	if (!r && b.has_portal && !json_count(b.ways))
		r = boot_refuse_portal(&b, e);
	put_head(&b, o);
	json_object_object_add(o, "warnings", b.warnings);
	json_object_object_add(o, "ways", b.ways);
	done(&b);
	if (!r)
		*ret = o;
	else
		json_object_put(o);
	return r;
}
