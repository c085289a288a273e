// SPDX-License-Identifier: BSD-2-Clause
// See help.h. Rows of examples, and of names that other programs have for the commands.
#include "initiator/program/help.h"

#include <errno.h>
#include <string.h>

#include "core/suggest.h"
#include "core/wrap.h"
#include "initiator/tool/status.h"

enum { COLUMNS_OPTION = 36, COLUMNS_VERB = 45, NARROW = 80 };

#define TARGET "iscsi://192.0.2.1/iqn.2025-01.org.example:t"

// clang-format off
static const struct {
	const char *verb, *text;
} examples[] = {
	{"discover", "discover 192.0.2.1"},
	{"discover", "discover --tree 192.0.2.1 srp://192.0.2.2 --json"},
	{"ping", "ping " TARGET " --count 10"},
	{"inquiry", "inquiry " TARGET "/0"},
	{"luns", "luns " TARGET},
	{"read", "read " TARGET "/0 -o disk.img"},
	{"read", "read " TARGET "/0 -o - --length 1m | xxd | less"},
	{"write", "write " TARGET "/0 -i disk.img"},
	{"verify", "verify " TARGET "/0 disk.img"},
	{"verify", "verify " TARGET "/0 --pattern 1 --force"},
	{"checksum", "checksum " TARGET "/0"},
	{"bench", "bench " TARGET "/0 --op randread --bs 4k --depth 32 --time 10"},
	{"bench", "bench " TARGET "/0 --op randrw --mix 70 --rate 5000 --svg run.svg --json"},
	{"attach", "attach " TARGET "/0 --name data"},
	{"attach", "attach " TARGET "/0 iser://198.51.100.1/iqn.2025-01.org.example:t/0"},
	{"detach", "detach data"},
	{"attached", "attached --json"},
	{"login", "login " TARGET " --name data --save --startup automatic"},
	{"login", "login data"},
	{"logout", "logout data"},
	{"sessions", "sessions -P 3"},
	{"sessions", "sessions data --json"},
	{"boot", "boot -N -b --transport iser"},
	{"boot", "boot -i iqn.2025-01.org.example:me -t iqn.2025-01.org.example:t -a 192.0.2.1 --lun 0"},
	{"capacity", "capacity " TARGET "/0"},
	{"unmap", "unmap " TARGET "/0 --offset 1g --length 10g"},
	{"reserve", "reserve " TARGET "/0 report"},
	{"reserve", "reserve " TARGET "/0 register --service-key 0x1234"},
	{"reserve", "reserve " TARGET "/0 reserve --key 0x1234 --type write-exclusive"},
	{"boot-check", "boot-check " TARGET "/0 --initiator-name iqn.2025-01.org.example:machine"},
	{"copy", "copy " TARGET "/0 " TARGET "/1"},
};

// Of iscsiadm, libiscsi, sg3_utils, qemu-img, nbd and others.
static const struct {
	const char *name, *verb;
} others[] = {
	{"discovery", "discover"}, {"sendtargets", "discover"}, {"st", "discover"},
	{"ls", "luns"}, {"list", "luns"}, {"inq", "inquiry"}, {"info", "inquiry"},
	{"readcap", "capacity"}, {"size", "capacity"}, {"convert", "copy"}, {"clone", "copy"},
	{"cp", "copy"}, {"dd", "copy"}, {"discard", "unmap"}, {"trim", "unmap"},
	{"connect", "attach"}, {"map", "attach"}, {"mount", "attach"},
	{"disconnect", "detach"}, {"umount", "detach"}, {"status", "attached"},
	{"session", "sessions"}, {"node", "login"}, {"iscsistart", "boot"}, {"fw", "boot"},
	{"perf", "bench"}, {"fio", "bench"}, {"persist", "reserve"}, {"pr", "reserve"},
	{"bootcheck", "boot-check"}, {"boot-info", "boot-check"}, {"compare", "verify"}, {"sha256", "checksum"}, {"sha256sum", "checksum"},
};
// clang-format on

