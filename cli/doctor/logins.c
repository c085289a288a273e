// SPDX-License-Identifier: BSD-2-Clause
// ACLs and portal groups that refuse logins for lack of CHAP credentials.
#include <json-c/json.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "cli/shell/client.h"

// Classes of nodes that have a warning when CHAP is required but has no secret.
static const struct row {
	const char *class;
	enum verdict verdict;
	const char *what;
} rows[] = {
	{"acl",	 DOCTOR_FAIL, "refuses every login"		    },
	{ "tpg", DOCTOR_WARN, "initiators without an ACL cannot log in"},
};

static void look(struct doctor *d, void *arg, const char *path, struct json_object *node)
{
	char fix[2 * DOCTOR_FIX_SIZE];
	unsigned *count = arg;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct row *r = &rows[i];
		const char *why = text_field(node, "warning");
		if (strcmp(text_field(node, "class"), r->class) || !*why)
			continue;
		snprintf(fix, sizeof fix,
			 "farblock %s set auth userid=NAME password=SECRET\n"
			 "farblock %s set attribute authentication=0  # logins without CHAP",
			 path, path);
		doctor_say(d, &(struct finding){ r->verdict, path, why, fix }, "%s", r->what);
		++*count;
	}
}

void check_logins(struct doctor *d)
{
	unsigned count = 0;
	struct json_object *tree = doctor_ask(d, "tree.ls");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		doctor_each_node(d, tree, rows[i].class, &count, look);
	if (!tree)
		doctor_skip(d, NULL, "farblockd does not answer");
	else if (!count)
		doctor_ok(d, NULL, "every ACL that requires CHAP has a secret");
	json_object_put(tree);
}
