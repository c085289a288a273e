// SPDX-License-Identifier: BSD-2-Clause
// A portal of another machine, as seen by an initiator here.
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/doctor/doctor.h"
#include "cli/doctor/initiator.h"
#include "cli/shell/client.h"
#include "core/worker.h"

#define SRP "srp://"

enum { HOST_SIZE = 256 };

// A protocol, and what to do where a portal does not answer.
struct way {
	const char *scheme, *name;
	// Where there is no other way, and where there is.
	const char *cure, *other_cure; // other_cure NULL: it need not be there
	const char *admit;	       // lets this initiator see targets
};
static const struct way over_tcp = {
	"iscsi", "TCP", "at the target: start farblockd, open port 3260/tcp (nft list ruleset)",
	NULL, "at the target: farblock acls create --from-seen"
};
static const struct way over_iser = {
	"iser", "iSER", "at the target: start farblockd, open port 3260/tcp (nft list ruleset)",
	"at the target: set the portal's enable_iser, run `farblock doctor`",
	"at the target: farblock acls create --from-seen"
};
static const struct way over_srp = {
	"srp", "SRP",
	"at the target: start farblockd with a target in /srpt, open port 3261/tcp (nft list "
	"ruleset)",
	NULL,
	"here: farblock-initiator discover srp://PORTAL shows this initiator's name; at the "
	"target: farblock /srpt/TARGET/acls create NAME"
};

static void tell_targets(struct doctor *d, const char *object, const struct way *w,
			 struct json_object *list)
{
	struct finding f = { DOCTOR_WARN, object,
			     "the portal has no target, or none for this initiator", w->admit };
	json_each (o, list) {
		const char *name = text_field(o, "target"), *portal = text_field(o, "portal");
		if (*name && *portal)
			doctor_ok(d, object, "%.223s at %.60s", name, portal);
	}
	if (!json_count(list))
		doctor_say(d, &f, "discovery returned no target");
}

// It does not answer. has_other: another way to the disks does.
static void tell_failure(struct doctor *d, const char *object, const struct way *w, bool has_other,
			 const struct err *e)
{
	struct finding f = { has_other ? DOCTOR_WARN : DOCTOR_FAIL, object,
			     has_other ? "this machine reaches disks there over TCP only"
				       : "this machine reaches no disks there",
			     has_other ? w->other_cure : w->cure };
	if (has_other && !w->other_cure)
		doctor_skip(d, object, "%s", e->text);
	else
		doctor_say(d, &f, "%s", e->text);
}

// Returns success. has_other: another way succeeded.
static bool discover(struct doctor *d, const struct way *w, const char *portal, bool has_other)
{
	char url[300], object[300], *out;
	const char *words[] = { "discover", url, "--json", "--login-timeout", "5", NULL };
	struct err e = { 0 };
	snprintf(url, sizeof url, "%s://%.250s", w->scheme, portal);
	snprintf(object, sizeof object, "%.250s over %s", portal, w->name);
	uint64_t before = clock_ns();
	if (initiator_run(words, NULL, &out, &e) < 0) {
		tell_failure(d, object, w, has_other, &e);
		free(out);
		return false;
	}
	doctor_ok(d, object, "login, discovery and logout in %.1f ms",
		  (double)(clock_ns() - before) / 1e6);
	struct json_object *list = json_tokener_parse(out);
	tell_targets(d, object, w, list);
	json_object_put(list);
	free(out);
	return true;
}

// The host of "host[:port]", "[address][:port]" or an IPv6 address: the port of SRP is another.
static void host_of(char ret[HOST_SIZE], const char *portal)
{
	const char *end = *portal == '[' ? strchr(portal, ']') : NULL, *colon = strchr(portal, ':');
	size_t n = end				      ? (size_t)(end + 1 - portal)
		   : colon && !strchr(colon + 1, ':') ? (size_t)(colon - portal)
						      : strlen(portal);
	snprintf(ret, HOST_SIZE, "%.*s", (int)(n < HOST_SIZE ? n : HOST_SIZE), portal);
}

void doctor_remote(struct doctor *d, const char *portal)
{
	char host[HOST_SIZE];
	doctor_begin(d, "remote");
	if (!strncasecmp(portal, SRP, strlen(SRP))) {
		discover(d, &over_srp, portal + strlen(SRP), false);
		return;
	}
	host_of(host, portal);
	bool has_tcp = discover(d, &over_tcp, portal, false);
	bool has_iser = discover(d, &over_iser, portal, has_tcp);
	discover(d, &over_srp, host, has_tcp || has_iser);
}
