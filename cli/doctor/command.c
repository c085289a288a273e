// SPDX-License-Identifier: BSD-2-Clause
// doctor: diagnoses this machine.
#include "cli/doctor/doctor.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/command.h"

static int ask(void *arg, const char *method, struct json_object *params, struct json_object **ret,
	       struct err *e)
{
	return shell_call(arg, method, params, ret, e);
}

// The request: name of a check (NULL: all), or the portal of another machine.
struct wish {
	const char *check, *remote;
};

// doctor [check] ..., also doctor --remote PORTAL.
static int understand(const struct line *l, struct wish *ret, struct err *e)
{
	const char *first = line_value(l, "check", 0);
	ret->remote = line_named(l, "remote");
	ret->check = first && strcmp(first, "all") ? first : NULL;
	if (!first || strcmp(first, "--remote"))
		return 0;
	ret->check = NULL;
	ret->remote = line_positional(l, 1);
	return ret->remote ? 0
			   : err_set(e, -EBADRQC,
				     "--remote: no portal given (use host[:port], or "
				     "srp://host[:port])");
}

static int read_interval(const char *text, unsigned *ret_ms, struct err *e)
{
	enum { SECONDS_MAX = 3600 };
	char *end;
	unsigned long v = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || v > SECONDS_MAX)
		return err_set(e, -EINVAL, "invalid interval: '%.40s' (0 to %d seconds)", text,
			       SECONDS_MAX);
	*ret_ms = (unsigned)v * 1000;
	return 0;
}

static int examine(struct doctor *d, const struct wish *w, struct err *e)
{
	if (w->remote) {
		doctor_remote(d, w->remote);
		return 0;
	}
	if (w->check && !strcmp(w->check, "selftest"))
		return d->ask ? doctor_selftest(d, e)
			      : err_set(e, -EINVAL,
					"doctor: selftest tests the local daemon (run it "
					"without root=)");
	return doctor_run(d, w->check, e);
}

static void show_rates(struct shell *s)
{
	if (s->is_json)
		show_json_once(&s->look, doctor_rates_json());
	else
		doctor_show_rates(s->look.out);
}

static int run(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	const char *root = line_value(l, "root", 1), *interval = line_value(l, "interval", 2);
	struct wish w;
	int r = understand(l, &w, e);
	if (r < 0)
		return r;
	// With files of another machine this machine's daemon is not asked.
	struct doctor d = { .root = root ? root : "",
			    .sample_ms = 1000,
			    .ask = root && *root ? NULL : ask,
			    .ask_arg = s };
	r = interval ? read_interval(interval, &d.sample_ms, e) : 0;
	if (r < 0)
		return r;
	if (w.check && !strcmp(w.check, "rates")) {
		show_rates(s);
		return 0;
	}
	r = examine(&d, &w, e);
	if (r == -ENOENT && !json_object_array_length(d.findings))
		; // no check ran
	else if (d.findings && s->is_json)
		show_json(&s->look, d.findings);
	else if (d.findings)
		doctor_show(&d, s->look.out);
	json_object_put(d.findings);
	unsigned failed = d.counts[DOCTOR_FAIL];
	if (!r && failed)
		r = err_set(e, -EREMOTEIO, "doctor: %u finding%s service", failed,
			    failed == 1 ? " prevents" : "s prevent");
	return r;
}

// clang-format off
static const struct shell_param params[] = {
	{"check", "string", false, "all",
	 "a check, all, rates (a table of link rates), or selftest (log in through every "
	 "portal to a temporary target and RAM disk, compare data and measure)"},
	{"root", "file", false, NULL, "directory with another machine's /sys and /proc"},
	{"interval", "number", false, "1", "seconds between two readings of counters; 0: read once"},
	{"remote", "string", false, NULL, "check the way from this initiator to a portal: host[:port], or srp://host[:port] for SRP alone (also --remote PORTAL)"},
	{0},
};
// clang-format on

const struct shell_command command_doctor = { "doctor", params,
					      "Diagnose problems and suggest fixes.", run,
					      .is_open = true };
