// SPDX-License-Identifier: BSD-2-Clause
// A portal of another machine, as seen by an initiator here.
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/doctor/doctor.h"
#include "cli/doctor/initiator.h"

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void tell_targets(struct doctor *d, const char *object, struct json_object *list)
{
	size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
	for (size_t i = 0; i < n; i++) {
		struct json_object *o = json_object_array_get_idx(list, i), *name, *portal;
		if (json_object_object_get_ex(o, "target", &name) &&
		    json_object_object_get_ex(o, "portal", &portal))
			doctor_say(d, &(struct finding){ DOCTOR_OK, object, NULL, NULL },
				   "%.223s at %.60s", json_object_get_string(name),
				   json_object_get_string(portal));
	}
	if (!n)
		doctor_say(
			d,
			&(struct finding){ DOCTOR_WARN, object,
					   "the portal has no target, or none for this initiator",
					   "at the target: farblock acls create --from-seen" },
			"discovery returned no target");
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
	double before = seconds();
	int r = initiator_run(words, NULL, &out, &e);
	if (r < 0) {
		struct finding f = { is_iser && has_tcp ? DOCTOR_WARN : DOCTOR_FAIL, object, NULL,
				     NULL };
		f.why = is_iser && has_tcp ? "this machine reaches disks there over TCP only"
					   : "this machine reaches no disks there";
		f.fix = is_iser && has_tcp ? "at the target: set the portal's enable_iser, run "
					     "`farblock doctor`"
					   : "at the target: start farblockd, open port 3260/tcp "
					     "(nft list ruleset)";
		doctor_say(d, &f, "%s", e.text);
		return false;
	}
	doctor_say(d, &(struct finding){ DOCTOR_OK, object, NULL, NULL },
		   "login, discovery and logout in %.1f ms", (seconds() - before) * 1e3);
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
