// SPDX-License-Identifier: BSD-2-Clause
// doctor: looks at this machine (cli/doctor/).
#include "cli/doctor/doctor.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

static int ask(void *arg, const char *method, struct json_object *params, struct json_object **ret,
	       struct err *e)
{
	return shell_call(arg, method, params, ret, e);
}

static int run(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	const char *name = line_value(l, "check", 0), *root = line_value(l, "root", 1);
	const char *interval = line_value(l, "interval", 2);
	struct doctor d = { .root = root ? root : "", .sample_ms = 1000, .ask = ask, .ask_arg = s };
	if (interval)
		d.sample_ms = (unsigned)strtoul(interval, NULL, 10) % 3600 * 1000;
	if (name && !strcmp(name, "rates")) {
		doctor_show_rates(s->look.out);
		return 0;
	}
	int r = doctor_run(&d, name && strcmp(name, "all") ? name : NULL, e);
	if (!r && s->is_json)
		show_json(&s->look, d.findings);
	else if (!r)
		doctor_show(&d, s->look.out);
	json_object_put(d.findings);
	if (!r && d.counts[DOCTOR_FAIL])
		r = err_set(e, -EREMOTEIO, "doctor: %u findings keep something from working",
			    d.counts[DOCTOR_FAIL]);
	return r;
}

// clang-format off
static const struct shell_param params[] = {
	{"check", "string", false, "all",
	 "name of one check, all, or rates for the table of link rates"},
	{"root", "file", false, NULL, "folder with another machine's /sys and /proc"},
	{"interval", "number", false, "1", "seconds between two looks at counters; 0: one look"},
	{0},
};
// clang-format on

const struct shell_command command_doctor = {
	"doctor", params, "Looks for what keeps disks from being served over RDMA, with the cure.",
	run
};
