// SPDX-License-Identifier: BSD-2-Clause
// The self-test: creates a RAM disk and a target behind every portal for a few seconds;
// farblock-initiator logs in with CHAP, verifies what it wrote, and measures.
#include <errno.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cli/doctor/doctor.h"
#include "cli/doctor/initiator.h"
#include "cli/shell/shell.h"
#include "transport/tcp/addr.h"

#define DISK   "doctor-selftest"
#define IQN    "iqn.2003-01.org.linux-iscsi.doctor:selftest"
#define TARGET "/iscsi/" IQN
#define TPG    TARGET "/tpg1"
#define USER   "doctor"

enum { PORTALS_TRIED = 16, PORTAL_SIZE = 80, SECRET_BYTES = 12 };

struct selftest {
	struct doctor *d;
	struct json_object *portals; // doctor_portals(), of which the first ones are tried
	char secret[2 * SECRET_BYTES + 1];
};

static volatile sig_atomic_t ended_by; // a signal, 0: none

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

// Ends a transaction, so that no client sees a part of it. undo does not count these changes.
static int commit(struct selftest *t, int r, struct err *e)
{
	struct err ignored;
	if (!r)
		return run(t->d, e, "/", "commit", "backup=false", NULL);
	run(t->d, &ignored, "/", "abort", NULL);
	return r;
}

// Also removes the objects of a self-test that was killed. -ENOENT: there are none.
static int take_away(struct selftest *t, struct err *e)
{
	int r = run(t->d, e, "/", "begin", NULL);
	if (r < 0)
		return r;
	int target = run(t->d, e, "/iscsi", "delete", IQN, "force=true", NULL);
	int disk = !target || target == -ENOENT
			   ? run(t->d, e, "/backstores/ramdisk", "delete", DISK, "force=true", NULL)
			   : target;
	return commit(t, disk == -ENOENT ? target : disk, e);
}

// The new target may have a default portal; replaces it.
static int make_portals(struct selftest *t, struct err *e)
{
	struct err ignored;
	int r = 0, tried = 0;
	run(t->d, &ignored, TPG "/portals", "delete", "0.0.0.0", "3260", NULL);
	json_object_object_foreach(t->portals, name, unused)
	{
		(void)unused;
		char host[PORTAL_SIZE];
		const char *colon = strrchr(name, ':');
		snprintf(host, sizeof host, "%.*s", colon ? (int)(colon - name) : 0, name);
		if (!r && tried++ < PORTALS_TRIED)
			r = run(t->d, e, TPG "/portals", "create", host, colon ? colon + 1 : "3260",
				NULL);
	}
	return r;
}

static int make(struct selftest *t, struct err *e)
{
	char password[64];
	uint8_t random[SECRET_BYTES];
	if (getrandom(random, sizeof random, 0) != sizeof random)
		return err_errno(e, -errno, "secret");
	for (int i = 0; i < SECRET_BYTES; i++)
		snprintf(t->secret + 2 * i, 3, "%02x", random[i]);
	snprintf(password, sizeof password, "password=%s", t->secret);
	int r = run(t->d, e, "/", "begin", NULL);
	if (r < 0)
		return r;
	r = run(t->d, e, "/backstores/ramdisk", "create", DISK, "16M", NULL);
	if (!r)
		r = run(t->d, e, "/iscsi", "create", IQN, NULL);
	if (!r)
		r = make_portals(t, e);
	if (!r)
		r = run(t->d, e, TPG "/luns", "create", "/backstores/ramdisk/" DISK, NULL);
	if (!r)
		r = run(t->d, e, TPG, "set", "attribute", "authentication=1",
			"generate_node_acls=1", "demo_mode_write_protect=0", NULL);
	if (!r)
		r = run(t->d, e, TPG, "set", "auth", "userid=" USER, password, NULL);
	explicit_bzero(password, sizeof password);
	return commit(t, r, e);
}

// ---- logins ----

static int measure(struct selftest *t, const char *url, const char *op, double *ret_iops,
		   double *ret_p50, struct err *e)
{
	const char *words[] = { "bench",   url, "--chap-user", USER, "--op",   op,  "--bs", "4k",
				"--depth", "1", "--time",      "1",  "--json", NULL };
	char *out;
	int r = initiator_run(words, t->secret, &out, e);
	if (r < 0)
		return r;
	struct json_object *o = json_tokener_parse(out);
	if (!json_field(o, "iops"))
		r = err_set(e, -EIO, "farblock-initiator bench: no rate in its output");
	*ret_iops = json_object_get_double(json_field(o, "iops"));
	*ret_p50 = json_object_get_double(json_field(o, "p50_us"));
	json_object_put(o);
	free(out);
	return r;
}

static int compare(struct selftest *t, const char *url, struct err *e)
{
	const char *words[] = { "verify",  url,		  "--pattern", "1", "--length",
				"1048576", "--chap-user", USER,	       NULL };
	char *out;
	int r = initiator_run(words, t->secret, &out, e);
	if (!r)
		free(out);
	return r;
}

