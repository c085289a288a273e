// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator attach: a disk by URLs or by an entry. The program's thread.
#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include <strings.h>

#include "initiator/holder/holder.h"
#include "initiator/program/attach.h"
#include "initiator/program/entry.h"
#include "initiator/srp/address.h"

int attach_fail(int status, const struct entry *from, struct err *e)
{
	int own = status == TOOL_FAILED ? tool_status_of(e) : status;
	bool is_of_entry = entry_blame(from, e);
	return tool_fail(is_of_entry && own == TOOL_USAGE ? TOOL_RECORD : own, e);
}

int attach_disk(struct tool *t, const struct entry *from, attach_ready *ready, void *arg)
{
	struct holder_config c;
	struct attach_plan p;
	struct err e;
	int status = attach_plan_make(&p, t, &c, &e);
	c.argv0 = t->argv0;
	if (status)
		status = attach_fail(status, from, &e);
	else
		status = t->o.stays ? attach_in_foreground(t, &c)
				    : attach_in_background(t, &c, ready, arg);
	attach_plan_done(&p);
	return status;
}

static const char *entry_dir(const struct tool *t)
{
	return t->o.entry_dir ? t->o.entry_dir : ENTRY_DIR;
}

static int attach_entry(struct tool *t, const char *name, bool is_automatic)
{
	static struct entry n;
	struct tool own = *t;
	struct err e;
	int status = entry_options(&n, entry_dir(t), name, TOOL_ATTACH, &own.o, &e);
	if (status)
		return tool_fail(status, &e);
	if (is_automatic && n.is_manual)
		return TOOL_OK;
	if (!t->o.name)
		own.o.name = name;
	return attach_disk(&own, &n, attach_print, &own);
}

struct all {
	struct tool *tool;
	int status;
};

static void attach_one(void *arg, const char *name)
{
	struct all *a = arg;
	struct holder_files f;
	struct err e;
	struct json_object *o = NULL;
	int r = holder_files(&f, attach_run_dir(a->tool), name, &e);
	if (!r)
		o = holder_ask(&f, "status", &e);
	json_object_put(o);
	if (o || (!r && !holder_is_gone(&e)))
		return; // attached already
	int status = attach_entry(a->tool, name, true);
	if (!a->status)
		a->status = status;
}

static int attach_all(struct tool *t)
{
	struct all a = { .tool = t };
	struct err e;
	if (t->o.stays || t->o.arg_count) {
		err_set(&e, -EINVAL, "attach: --all takes no %s",
			t->o.stays ? "--foreground" : "URL");
		return tool_fail(TOOL_USAGE, &e);
	}
	if (entry_each(entry_dir(t), attach_one, &a, &e) < 0)
		return tool_fail(TOOL_RECORD, &e);
	return a.status;
}

bool attach_is_url(const char *word)
{
	return strstr(word, "://") || srps_address_is_string(word);
}

int attach_run(struct tool *t)
{
	struct err e;
	if (t->o.is_all)
		return attach_all(t);
	if (!t->o.arg_count) {
		err_set(&e, -EINVAL, "attach: missing URL, entry or --all");
		return tool_fail(TOOL_USAGE, &e);
	}
	if (t->o.arg_count == 1 && !attach_is_url(t->o.args[0]))
		return attach_entry(t, t->o.args[0], false);
	return attach_disk(t, NULL, attach_print, t);
}
