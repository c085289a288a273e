// SPDX-License-Identifier: BSD-2-Clause
// What the self-test creates: a RAM disk, and for each protocol with a portal a target behind these
// portals, in one transaction.
#include "cli/doctor/temporary.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "cli/shell/shell.h"

#define DISK	"doctor-selftest"
#define IQN	"iqn.2003-01.org.linux-iscsi.doctor:selftest"
#define EXT	"646f63746f720000" // "doctor"
#define GUID	"73656c6674657374" // "selftest"
#define RAMDISK "/backstores/ramdisk"

enum { PORTAL_SIZE = 80, RANDOM_BYTES = 12 };

// One command of the tree; words: its values and NULL. "name=value" goes by name.
static int run(struct doctor *d, struct err *e, const char *path, const char *command, ...)
{
	struct json_object *list = json_object_new_array(), *named = json_object_new_object();
	struct json_object *o = NULL;
	va_list ap;
	va_start(ap, command);
	for (const char *w; (w = va_arg(ap, const char *));) {
		const char *equals = strchr(w, '=');
		char name[64];
		snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - w) : 0, w);
		if (equals)
			json_object_object_add(named, name, json_object_new_string(equals + 1));
		else
			json_object_array_add(list, json_object_new_string(w));
	}
	va_end(ap);
	int r = d->ask(d->ask_arg, "tree.run", run_params(path, command, list, named), &o, e);
	json_object_put(o);
	return r;
}

// ---- protocols ----

// Initiators with the secret are admitted, and see the disk.
static int admit_by_chap(struct temporary *t, const char *group, struct err *e)
{
	char password[80];
	snprintf(password, sizeof password, "password=%s", t->secret);
	int r = run(t->d, e, group, "set", "attribute", "authentication=1", "generate_node_acls=1",
		    "demo_mode_write_protect=0", NULL);
	if (!r)
		r = run(t->d, e, group, "set", "auth", "userid=" DOCTOR_USER, password, NULL);
	explicit_bzero(password, sizeof password);
	return r;
}

// The initiator with the port identifier is.
static int admit_by_port(struct temporary *t, const char *group, struct err *e)
{
	char acls[120], name[sizeof "ib." + 32];
	snprintf(acls, sizeof acls, "%s/acls", group);
	snprintf(name, sizeof name, "ib.%.16s%.16s", t->port, t->port + 17);
	return run(t->d, e, acls, "create", name, "add_mapped_luns=true", NULL);
}

static const struct protocol {
	const char *portal_class, *node, *name, *group, *port; // the default
	const char *url;				       // the target in a URL
	int (*admit)(struct temporary *t, const char *group, struct err *e);
} protocols[DOCTOR_PROTOCOLS] = {
	{"portal",	    "/iscsi", IQN,		   "/iscsi/" IQN "/tpg1", "3260", IQN,	       admit_by_chap},
	{ "srpt_portal", "/srpt",  "ib." EXT GUID, "/srpt/ib." EXT GUID,	"3261", EXT ":" GUID,
	  admit_by_port										       },
};

const char *temporary_url(unsigned protocol)
{
	return protocols[protocol].url;
}

// ---- changes ----

// Ends a transaction, so that no client sees a part of it. undo does not count these changes.
static int commit(struct temporary *t, int r, struct err *e)
{
	struct err ignored;
	if (!r)
		return run(t->d, e, "/", "commit", "backup=false", NULL);
	run(t->d, &ignored, "/", "abort", NULL);
	return r;
}

// Deletes what is there, and counts it.
static int take(struct temporary *t, const char *path, const char *name, unsigned *count,
		struct err *e)
{
	int r = run(t->d, e, path, "delete", name, "force=true", NULL);
	*count += !r;
	return r == -ENOENT ? 0 : r;
}

int temporary_delete(struct temporary *t, struct err *e)
{
	unsigned count = 0;
	int r = run(t->d, e, "/", "begin", NULL);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < DOCTOR_PROTOCOLS && !r; i++)
		r = take(t, protocols[i].node, protocols[i].name, &count, e);
	if (!r)
		r = take(t, RAMDISK, DISK, &count, e);
	return commit(t, r || count ? r : -ENOENT, e);
}

// The new target may have a default portal; replaces it.
static int make_portals(struct temporary *t, unsigned protocol, struct err *e)
{
	const struct protocol *p = &protocols[protocol];
	struct err ignored;
	char path[120];
	int r = 0, tried = 0;
	snprintf(path, sizeof path, "%s/portals", p->group);
	run(t->d, &ignored, path, "delete", "0.0.0.0", p->port, NULL);
	json_object_object_foreach(t->portals[protocol], name, summary)
	{
		char host[PORTAL_SIZE];
		const char *colon = strrchr(name, ':'), *how = json_object_get_string(summary);
		// A portal keeps its transport.
		bool is_one = protocol && (!strcmp(how, "rdma") || !strcmp(how, "iwarp"));
		snprintf(host, sizeof host, "%.*s", colon ? (int)(colon - name) : 0, name);
		if (!r && tried++ < DOCTOR_PORTALS_TRIED)
			r = run(t->d, e, path, "create", host, colon ? colon + 1 : p->port,
				is_one ? how : NULL, NULL);
	}
	return r;
}

static int make_target(struct temporary *t, unsigned protocol, struct err *e)
{
	const struct protocol *p = &protocols[protocol];
	char luns[120];
	if (!json_object_object_length(t->portals[protocol]))
		return 0;
	snprintf(luns, sizeof luns, "%s/luns", p->group);
	int r = run(t->d, e, p->node, "create", p->name, NULL);
	if (!r)
		r = make_portals(t, protocol, e);
	if (!r)
		r = run(t->d, e, luns, "create", RAMDISK "/" DISK, NULL);
	return r ? r : p->admit(t, p->group, e);
}

// What nobody else knows.
static int make_credentials(struct temporary *t, struct err *e)
{
	uint8_t random[RANDOM_BYTES];
	char text[2 * RANDOM_BYTES + 1];
	_Static_assert(sizeof text == sizeof t->secret, "the secret");
	if (getrandom(random, sizeof random, 0) != sizeof random)
		return err_errno(e, -errno, "secret");
	for (int i = 0; i < RANDOM_BYTES; i++)
		snprintf(t->secret + 2 * i, 3, "%02x", random[i]);
	if (getrandom(random, sizeof random, 0) != sizeof random)
		return err_errno(e, -errno, "initiator port");
	for (int i = 0; i < RANDOM_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", random[i]);
	snprintf(t->port, sizeof t->port, EXT ":%.16s", text);
	return 0;
}

int temporary_create(struct temporary *t, struct err *e)
{
	int r = make_credentials(t, e);
	if (!r)
		r = run(t->d, e, "/", "begin", NULL);
	if (r < 0)
		return r;
	r = run(t->d, e, RAMDISK, "create", DISK, "16M", NULL);
	for (unsigned i = 0; i < DOCTOR_PROTOCOLS && !r; i++)
		r = make_target(t, i, e);
	return commit(t, r, e);
}

void temporary_init(struct temporary *t, struct doctor *d, struct json_object *tree)
{
	*t = (struct temporary){ .d = d };
	for (unsigned i = 0; i < DOCTOR_PROTOCOLS; i++)
		t->portals[i] = doctor_portals(d, tree, protocols[i].portal_class);
}

void temporary_done(struct temporary *t)
{
	for (unsigned i = 0; i < DOCTOR_PROTOCOLS; i++)
		json_object_put(t->portals[i]);
	explicit_bzero(t->secret, sizeof t->secret);
}
