// SPDX-License-Identifier: BSD-2-Clause
// See sessions.h. The lines of the levels are rows; a line whose session does not have the value is
// left out, unless it has a text for that.
#include "initiator/program/sessions.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/json/json.h"

struct line {
	unsigned level;
	const char *box; // the head of a group, above its first line that is printed
	const char *label, *key;
	const char *absent; // NULL: no line
};

#define IFACE	"Interface:"
#define TIMES	"Timeouts:"
#define CHAP	"CHAP:"
#define ISCSI	"Negotiated iSCSI params:"
#define SRP	"Negotiated SRP params:"
#define DEVICES "Attached SCSI devices:"

// clang-format off
static const struct line lines[] = {
	{1, IFACE, "Iface Name", "iface", NULL},
	{1, IFACE, "Iface Transport", "transport", "<empty>"},
	{1, IFACE, "Iface Initiatorname", "initiator", "<empty>"},
	{1, IFACE, "Iface IPaddress", "local_ip", "<empty>"},
	{1, IFACE, "Iface HWaddress", "", "default"},
	{1, IFACE, "Iface Netdev", "", "default"},
	{1, IFACE, "SID", "sid", NULL},
	{1, IFACE, "iSCSI Connection State", "connection_state", NULL},
	{1, IFACE, "iSCSI Session State", "session_state", NULL},
	{1, IFACE, "Internal iscsid Session State", "retry_state", NULL},
	{2, TIMES, "Recovery Timeout", "no_path_retry", NULL},
	{2, TIMES, "Login Timeout", "login_timeout", NULL},
	{2, TIMES, "Abort Timeout", "abort_timeout", NULL},
	{2, CHAP, "username", "chap_user", "<empty>"},
	{2, CHAP, "password", "", "********"},
	{2, CHAP, "username_in", "chap_mutual_user", "<empty>"},
	{2, CHAP, "password_in", "", "********"},
	{2, ISCSI, "HeaderDigest", "HeaderDigest", NULL},
	{2, ISCSI, "DataDigest", "DataDigest", NULL},
	{2, ISCSI, "MaxRecvDataSegmentLength", "MaxRecvDataSegmentLength", NULL},
	{2, ISCSI, "MaxXmitDataSegmentLength", "MaxXmitDataSegmentLength", NULL},
	{2, ISCSI, "FirstBurstLength", "FirstBurstLength", NULL},
	{2, ISCSI, "MaxBurstLength", "MaxBurstLength", NULL},
	{2, ISCSI, "ImmediateData", "ImmediateData", NULL},
	{2, ISCSI, "InitialR2T", "InitialR2T", NULL},
	{2, ISCSI, "MaxOutstandingR2T", "MaxOutstandingR2T", NULL},
	{2, SRP, "Channels", "channels", NULL},
	{2, SRP, "RequestLimit", "request_limit", NULL},
	{2, SRP, "MaxInitiatorIULength", "it_iu_len", NULL},
	{2, SRP, "MaxTargetIULength", "ti_iu_len", NULL},
	{2, SRP, "MaxImmediateData", "immediate_max", NULL},
};
// clang-format on

static void set(struct json_object *o, const char *key, const char *value)
{
	json_object_object_add(o, key, json_object_new_string(value));
}

static bool is_srp(struct json_object *o)
{
	return !strcmp(json_scalar_or_empty(o, "transport"), "srp");
}

// "127.0.0.1:3260,1"; -1: the portal group is not known.
static void portal(struct json_object *o, const char *key, char *ret, size_t size)
{
	const char *address = json_scalar_or_empty(o, key), *tpgt = json_scalar_or_empty(o, "tpgt");
	snprintf(ret, size, "%s,%s", *address ? address : json_scalar_or_empty(o, "portal"),
		 *tpgt ? tpgt : "-1");
}

// In the words of iscsiadm. The first row that matches applies; no path of a disk that was replaced
// is used.
static const struct {
	const char *key, *value; // value NULL: any
	const char *connection, *session, *retry;
} words[] = {
	{"state",	   "connecting",	 "TRANSPORT WAIT", "FAILED",    "REOPEN"   },
	{ "state",	   "faulty",	     "FREE",	     "FREE",	     "REOPEN"   },
	{ "disk_state", "another-disk", "FREE",		"FREE",	"REOPEN"	 },
	{ "state",	   NULL,		 "LOGGED IN",      "LOGGED_IN", "NO CHANGE"},
};