static void login(struct selftest *t, const char *portal, const char *scheme)
{
	char url[300], object[120], to[TCP_ADDR_TEXT];
	double reads, writes, read_us, write_us;
	bool is_iser = !strcmp(scheme, "iser"); // a portal may not offer it
	struct err e = { 0 };
	struct tcp_addr a;
	if (!doctor_portal_address(&a, portal))
		return;
	tcp_addr_format(&a, to);
	snprintf(url, sizeof url, "%s://%s/" IQN "/0", scheme, to);
	snprintf(object, sizeof object, "%.80s over %s", portal, is_iser ? "iSER" : "TCP");
	int r = compare(t, url, &e);
	if (!r && !ended_by)
		r = measure(t, url, "randwrite", &writes, &write_us, &e);
	if (!r && !ended_by)
		r = measure(t, url, "randread", &reads, &read_us, &e);
	if (ended_by)
		return;
	struct finding f = { DOCTOR_FAIL, object, "initiators fail in the same way",
			     "journalctl -u farblockd; farblock refusals" };
	if (r < 0 && is_iser)
		doctor_skip(t->d, object, "%s", e.text);
	else if (r < 0)
		doctor_say(t->d, &f, "%s", e.text);
	else
		doctor_ok(t->d, object,
			  "login with CHAP, 1 MiB verified; 4 KiB at queue depth 1: %.0f reads/s "
			  "(median %.0f us), %.0f writes/s (median %.0f us)",
			  reads, read_us, writes, write_us);
}

// ---- signals ----

static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
enum { END_COUNT = sizeof ends / sizeof *ends };
static void note_end(int number)
{
	ended_by = number;
	initiator_stop();
}

struct handlers {
	struct sigaction old[END_COUNT];
	sigset_t mask;
};

// A signal that ends the program during the test first removes the test's objects.
static void catch_ends(struct handlers *h)
{
	struct sigaction a = { .sa_handler = note_end };
	sigset_t set;
	sigemptyset(&set);
	ended_by = 0;
	for (int i = 0; i < END_COUNT; i++) {
		sigaction(ends[i], NULL, &h->old[i]);
		sigaddset(&set, ends[i]);
		if (h->old[i].sa_handler != SIG_IGN) // nohup
			sigaction(ends[i], &a, NULL);
	}
	sigprocmask(SIG_UNBLOCK, &set, &h->mask); // the prompt blocks Ctrl-C
}

// Restores the old handlers. A signal that would have ended the program does so now.
static int release_ends(const struct handlers *h, int r, struct err *e)
{
	sigprocmask(SIG_SETMASK, &h->mask, NULL);
	for (int i = 0; i < END_COUNT; i++)
		sigaction(ends[i], &h->old[i], NULL);
	for (int i = 0; i < END_COUNT; i++)
		if (ended_by == ends[i] && h->old[i].sa_handler == SIG_DFL)
			raise(ends[i]);
	return ended_by ? err_set(e, -EINTR, "selftest: interrupted; its objects were removed") : r;
}

static int test(struct selftest *t, struct err *e)
{
	struct err why;
	struct finding f = { DOCTOR_WARN, TARGET, NULL, "farblock doctor selftest" };
	int r = take_away(t, e), tried = 0;
	if (!r || r == -ENOENT)
		r = make(t, e);
	if (r < 0)
		return r;
	json_object_object_foreach(t->portals, portal, unused)
	{
		(void)unused;
		if (tried++ == PORTALS_TRIED)
			break;
		if (!ended_by)
			login(t, portal, "iscsi");
		if (!ended_by)
			login(t, portal, "iser");
	}
	if (take_away(t, &why) < 0)
		doctor_say(t->d, &f, "cannot remove it: %s", why.text);
	return 0;
}

static int test_until_signal(struct selftest *t, struct err *e)
{
	struct handlers h;
	catch_ends(&h);
	int r = test(t, e);
	explicit_bzero(t->secret, sizeof t->secret);
	return release_ends(&h, r, e);
}

int doctor_selftest(struct doctor *d, struct err *e)
{
	struct selftest t = { .d = d };
	struct json_object *tree = NULL;
	doctor_begin(d, "selftest");
	int r = d->ask(d->ask_arg, "tree.ls", NULL, &tree, e);
	if (r < 0)
		return r;
	t.portals = doctor_portals(d, tree);
	int count = json_object_object_length(t.portals);
	if (!count)
		doctor_skip(d, NULL, "no portal listens");
	if (count > PORTALS_TRIED)
		doctor_skip(d, NULL, "tests only the first %d of %d portals", PORTALS_TRIED, count);
	if (count)
		r = test_until_signal(&t, e);
	json_object_put(t.portals);
	json_object_put(tree);
	return r;
}
