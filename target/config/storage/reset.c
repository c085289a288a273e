// SPDX-License-Identifier: BSD-2-Clause
// The command reset: an overlay begins again as its base is. The new file is made beside the old
// one while the command runs, and replaces it by a rename at the commit, so that a crash leaves one
// of the two. Sessions keep the old file until they get the reopened unit; initiators then learn
// that the medium has changed.
#include <errno.h>
#include <stdio.h>

#include "backstores/overlay.h"
#include "target/config/storage/storage.h"
#include "target/config/tree/in_use.h"
#include "target/scsi/lu.h"

static const char *file_of(const struct node *n)
{
	return storage_get_option(NODE_OF(const struct storage, n), "dev");
}

static void forget(struct config *c, struct node *n)
{
	overlay_forget(file_of(n));
}

static void replace(struct config *c, struct node *n)
{
	struct storage *s = NODE_OF(struct storage, n);
	struct err e = { 0 };
	if (overlay_replace(file_of(n), &e) < 0) {
		log_error("%s %s: not reset: %s", s->type->name, n->name, e.text);
		return;
	}
	log_info("%s %s: reset", s->type->name, n->name);
	s->is_reset = true;
	if (n->parent)
		storage_reopen(s, "reopening after a reset");
}

// An object of an overlay has the option since it was created.
static enum bs_overlay kind_of(const struct storage *s)
{
	struct bs_config config;
	const char *text = storage_get_option(s, "overlay");
	backstore_config_init(&config, s->type);
	if (text)
		backstore_config_set(&config, s->type, "overlay", text, NULL);
	return (enum bs_overlay)config.overlay;
}

int storage_reset(struct config *c, struct node *n, const struct args *a, struct reply *r,
		  struct err *e)
{
	struct storage *s = NODE_OF(struct storage, n);
	const char *base = storage_get_option(s, "base");
	if (!base)
		return err_set(e, -EOPNOTSUPP,
			       "%s: has no base (only a fileio created with base=IMAGE can be "
			       "reset)",
			       n->name);
	if (is_yes(storage_get_option(s, "readonly")))
		return err_set(e, -EROFS, "%s: read-only (delete it, create it without readonly)",
			       n->name);
	int code = seen_refuse(c, n, a, e);
	if (!code && !arg_bool(a, "confirm", false) && !arg_bool(a, "force", false))
		code = err_set(e, -EINVAL,
			       "%s: what was written over its base would be lost, also for undo "
			       "(confirm=true)",
			       n->name);
	if (!code)
		code = storage_refuse_own_files(s, e);
	if (!code)
		code = overlay_prepare(file_of(n), base, storage_size(s), kind_of(s), n->name, e);
	if (code < 0)
		return code;
	code = seen_refuse(c, n, a, e); // the file took a while to make
	if (code < 0) {
		forget(c, n);
		return code;
	}
	if (txn_call(c, n, forget, replace) < 0) {
		forget(c, n);
		return err_set(e, -ENOMEM, "%s: out of memory", n->name);
	}
	txn_touch(c);
	reply_say(r, "%s is as its base %s again.", n->name, base);
	return 0;
}