static void set_states(struct json_object *o)
{
	size_t i = 0;
	while (words[i].value && strcmp(json_scalar_or_empty(o, words[i].key), words[i].value))
		i++;
	set(o, "connection_state", words[i].connection);
	set(o, "session_state", words[i].session);
	set(o, "retry_state", words[i].retry);
}

// What iscsiadm says beside what the session is.
static void derive(struct json_object *o)
{
	const char *local = json_scalar_or_empty(o, "local"), *port = strrchr(local, ':'),
		   *transport = json_scalar_or_empty(o, "transport");
	char ip[64];
	snprintf(ip, sizeof ip, "%.*s", (int)(port ? port - local : 0), local);
	if (*ip)
		set(o, "local_ip", ip);
	set(o, "iface", strcmp(transport, "tcp") ? transport : "default");
	set_states(o);
}

static void stars(size_t n)
{
	printf("\t\t");
	while (n--)
		putchar('*');
	putchar('\n');
}

static void box(const char *title)
{
	stars(strlen(title));
	printf("\t\t%s\n", title);
	stars(strlen(title));
}

// ---- level 0 ----

static void print_line(struct json_object *o)
{
	char at[128];
	portal(o, "peer", at, sizeof at);
	printf("%s: [%s] %s %s (non-flash)\n", json_scalar_or_empty(o, "transport"),
	       json_scalar_or_empty(o, "sid"), at, json_scalar_or_empty(o, "target"));
}

// ---- the others ----

static void print_device(struct json_object *o)
{
	const char *device = json_scalar_or_empty(o, "device"),
		   *alua = json_scalar_or_empty(o, "alua"),
		   *why = json_scalar_or_empty(o, "last_error"),
		   *login = json_scalar_or_empty(o, "login");
	box(DEVICES);
	printf("\t\tLun: %s\tName: %s\tPath: %s%s%s\n", json_scalar_or_empty(o, "lun"),
	       json_scalar_or_empty(o, "name"), json_scalar_or_empty(o, "state"), *alua ? ", " : "",
	       alua);
	if (*login)
		printf("\t\tRecord: %s\n", login);
	printf("\t\t\tAttached scsi disk %s\t\tState: %s\n",
	       strncmp(device, "/dev/", 5) ? device : device + 5,
	       strcmp(json_scalar_or_empty(o, "disk_state"), "attached")
		       ? json_scalar_or_empty(o, "disk_state")
		       : "running");
	if (*why)
		printf("\t\t\tLast error: %s\n", why);
}

static void print_lines(struct json_object *o, unsigned level)
{
	const char *above = NULL;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		const struct line *l = &lines[i];
		const char *value = json_scalar_or_empty(o, l->key);
		if (!*value)
			value = l->absent;
		if (!value || l->level > level || (is_srp(o) && !strcmp(l->box, CHAP)))
			continue;
		if (!above || strcmp(above, l->box))
			box(l->box);
		above = l->box;
		printf("\t\t%s: %s\n", l->label, value);
	}
}

static void print_session(struct json_object *o, const char *target, unsigned level)
{
	char at[128];
	if (strcmp(target, json_scalar_or_empty(o, "target")))
		printf("Target: %s (non-flash)\n", json_scalar_or_empty(o, "target"));
	portal(o, "peer", at, sizeof at);
	printf("\tCurrent Portal: %s\n", at);
	portal(o, "portal", at, sizeof at);
	printf("\tPersistent Portal: %s\n", at);
	derive(o);
	print_lines(o, level);
	if (level >= 3)
		print_device(o);
}

void sessions_print(struct json_object *sessions, unsigned level)
{
	const char *target = "";
	for (size_t i = 0; i < json_object_array_length(sessions); i++) {
		struct json_object *o = json_object_array_get_idx(sessions, i);
		if (level)
			print_session(o, target, level);
		else
			print_line(o);
		target = json_scalar_or_empty(o, "target");
	}
}
