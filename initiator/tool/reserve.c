// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator reserve: PERSISTENT RESERVE OUT with the words of sg_persist, and what it
// changed. The program's thread. SPC-5 6.16. A registration belongs to the initiator's port, which
// is the same at each start of this command (--isid, --initiator-port). A report needs no port of
// its own, and must not end the session of one.
#include "initiator/tool/reserve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEY = 1, SERVICE_KEY = 2, TYPE = 4 }; // options

static const struct action {
	const char *name;
	uint8_t code;		   // the service action
	unsigned needed, optional; // options
} actions[] = {
	{"report",	    0, 0,			  0  },
	{ "register",	      0, SERVICE_KEY,	      KEY},
	{ "register-ignore", 6, SERVICE_KEY,		     0  },
	{ "reserve",	     1, KEY | TYPE,		    0  },
	{ "release",	     2, KEY | TYPE,		    0  },
	{ "clear",	   3, KEY,			   0  },
	{ "preempt",	     4, KEY | SERVICE_KEY | TYPE, 0  },
	{ "preempt-abort",   5, KEY | SERVICE_KEY | TYPE, 0  },
};
#define ACTION_COUNT (sizeof actions / sizeof *actions)

static const struct {
	unsigned bit;
	const char *name, *argument;
} options[] = {
	{KEY,	       "key",	      "KEY" },
	{ SERVICE_KEY, "service-key", "KEY" },
	{ TYPE,	"type",	"TYPE"},
};

static const struct action *action_of(const char *name)
{
	for (size_t i = 0; i < ACTION_COUNT; i++)
		if (!strcmp(actions[i].name, name))
			return &actions[i];
	return NULL;
}

static int find(const struct tool *t, const struct action **ret, struct err *e)
{
	const char *name = t->o.args[1];
	*ret = action_of(name);
	if (*ret)
		return 0;
	if (action_of(t->o.args[0]))
		return err_set(
			e, -EINVAL,
			"reserve: ACTION comes after the URL (farblock-initiator reserve URL "
			"%s)",
			t->o.args[0]);
	return err_set(e, -EINVAL,
		       "'%.32s': must be report, register, register-ignore, reserve, release, "
		       "clear, preempt or preempt-abort",
		       name);
}

static int check_options(const struct tool *t, const struct action *a, uint8_t *ret_type,
			 struct err *e)
{
	unsigned given = (t->o.key != TOOL_UNSET ? KEY : 0) |
			 (t->o.service_key != TOOL_UNSET ? SERVICE_KEY : 0) |
			 (t->o.type ? TYPE : 0);
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		if (a->needed & ~given & options[i].bit)
			return err_set(e, -EINVAL, "%s: missing --%s %s", a->name, options[i].name,
				       options[i].argument);
		if (given & ~(a->needed | a->optional) & options[i].bit)
			return err_set(e, -EINVAL, "%s: --%s has no effect", a->name,
				       options[i].name);
	}
	*ret_type = t->o.type ? pr_type_parse(t->o.type) : 0;
	if (t->o.type && !*ret_type)
		return err_set(e, -EINVAL,
			       "--type '%.40s': must be write-exclusive (1), exclusive-access (3), "
			       "one of both with -registrants-only (5, 6) or -all-registrants (7, "
			       "8)",
			       t->o.type);
	return 0;
}

static uint64_t or_zero(uint64_t key)
{
	return key == TOOL_UNSET ? 0 : key;
}

static int execute(struct tool *t, const struct action *a, uint8_t type, struct err *e)
{
	struct scsi_sync_cmd c;
	uint8_t list[PR_OUT_LEN];
	struct scsi_args args = { .len = sizeof list, .flags = a->code, .page = type };
	pr_out_build(list, or_zero(t->o.key), or_zero(t->o.service_key));
	scsi_cmd_set(&c.cmd, t->lun, SCSI_PR_OUT, &args, list, sizeof list);
	int r = tool_run(t->sync, &c, SCSI_PR_OUT, e);
	if (!r)
		return 0;
	err_prefix(e, "LUN %u: %s", t->lun, a->name);
	if (!c.cmd.res && c.cmd.status == SCSI_RESERVATION_CONFLICT) {
		struct err cause = *e;
		err_set(e, r,
			"%.300s (this initiator port has not registered that key, or another "
			"holds the reservation: report shows them)",
			cause.text);
	}
	return r;
}

static void say_changes(const struct reserve_state *before, const struct reserve_state *after)
{
	char was[RESERVE_TEXT], is[RESERVE_TEXT];
	bool is_same = before->registrations == after->registrations;
	if (!is_same)
		printf("Registrations: %u, before: %u\n", after->registrations,
		       before->registrations);
	reserve_held_text(before, was);
	reserve_held_text(after, is);
	if (strcmp(was, is))
		printf("Reservation: %s, before: %s\n", is, was);
	else if (is_same && before->generation != after->generation)
		printf("Registrations: %u, as before; keys may have changed\n",
		       after->registrations);
	else if (is_same)
		printf("Nothing changed\n");
}

// Reading the state first takes the unit attentions of a new session, which would end the action.
static int change(struct tool *t, const struct action *a, uint8_t type, uint8_t *buf, struct err *e)
{
	struct reserve_state before = { 0 }, after = { 0 };
	int r = reserve_state_read(t, buf, &before, e);
	if (!r)
		r = execute(t, a, type, e);
	if (!r && t->o.is_json)
		return reserve_report(t, buf, e);
	if (!r)
		r = reserve_state_read(t, buf, &after, e);
	if (!r)
		say_changes(&before, &after);
	return r;
}

int tool_reserve(struct tool *t)
{
	const struct action *a = NULL;
	struct err e;
	uint8_t type;
	if (find(t, &a, &e) < 0 || check_options(t, a, &type, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	t->keeps_port = a != actions;
	int status = tool_open(t, true);
	if (status)
		return status;
	uint8_t *buf = malloc(RESERVE_DATA_MAX);
	int r = !buf	       ? err_set(&e, -ENOMEM, "reserve: out of memory")
		: a == actions ? reserve_report(t, buf, &e)
			       : change(t, a, type, buf, &e);
	free(buf);
	return r ? tool_fail(TOOL_FAILED, &e) : TOOL_OK;
}
