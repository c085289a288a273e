// SPDX-License-Identifier: BSD-2-Clause
// Findings: how they are collected and shown.
#include <json-c/json.h>
#include <stdarg.h>
#include <string.h>

#include "cli/doctor/doctor.h"

static const char *const verdicts[] = {
	[DOCTOR_OK] = "ok", [DOCTOR_SKIP] = "skip", [DOCTOR_WARN] = "warn", [DOCTOR_FAIL] = "fail"
};

void doctor_begin(struct doctor *d, const char *check)
{
	d->check = check;
	if (!d->findings)
		d->findings = json_object_new_array();
}

static void put(struct json_object *o, const char *key, const char *text)
{
	if (text)
		json_object_object_add(o, key, json_object_new_string(text));
}

void doctor_say(struct doctor *d, const struct finding *f, const char *what, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, what);
	vsnprintf(text, sizeof text, what, ap);
	va_end(ap);
	struct json_object *o = json_object_new_object();
	put(o, "check", d->check);
	put(o, "verdict", verdicts[f->verdict]);
	put(o, "object", f->object ? f->object : "");
	put(o, "what", text);
	put(o, "why", f->why);
	put(o, "fix", f->fix);
	json_object_array_add(d->findings, o);
	d->counts[f->verdict]++;
}

static const char *text(struct json_object *o, const char *key)
{
	struct json_object *v;
	return json_object_object_get_ex(o, key, &v) ? json_object_get_string(v) : "";
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
	static const char *const boxes[][2] = {
		{"ok",	"[ ok ]"},
		    { "skip", "[skip]"},
		  { "warn", "[warn]"},
		{ "fail", "[FAIL]"}
	};
	for (size_t i = 0; i < json_object_array_length(d->findings); i++) {
		struct json_object *f = json_object_array_get_idx(d->findings, i);
		const char *box = "";
		for (size_t k = 0; k < sizeof boxes / sizeof boxes[0]; k++)
			if (!strcmp(boxes[k][0], text(f, "verdict")))
				box = boxes[k][1];
		fprintf(out, "%s %s%s%s: %s\n", box, text(f, "check"),
			*text(f, "object") ? " " : "", text(f, "object"), text(f, "what"));
		if (*text(f, "why"))
			fprintf(out, "       why: %s\n", text(f, "why"));
		show_fixes(text(f, "fix"), out);
	}
	unsigned warnings = d->counts[DOCTOR_WARN];
	fprintf(out, "%u ok, %u warning%s, %u failed, %u skipped\n", d->counts[DOCTOR_OK], warnings,
		warnings == 1 ? "" : "s", d->counts[DOCTOR_FAIL], d->counts[DOCTOR_SKIP]);
}

size_t doctor_children(struct json_object *node, struct json_object **ret)
{
	bool has = json_object_object_get_ex(node, "children", ret) &&
		   json_object_is_type(*ret, json_type_array);
	return has ? json_object_array_length(*ret) : 0;
}
