// SPDX-License-Identifier: BSD-2-Clause
// Answers of farblockd, and the machine's names.
#include <errno.h>
#include <json-c/json.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"

struct json_object *doctor_ask(struct doctor *d, const char *method)
{
	struct json_object *o = NULL;
	struct err ignored;
	return d->ask && d->ask(d->ask_arg, method, NULL, &o, &ignored) >= 0 ? o : NULL;
}

struct json_object *doctor_info(struct doctor *d, const char *path)
{
	struct json_object *p = json_object_new_object(), *o = NULL;
	struct err ignored;
	json_object_object_add(p, "path", json_object_new_string(path));
	if (d->ask)
		return d->ask(d->ask_arg, "tree.info", p, &o, &ignored) < 0 ? NULL : o;
	json_object_put(p);
	return NULL;
}

int doctor_daemon_pid(struct doctor *d)
{
	struct json_object *version = doctor_ask(d, "version"), *pid;
	int n = json_object_object_get_ex(version, "pid", &pid) ? json_object_get_int(pid) : 0;
	json_object_put(version);
	return n;
}

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

const char *doctor_text(struct json_object *o, const char *key)
{
	struct json_object *v;
	const char *s = json_object_object_get_ex(o, key, &v) ? json_object_get_string(v) : NULL;
	return s ? s : "";
}

struct walk {
	const char *class;
	void *arg;
	void (*fn)(struct doctor *d, void *arg, const char *path, struct json_object *node);
};

static void walk(struct doctor *d, const struct walk *w, struct json_object *node,
		 const char *below)
{
	struct json_object *children;
	char path[512];
	bool is_root = !strcmp(doctor_text(node, "name"), "/");
	snprintf(path, sizeof path, "%s%s%s", is_root ? "" : below, is_root ? "" : "/",
		 is_root ? "" : doctor_text(node, "name"));
	if (!strcmp(doctor_text(node, "class"), w->class))
		w->fn(d, w->arg, path, node);
	if (json_object_object_get_ex(node, "children", &children))
		for (size_t i = 0; i < json_object_array_length(children); i++)
			walk(d, w, json_object_array_get_idx(children, i), path);
}

bool doctor_each_node(struct doctor *d, const char *class, void *arg,
		      void (*fn)(struct doctor *d, void *arg, const char *path,
				 struct json_object *node))
{
	struct json_object *tree = doctor_ask(d, "tree.ls");
	if (tree)
		walk(d, &(struct walk){ class, arg, fn }, tree, "");
	json_object_put(tree);
	return tree;
}

// Reports nodes of the tree below path whose summary has the word waiting.
static unsigned waiting(struct doctor *d, struct json_object *node, const char *below)
{
	struct json_object *children;
	char path[512];
	unsigned n = 0;
	bool is_root = !strcmp(doctor_text(node, "name"), "/");
	snprintf(path, sizeof path, "%s%s%s", below, is_root || !strcmp(below, "/") ? "" : "/",
		 is_root ? "" : doctor_text(node, "name"));
	if (strcasestr(doctor_text(node, "summary"), "waiting")) {
		struct finding f = { DOCTOR_WARN, path, NULL, NULL };
		f.why = "retried until the missing device, file or address appears";
		doctor_say(d, &f, "%s", doctor_text(node, "summary"));
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
		doctor_say(d, &(struct finding){ DOCTOR_OK }, "no object is waiting");
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
	struct finding f = { is_known ? DOCTOR_OK : DOCTOR_WARN, "host name", NULL, NULL };
	if (!is_known) {
		f.why = "programs that resolve this machine's host name are delayed or fail";
		f.fix = "add it to /etc/hosts, or to the name server";
	}
	doctor_say(d, &f, "%s", is_known ? "resolves" : "does not resolve");
}

// Reading rules needs privileges; reports only that there may be some.
static void firewall(struct doctor *d)
{
	if (!doctor_exists(d, "/sys/module/nf_tables") &&
	    !doctor_exists(d, "/sys/module/ip_tables"))
		return;
	doctor_say(
		d,
		&(struct finding){ DOCTOR_OK, "firewall",
				   "initiators need TCP port 3260, and UDP port 4791 for RoCE v2",
				   "nft list ruleset" },
		"may have rules");
}

void check_names(struct doctor *d)
{
	char name[300], host[80];
	bool has = doctor_read(d, name, sizeof name, "/etc/iscsi/initiatorname.iscsi");
	struct finding f = { DOCTOR_OK, "initiator name", NULL, NULL };
	char *at = has ? strstr(name, "InitiatorName=") : NULL;
	if (has && !at) {
		f.verdict = DOCTOR_WARN;
		f.why = "the file has no line InitiatorName=";
		f.fix = "echo InitiatorName=$(iscsi-iname) > /etc/iscsi/initiatorname.iscsi";
	}
	if (at)
		doctor_say(d, &f, "%.*s", (int)strcspn(at + 14, "\n"), at + 14);
	else if (has)
		doctor_say(d, &f, "missing in /etc/iscsi/initiatorname.iscsi");
	else if (errno == ENOENT)
		doctor_say(
			d, &(struct finding){ DOCTOR_SKIP, .object = "initiator name" },
			"no /etc/iscsi/initiatorname.iscsi: farblock-initiator generates a name");
	else
		doctor_say(d, &(struct finding){ DOCTOR_SKIP, .object = "initiator name" },
			   "/etc/iscsi/initiatorname.iscsi: %m");
	doctor_read(d, host, sizeof host, "/proc/sys/kernel/hostname");
	bool is_named = *host && strcmp(host, "localhost") && strcmp(host, "(none)");
	struct finding h = { is_named ? DOCTOR_OK : DOCTOR_WARN, "host name", NULL, NULL };
	if (!is_named) {
		h.why = "names generated from it are not unique";
		h.fix = "hostnamectl set-hostname NAME";
	}
	doctor_say(d, &h, "%s", *host ? host : "(none)");
	if (is_named)
		resolve(d, host);
	firewall(d);
}
