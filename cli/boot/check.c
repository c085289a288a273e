// SPDX-License-Identifier: BSD-2-Clause
// boot-check: farblock-initiator logs in to a LUN through a portal of this machine, as the firmware
// of its initiator would, and says what it would boot.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/boot/boot.h"
#include "cli/doctor/initiator.h"
#include "cli/shell/command.h"

enum { URL_SIZE = 800 };

// The URL of the first way over TCP.
static int url_of(struct json_object *info, char ret[URL_SIZE], struct err *e)
{
	json_each (way, json_field(info, "ways")) {
		if (strcmp(text_field(way, "transport"), "TCP"))
			continue;
		snprintf(ret, URL_SIZE, "iscsi://%s/%s/%s", text_field(way, "portal"),
			 text_field(info, "target"), text_field(info, "lun"));
		return 0;
	}
	return err_set(
		e, -ENOENT,
		"boot-check: %.200s has no portal of iSCSI over TCP, by which firmware logs in",
		text_field(info, "target"));
}

// farblock-initiator's cures name its own options: replaces the first of them by what boot-check
// takes.
static void in_own_words(struct err *e)
{
	// clang-format off
	static const struct {
		const char *theirs, *own;
	} words[] = {
		{"no user was given: --chap-user, --chap-secret-file", "the ACL has none: set auth userid=NAME password=SECRET"},
		{"the CHAP user and secret: --chap-user, --chap-secret-file", "the CHAP secret: password="},
		{"--initiator-name", "initiator="},
	};
	// clang-format on
	struct err own;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const char *at = strstr(e->text, words[i].theirs);
		if (!at)
			continue;
		err_set(&own, e->code, "%.*s%s%s", (int)(at - e->text), e->text, words[i].own,
			at + strlen(words[i].theirs));
		*e = own;
		return;
	}
}

static int ask_initiator(struct shell *s, struct json_object *info, const char *secret,
			 struct err *e)
{
	char url[URL_SIZE], *report;
	const char *words[8] = { "boot-check", url }, **next = words + 2;
	const char *name = text_field(info, "initiator"), *user = text_field(info, "user");
	int r = url_of(info, url, e);
	if (r < 0)
		boot_show_warnings(info);
	if (!r && *user && !secret)
		r = err_set(e, -EBADRQC, "boot-check: CHAP of %.100s: no secret (password=- asks)",
			    user);
	if (r < 0)
		return r;
	if (*name) {
		*next++ = "--initiator-name";
		*next++ = name;
	}
	if (*user) {
		*next++ = "--chap-user";
		*next++ = user;
	}
	if (s->is_json)
		*next++ = "--json";
	r = initiator_run(words, secret, &report, e);
	// It says why a LUN does not boot also when that is an error. Without it nobody logged in.
	if (report && *report)
		fputs(report, s->look.out);
	else if (r < 0)
		boot_show_warnings(info);
	free(report);
	if (r < 0) {
		in_own_words(e);
		err_prefix(e, "boot-check");
	}
	return r;
}

static int run(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	const char *word = line_value(l, "lun", 0);
	struct boot_wish w = { .initiator = line_value(l, "initiator", 1),
			       .portal = line_value(l, "portal", 3) };
	struct json_object *info = NULL;
	char *lun = NULL;
	int r = shell_path(path, word ? word : ".", &lun, e);
	if (!r)
		w.path = lun, r = boot_info_of(s, &w, &info, e);
	if (!r)
		r = ask_initiator(s, info, line_value(l, "password", 2), e);
	json_object_put(info);
	free(lun);
	return r;
}

// clang-format off
static const struct shell_param params[] = {
	{"lun", "node", false, NULL, "as of boot-info"},
	{"initiator", "string", false, NULL, "name to log in with; default: of the ACL that maps the LUN"},
	{"password", "string", false, NULL, "CHAP secret, where the ACL needs one; - asks for it"},
	{"portal", "string", false, NULL, "ADDRESS[:PORT] to log in at; default: the first that listens"},
	{0},
};
// clang-format on

const struct shell_command command_boot_check = {
	"boot-check",
	params,
	"Log in to a LUN as firmware does, and say what it would boot.",
	run,
};
