// SPDX-License-Identifier: BSD-2-Clause
// Answers of farblockd, and the machine's names.
#include <errno.h>
#include <json-c/json.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "cli/shell/shell.h"

struct json_object *doctor_ask(struct doctor *d, const char *method)
{
	struct json_object *o = NULL;
	struct err ignored;
	return d->ask && d->ask(d->ask_arg, method, NULL, &o, &ignored) >= 0 ? o : NULL;
}

struct json_object *doctor_info(struct doctor *d, const char *path)
{
	struct json_object *o = NULL;
	struct err ignored;
	return d->ask && d->ask(d->ask_arg, "tree.info", params_at(path), &o, &ignored) >= 0 ? o
											     : NULL;
}

int doctor_daemon_pid(struct doctor *d)
{
	struct json_object *version = doctor_ask(d, "version");
	int pid = json_object_get_int(json_field(version, "pid"));
	json_object_put(version);
	return pid;
}

struct walk {
	const char *class; // NULL: all
	void *arg;
	doctor_node_fn *fn;
};

static void walk(struct doctor *d, const struct walk *w, struct json_object *node,
		 const char *below)
{
	const char *name = text_field(node, "name");
	char path[512] = "";
	if (strcmp(name, "/"))
		snprintf(path, sizeof path, "%s/%s", below, name);
	if (!w->class || !strcmp(text_field(node, "class"), w->class))
		w->fn(d, w->arg, path, node);
	json_each (child, json_field(node, "children"))
		walk(d, w, child, path);
}

void doctor_each_node(struct doctor *d, struct json_object *tree, const char *class, void *arg,
		      doctor_node_fn *fn)
{
	if (tree)
		walk(d, &(struct walk){ class, arg, fn }, tree, "");
}

static void look(struct doctor *d, void *count, const char *path, struct json_object *node)
{
	struct finding f = { DOCTOR_WARN, *path ? path : "/",
			     "retried until the missing device, file or address appears", NULL };
	if (!strcasestr(text_field(node, "summary"), "waiting"))
		return;
	doctor_say(d, &f, "%s", text_field(node, "summary"));
	++*(unsigned *)count;
}

void check_storage(struct doctor *d)
{
	struct json_object *tree = NULL;
	struct err e = { 0 };
	unsigned waiting = 0;
	if (!d->ask || d->ask(d->ask_arg, "tree.ls", NULL, &tree, &e) < 0) {
		doctor_skip(d, NULL, "farblockd does not answer%s%s", *e.text ? ": " : "", e.text);
		return;
	}
	doctor_each_node(d, tree, NULL, &waiting, look);
	if (!waiting)
		doctor_ok(d, NULL, "no object is waiting");
	json_object_put(tree);
}

// Whether a text has a word, between blanks.
static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);
	for (const char *at = text; (at = strstr(at, word)); at += len)
		if ((at == text || strchr(" \t\n", at[-1])) && strchr(" \t\n", at[len]))
			return true;
	return false;
}

static void resolve(struct doctor *d, const char *host)
{
	char hosts[16384];
	struct addrinfo *list = NULL;
	doctor_read(d, hosts, sizeof hosts, "/etc/hosts");
	bool is_known =
		has_word(hosts, host) || (!*d->root && !getaddrinfo(host, NULL, NULL, &list));
	if (list)
		freeaddrinfo(list);
	struct finding f =
		doctor_judge(is_known, DOCTOR_WARN, "host name",
			     "programs that resolve this machine's host name are delayed or fail",
			     "add it to /etc/hosts, or to the name server");
	doctor_say(d, &f, "%s", is_known ? "resolves" : "does not resolve");
}

// Reading rules needs privileges; reports only that there may be some.
static void firewall(struct doctor *d)
{
	if (!doctor_exists(d, "/sys/module/nf_tables") &&
	    !doctor_exists(d, "/sys/module/ip_tables"))
		return;
	struct finding f = { DOCTOR_OK, "firewall",
			     "initiators need TCP port 3260, and UDP port 4791 for RoCE v2",
			     "nft list ruleset" };
	doctor_say(d, &f, "may have rules");
}

void check_names(struct doctor *d)
{
	char name[300], host[80];
	bool has = doctor_read(d, name, sizeof name, "/etc/iscsi/initiatorname.iscsi");
	char *at = has ? strstr(name, "InitiatorName=") : NULL;
	struct finding f = doctor_judge(
		!has || at, DOCTOR_WARN, "initiator name", "the file has no line InitiatorName=",
		"echo InitiatorName=$(iscsi-iname) > /etc/iscsi/initiatorname.iscsi");
	if (at)
		doctor_say(d, &f, "%.*s", (int)strcspn(at + 14, "\n"), at + 14);
	else if (has)
		doctor_say(d, &f, "missing in /etc/iscsi/initiatorname.iscsi");
	else if (errno == ENOENT)
		doctor_skip(
			d, f.object,
			"no /etc/iscsi/initiatorname.iscsi: farblock-initiator generates a name");
	else
		doctor_skip(d, f.object, "/etc/iscsi/initiatorname.iscsi: %m");
	doctor_read(d, host, sizeof host, "/proc/sys/kernel/hostname");
	bool is_named = *host && strcmp(host, "localhost") && strcmp(host, "(none)");
	struct finding h = doctor_judge(is_named, DOCTOR_WARN, "host name",
					"names generated from it are not unique",
					"hostnamectl set-hostname NAME");
	doctor_say(d, &h, "%s", *host ? host : "(none)");
	if (is_named)
		resolve(d, host);
	firewall(d);
}
