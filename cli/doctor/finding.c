// SPDX-License-Identifier: BSD-2-Clause
// Findings: how they are collected and shown.
#include <json-c/json.h>
#include <stdarg.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "cli/shell/client.h"
#include "core/json/json.h"

static const struct {
	const char *name, *box;
} verdicts[] = {
	[DOCTOR_OK] = {"ok",    "[ ok ]"},
	[DOCTOR_SKIP] = { "skip", "[skip]"},
	[DOCTOR_WARN] = { "warn", "[warn]"},
	[DOCTOR_FAIL] = { "fail", "[FAIL]"},
};

void doctor_begin(struct doctor *d, const char *check)
{
	d->check = check;
	if (!d->findings)
		d->findings = json_object_new_array();
}

struct finding doctor_judge(bool is_fine, enum verdict verdict, const char *object, const char *why,
			    const char *fix)
{
	return is_fine ? (struct finding){ DOCTOR_OK, object, NULL, NULL }
		       : (struct finding){ verdict, object, why, fix };
}

void doctor_say(struct doctor *d, const struct finding *f, const char *what, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, what);
	vsnprintf(text, sizeof text, what, ap);
	va_end(ap);
	struct json_object *o = json_object_new_object();
	json_put_text(o, "check", d->check);
	json_put_text(o, "verdict", verdicts[f->verdict].name);
	json_put_text(o, "object", f->object ? f->object : "");
	json_put_text(o, "what", text);
	json_put_text(o, "why", f->why);
	json_put_text(o, "fix", f->fix);
	json_object_array_add(d->findings, o);
	d->counts[f->verdict]++;
}

// Alternatives stand on lines of their own, so that each can be copied.
static void show_fixes(const char *fix, FILE *out)
{
	const char *before = "fix:";
	while (*fix) {
		size_t len = strcspn(fix, "\n");
		fprintf(out, "       %4s %.*s\n", before, (int)len, fix);
		fix += len + (fix[len] == '\n');
		before = "or:";
	}
}

void doctor_show(const struct doctor *d, FILE *out)
{
	json_each (f, d->findings) {
		const char *box = "";
		for (int k = DOCTOR_OK; k <= DOCTOR_FAIL; k++)
			if (!strcmp(verdicts[k].name, text_field(f, "verdict")))
				box = verdicts[k].box;
		fprintf(out, "%s %s%s%s: %s\n", box, text_field(f, "check"),
			*text_field(f, "object") ? " " : "", text_field(f, "object"),
			text_field(f, "what"));
		if (*text_field(f, "why"))
			fprintf(out, "       why: %s\n", text_field(f, "why"));
		show_fixes(text_field(f, "fix"), out);
	}
	unsigned warnings = d->counts[DOCTOR_WARN];
	fprintf(out, "%u ok, %u warning%s, %u failed, %u skipped\n", d->counts[DOCTOR_OK], warnings,
		warnings == 1 ? "" : "s", d->counts[DOCTOR_FAIL], d->counts[DOCTOR_SKIP]);
}
