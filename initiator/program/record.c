// SPDX-License-Identifier: BSD-2-Clause
// Records of targets: entries (entry.h) whose URLs have no LUN. Here they are written. The
// program's thread; blocks on the file system.
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/whole_file.h"
#include "initiator/holder/holder.h"
#include "initiator/program/entry.h"
#include "initiator/program/login.h"

struct text {
	char bytes[ENTRY_BYTES_MAX + 1];
	size_t len;
	bool is_cut;
};

static void add(void *arg, const char *key, const char *value)
{
	struct text *t = arg;
	size_t room = sizeof t->bytes - t->len;
	int n = snprintf(t->bytes + t->len, room, "%s = %s\n", key, value);
	t->is_cut |= n < 0 || (size_t)n >= room || strpbrk(value, "\r\n");
	if (!t->is_cut)
		t->len += (size_t)n;
}

// What is of the command and not of the target; files are found from any directory.
static void add_option(void *arg, const char *name, const char *value)
{
	static const char *const others[] = { "json", "foreground", "all",	  "name",
					      "save", "startup",    "record-dir", "run-dir" };
	char path[PATH_MAX];
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (!strcmp(name, others[i]))
			return;
	bool is_file = (strstr(name, "-file") || strstr(name, "-dir")) && realpath(value, path);
	add(arg, name, is_file ? path : value);
}

static int make(const struct tool *t, struct text *to, const char *name, struct err *e)
{
	static struct entry check;
	const char *startup = t->o.startup ? t->o.startup : "manual";
	for (unsigned i = 0; i < t->o.arg_count; i++)
		add(to, "url", t->o.args[i]);
	add(to, "startup", startup);
	tool_options_each(&t->o, TOOL_LOG_IN, add_option, to);
	if (to->is_cut)
		return err_set(e, -EINVAL, "record %s: too long, or a value has several lines",
			       name);
	return entry_parse(&check, to->bytes, to->len, name, e);
}

int record_save(const struct tool *t, const char *dir, const char *name, struct err *e)
{
	static struct text text;
	char path[PATH_MAX], suffix[16];
	// Other logins may save the same record at this moment.
	struct whole_file_ways ways = { .suffix = suffix, .may_make = true };
	text.len = 0;
	text.is_cut = false;
	if (!holder_name_is_valid(name))
		return err_set(e, -EINVAL, "--name '%.80s': not a name of a record", name);
	snprintf(path, sizeof path, "%s/%s.conf", dir, name);
	snprintf(suffix, sizeof suffix, ".%d.new", (int)getpid());
	int r = make(t, &text, name, e);
	if (!r)
		r = whole_file_replace(path, text.bytes, text.len, &ways, e);
	return r < 0 ? r : 0;
}
