// SPDX-License-Identifier: BSD-2-Clause
// A portal of another machine, as seen by an initiator here.
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "cli/doctor/initiator.h"
#include "cli/shell/client.h"
#include "core/worker.h"

static void tell_targets(struct doctor *d, const char *object, struct json_object *list)
{
	struct finding f = { DOCTOR_WARN, object,
			     "the portal has no target, or none for this initiator",
			     "at the target: farblock acls create --from-seen" };
	json_each (o, list) {
		const char *name = text_field(o, "target"), *portal = text_field(o, "portal");
		if (*name && *portal)
			doctor_ok(d, object, "%.223s at %.60s", name, portal);
	}
	if (!json_count(list))
		doctor_say(d, &f, "discovery returned no target");
}

// Returns success. has_tcp: discovery over TCP succeeded.
static bool discover(struct doctor *d, const char *scheme, const char *portal, bool has_tcp)
{
	char url[300], object[300], *out;
	const char *words[] = { "discover", url, "--json", "--login-timeout", "5", NULL };
	struct err e = { 0 };
	bool is_iser = !strcmp(scheme, "iser");
	snprintf(url, sizeof url, "%s://%.250s", scheme, portal);
	snprintf(object, sizeof object, "%.250s over %s", portal, is_iser ? "iSER" : "TCP");
	bool has_other = is_iser && has_tcp; // another way to the disks
	struct finding f = { has_other ? DOCTOR_WARN : DOCTOR_FAIL, object,
			     has_other ? "this machine reaches disks there over TCP only"
				       : "this machine reaches no disks there",
			     has_other ? "at the target: set the portal's enable_iser, run "
					 "`farblock doctor`"
				       : "at the target: start farblockd, open port 3260/tcp "
					 "(nft list ruleset)" };
	uint64_t before = clock_ns();
	if (initiator_run(words, NULL, &out, &e) < 0) {
		doctor_say(d, &f, "%s", e.text);
		return false;
	}
	doctor_ok(d, object, "login, discovery and logout in %.1f ms",
		  (double)(clock_ns() - before) / 1e6);
	struct json_object *list = json_tokener_parse(out);
	tell_targets(d, object, list);
	json_object_put(list);
	free(out);
	return true;
}

void doctor_remote(struct doctor *d, const char *portal)
{
	doctor_begin(d, "remote");
	bool has_tcp = discover(d, "iscsi", portal, true);
	discover(d, "iser", portal, has_tcp);
}