void help_usage(const struct tool_verb *all, unsigned count, FILE *out)
{
	int width = wrap_width(out);
	fprintf(out, "Usage: farblock-initiator COMMAND ARGUMENTS [OPTIONS]\n\nCommands:\n");
	for (const struct tool_verb *v = all; v < all + count; v++) {
		bool is_narrow = width && width < NARROW;
		fprintf(out, is_narrow ? "  %s %s" : "  %-10s %-30s  ", v->name, v->args);
		if (is_narrow)
			fprintf(out, "\n%*s", 6, "");
		wrap_print(out, v->help, is_narrow ? 6 : COLUMNS_VERB, width);
	}
	fputc('\n', out);
	wrap_print(out,
		   "URL: iscsi://[user@]host[:port]/target/lun, or iser:// for iSER; "
		   "srp://host[:port]/id_ext:ioc_guid/lun, or an add_target string and /lun. luns, "
		   "ping and login take it without /lun. IPv6: iscsi://[::1]:3260/target/lun.",
		   0, width);
	wrap_print(out,
		   "farblock-initiator COMMAND --help lists the options of a command, and has "
		   "examples; --version prints the version.",
		   0, width);
	wrap_print(out,
		   "Exit status, as of iscsiadm (other commands than discover, attach, detach, "
		   "login, logout, sessions and boot have 0 to 2 alone; 128 and the number after a "
		   "signal):",
		   0, width);
	for (const struct tool_status_row *r = tool_status_rows; r->meaning; r++) {
		fprintf(out, "  %2d  ", r->status);
		wrap_print(out, r->meaning, 6, width);
	}
}

bool help_is_of_session(const struct option_row *r)
{
	return r->verbs == ~(unsigned)TOOL_HELD;
}

static void options(const struct tool_verb *v, bool are_common)
{
	for (const struct option_row *r = tool_option_rows; r->name; r++) {
		const struct option_row one[] = { *r, { 0 } };
		if (help_is_of_session(r) == are_common)
			options_help(one, v->bit, COLUMNS_OPTION, true, stdout);
	}
}

void help_verb(const struct tool_verb *v)
{
	bool has_examples = false;
	printf("Usage: farblock-initiator %s %s [OPTIONS]\n\n", v->name, v->args);
	wrap_print(stdout, v->help, 0, wrap_width(stdout));
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		if (strcmp(examples[i].verb, v->name))
			continue;
		printf("%s    farblock-initiator %s\n", has_examples ? "" : "\nExamples:\n",
		       examples[i].text);
		has_examples = true;
	}
	printf("\nOptions:\n");
	options(v, false);
	if (v->bit & TOOL_HELD)
		return;
	printf("\nOptions of the session:\n");
	options(v, true);
}

int help_unknown(const char *name, const struct tool_verb *all, unsigned count, struct err *e)
{
	struct suggest s = { .word = name };
	for (size_t i = 0; i < sizeof others / sizeof *others && !s.best; i++)
		if (!strcmp(others[i].name, name))
			s.best = others[i].verb;
	// Nothing is nearer than a row of the table: its distance is 0.
	for (unsigned i = 0; i < count; i++)
		suggest_add(&s, all[i].name);
	if (s.best)
		return err_set(e, -EINVAL, "unknown command: %.64s (did you mean %s?)", name,
			       s.best);
	return err_set(e, -EINVAL, "unknown command: %.64s (see farblock-initiator --help)", name);
}

int help_missing(const struct tool_verb *v, unsigned count, struct err *e)
{
	const char *word = v->args;
	for (unsigned i = 0; i < count && strchr(word, ' '); i++)
		word = strchr(word, ' ') + 1;
	return err_set(e, -EINVAL, "missing %.*s (farblock-initiator %s %s)",
		       (int)strcspn(word, " "), word, v->name, v->args);
}
