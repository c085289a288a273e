// SPDX-License-Identifier: BSD-2-Clause
// The self-test: for a few seconds there is a RAM disk behind every portal (temporary.c);
// farblock-initiator logs in, verifies what it wrote, and measures.
#include <errno.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/initiator.h"
#include "cli/doctor/temporary.h"
#include "cli/shell/client.h"
#include "transport/tcp/addr.h"

static volatile sig_atomic_t ended_by; // a signal, 0: none

// ---- logins ----

// How farblock-initiator reaches the disk.
static const struct way {
	unsigned protocol;
	const char *scheme, *name;
	bool is_optional; // a portal may not offer it
} ways[] = {
	{DOCTOR_ISCSI,	"iscsi", "TCP",	false},
	{ DOCTOR_ISCSI, "iser",	"iSER", true },
	{ DOCTOR_SRP,   "srp",   "SRP",  false},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

struct attempt {
	struct temporary *t;
	const struct way *way;
	char url[300];
	const char *who[2]; // the option that makes it an initiator that is admitted
};

static int measure(const struct attempt *a, const char *op, double *ret_iops, double *ret_p50,
		   struct err *e)
{
	const char *words[] = { "bench", a->url,    a->who[0], a->who[1], "--op", op,	    "--bs",
				"4k",	 "--depth", "1",       "--time",  "1",	  "--json", NULL };
	char *out;
	int r = initiator_run(words, a->t->secret, &out, e);
	if (r < 0) {
		free(out);
		return r;
	}
	struct json_object *o = json_tokener_parse(out);
	if (!json_field(o, "iops"))
		r = err_set(e, -EIO, "farblock-initiator bench: no rate in its output");
	*ret_iops = json_object_get_double(json_field(o, "iops"));
	*ret_p50 = json_object_get_double(json_field(o, "p50_us"));
	json_object_put(o);
	free(out);
	return r;
}

static int compare(const struct attempt *a, struct err *e)
{
	const char *words[] = { "verify",  a->url,    "--pattern", "1", "--length",
				"1048576", a->who[0], a->who[1],   NULL };
	char *out;
	int r = initiator_run(words, a->t->secret, &out, e);
	free(out);
	return r;
}

static bool attempt_init(struct attempt *a, struct temporary *t, const char *portal,
			 const struct way *w)
{
	char to[TCP_ADDR_TEXT];
	struct tcp_addr addr;
	bool is_srp = w->protocol == DOCTOR_SRP;
	if (!doctor_portal_address(&addr, portal))
		return false;
	*a = (struct attempt){ .t = t, .way = w };
	a->who[0] = is_srp ? "--initiator-port" : "--chap-user";
	a->who[1] = is_srp ? t->port : DOCTOR_USER;
	snprintf(a->url, sizeof a->url, "%s://%s/%s/0", w->scheme, tcp_addr_format(&addr, to),
		 temporary_url(w->protocol));
	return true;
}

static void login(struct temporary *t, const char *portal, const char *summary, const struct way *w)
{
	char object[120];
	double reads, writes, read_us, write_us;
	struct err e = { 0 };
	struct attempt a;
	if (ended_by || !attempt_init(&a, t, portal, w))
		return;
	// Devices need not reach themselves.
	bool is_optional = w->is_optional || !strcmp(summary, "rdma");
	snprintf(object, sizeof object, "%.80s over %s", portal, w->name);
	int r = compare(&a, &e);
	if (!r && !ended_by)
		r = measure(&a, "randwrite", &writes, &write_us, &e);
	if (!r && !ended_by)
		r = measure(&a, "randread", &reads, &read_us, &e);
	if (ended_by)
		return;
	struct finding f = { DOCTOR_FAIL, object, "initiators fail in the same way",
			     "journalctl -u farblockd; farblock refusals" };
	if (r < 0 && is_optional)
		doctor_skip(t->d, object, "%s", e.text);
	else if (r < 0)
		doctor_say(t->d, &f, "%s", e.text);
	else
		doctor_ok(t->d, object,
			  "login%s, 1 MiB verified; 4 KiB at queue depth 1: %.0f reads/s "
			  "(median %.0f us), %.0f writes/s (median %.0f us)",
			  w->protocol == DOCTOR_ISCSI ? " with CHAP" : "", reads, read_us, writes,
			  write_us);
}

static void try_portals(struct temporary *t, unsigned protocol)
{
	int tried = 0;
	json_object_object_foreach(t->portals[protocol], portal, summary)
	{
		if (tried++ == DOCTOR_PORTALS_TRIED)
			break;
		for (unsigned i = 0; i < WAYS; i++)
			if (ways[i].protocol == protocol)
				login(t, portal, json_object_get_string(summary), &ways[i]);
	}
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

static int test(struct temporary *t, struct err *e)
{
	struct err why;
	struct finding f = { DOCTOR_WARN, "selftest", NULL, "farblock doctor selftest" };
	int r = temporary_delete(t, e);
	if (!r || r == -ENOENT)
		r = temporary_create(t, e);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < DOCTOR_PROTOCOLS; i++)
		try_portals(t, i);
	if (temporary_delete(t, &why) < 0)
		doctor_say(t->d, &f, "cannot remove its objects: %s", why.text);
	return 0;
}

static int test_until_signal(struct temporary *t, struct err *e)
{
	struct handlers h;
	catch_ends(&h);
	int r = test(t, e);
	return release_ends(&h, r, e);
}

// Whether there is anything to test; tells of what is not.
static bool look_at_portals(struct doctor *d, const struct temporary *t)
{
	int all = 0;
	for (unsigned i = 0; i < DOCTOR_PROTOCOLS; i++) {
		int count = json_object_object_length(t->portals[i]);
		all += count;
		if (count > DOCTOR_PORTALS_TRIED)
			doctor_skip(d, NULL, "tests only the first %d of %d portals%s",
				    DOCTOR_PORTALS_TRIED, count, i == DOCTOR_SRP ? " of SRP" : "");
	}
	if (!all)
		doctor_skip(d, NULL, "no portal listens");
	return all;
}

int doctor_selftest(struct doctor *d, struct err *e)
{
	struct temporary t;
	struct json_object *tree = NULL;
	doctor_begin(d, "selftest");
	int r = d->ask(d->ask_arg, "tree.ls", NULL, &tree, e);
	if (r < 0)
		return r;
	temporary_init(&t, d, tree);
	if (look_at_portals(d, &t))
		r = test_until_signal(&t, e);
	temporary_done(&t);
	json_object_put(tree);
	return r;
}
