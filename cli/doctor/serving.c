// SPDX-License-Identifier: BSD-2-Clause
// What farblockd has to say, and the machine's names.
#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"

static struct json_object *ask(struct doctor *d, const char *method)
{
	struct json_object *o = NULL;
	struct err e = { 0 };
	if (!d->ask || d->ask(d->ask_arg, method, NULL, &o, &e) < 0) {
		doctor_say(d, &(struct finding){ DOCTOR_SKIP }, "farblockd does not answer%s%s",
			   *e.text ? ": " : "", e.text);
		return NULL;
	}
	return o;
}

static const char *text(struct json_object *o, const char *key)
{
	struct json_object *v;
	const char *s = json_object_object_get_ex(o, key, &v) ? json_object_get_string(v) : NULL;
	return s ? s : "";
}

// Nodes of the tree below path whose summary says that they wait.
static unsigned waiting(struct doctor *d, struct json_object *node, const char *below)
{
	struct json_object *children;
	char path[512];
	unsigned n = 0;
	bool is_root = !strcmp(text(node, "name"), "/");
	snprintf(path, sizeof path, "%s%s%s", below, is_root || !strcmp(below, "/") ? "" : "/",
		 is_root ? "" : text(node, "name"));
	if (strcasestr(text(node, "summary"), "waiting")) {
		struct finding f = { DOCTOR_WARN, path, NULL, NULL };
		f.why = "it is not served until what it waits for is there";
		doctor_say(d, &f, "%s", text(node, "summary"));
		n++;
	}
	size_t n_children = doctor_children(node, &children);
	for (size_t i = 0; i < n_children; i++)
		n += waiting(d, json_object_array_get_idx(children, i), path);
	return n;
}

void check_storage(struct doctor *d)
{
	struct json_object *tree = ask(d, "tree.ls");
	if (tree && !waiting(d, tree, "/"))
		doctor_say(d, &(struct finding){ DOCTOR_OK }, "nothing waits");
	json_object_put(tree);
}

void check_names(struct doctor *d)
{
	char name[300], host[80];
	bool has = doctor_read(d, name, sizeof name, "/etc/iscsi/initiatorname.iscsi");
	struct finding f = { DOCTOR_OK, "initiator", NULL, NULL };
	char *at = has ? strstr(name, "InitiatorName=") : NULL;
	if (has && !at) {
		f.verdict = DOCTOR_WARN;
		f.why = "the file has no line InitiatorName=";
		f.fix = "echo InitiatorName=$(iscsi-iname) > /etc/iscsi/initiatorname.iscsi";
	}
	if (at)
		doctor_say(d, &f, "is called %.*s", (int)strcspn(at + 14, "\n"), at + 14);
	else if (has)
		doctor_say(d, &f, "has no name in /etc/iscsi/initiatorname.iscsi");
	else if (errno == ENOENT)
		doctor_say(d, &(struct finding){ DOCTOR_SKIP, .object = "initiator" },
			   "no /etc/iscsi/initiatorname.iscsi: farblock-initiator makes a name up");
	else
		doctor_say(d, &(struct finding){ DOCTOR_SKIP, .object = "initiator" },
			   "/etc/iscsi/initiatorname.iscsi: %m");
	doctor_read(d, host, sizeof host, "/proc/sys/kernel/hostname");
	bool is_named = *host && strcmp(host, "localhost") && strcmp(host, "(none)");
	struct finding h = { is_named ? DOCTOR_OK : DOCTOR_WARN, "host", NULL, NULL };
	if (!is_named) {
		h.why = "names that are made from it are everybody's";
		h.fix = "hostnamectl set-hostname NAME";
	}
	doctor_say(d, &h, "is called %s", *host ? host : "nothing");
}
