// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator: its subcommands as rows of a table, help, exit statuses. The program's
// thread; sessions run on a separate worker (sync.h).
#include "initiator/tool.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "core/log.h"
#include "core/offload.h"

static const struct tool_verb verbs[] = {
	{"discover",    TOOL_DISCOVER, 1, 1, "PORTAL",
	  "list the targets of a portal (host[:port], iscsi:// or iser://host[:port])",		       tool_discover},
	{ "ping",	  TOOL_PING,     1, 1, "URL",
	  "log in, show the negotiated parameters, time NOP-Outs and log out",				       tool_ping	 },
	{ "login-test", TOOL_PING,	   1, 1, "URL",	"same as ping",					tool_ping	  },
	{ "inquiry",    TOOL_INQUIRY,  1, 1, "URL",
	  "show identity, VPD pages, capacity and limits of a logical unit",				     tool_inquiry },
	{ "luns",	  TOOL_LUNS,     1, 1, "URL",	  "list the logical units of a target",		tool_luns	  },
	{ "read",	  TOOL_READ,     1, 1, "URL",	  "copy a range of a logical unit to a file",	      tool_read	},
	{ "write",	   TOOL_WRITE,    1, 1, "URL",	    "copy a file to a logical unit",		     tool_write	},
	{ "verify",	    TOOL_VERIFY,	 1, 2, "URL [FILE]",
	  "compare a logical unit with a file, or write a pattern and read it back (--pattern)",	      tool_verify  },
	{ "checksum",   TOOL_CHECKSUM, 1, 1, "URL",	  "print the SHA-256 of a range of a logical unit",
	  tool_checksum												    },
	{ "bench",	   TOOL_BENCH,    1, 1, "URL",	    "measure IOPS, throughput and latency",	    tool_bench   },
};
#define VERB_COUNT (sizeof verbs / sizeof *verbs)

const struct tool_verb *tool_verb_at(unsigned index)
{
	return index < VERB_COUNT ? &verbs[index] : NULL;
}

int tool_fail(int status, const struct err *e)
{
	if (e->code == -ECANCELED && tool_interrupted())
		return tool_interrupted();
	tool_say("%s", e->text);
	return status;
}

static int usage(FILE *f)
{
	fprintf(f, "Usage: farblock-initiator COMMAND ARGUMENTS [OPTIONS]\n\nCommands:\n");
	for (size_t i = 0; i < VERB_COUNT; i++)
		fprintf(f, "  %-10s %-10s  %s\n", verbs[i].name, verbs[i].args, verbs[i].help);
	fprintf(f, "\nURL: iscsi://[user@]host[:port]/target/lun, or iser:// for iSER.\n"
		   "farblock-initiator COMMAND --help lists the options of a command.\n"
		   "Exit status: 0 success, 1 failure, 2 usage error, 130 interrupted.\n");
	return f == stdout ? TOOL_OK : TOOL_USAGE;
}

static int verb_help(const struct tool_verb *v)
{
	printf("Usage: farblock-initiator %s %s [OPTIONS]\n\n%s\n\nOptions:\n", v->name, v->args,
	       v->help);
	options_help(tool_option_rows, v->bit, 36, true, stdout);
	return TOOL_OK;
}

static const struct tool_verb *find(const char *name)
{
	for (size_t i = 0; i < VERB_COUNT; i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static void say_waits(const struct err *why, unsigned seconds)
{
	tool_say("%s; retrying for %u s (--replacement-timeout)", why->text, seconds);
}

static void say_back(void)
{
	tool_say("session restored");
}

static bool say_changed(enum ini_lu_change change, const struct err *why)
{
	tool_say("%s; continuing (--allow-replaced)", why->text);
	return true;
}

// A transfer to two different disks, or to one that lost a part of it, fails unless the user
// permits it.
static const struct ini_sync_ops sync_ops = { .waits = say_waits, .back = say_back },
				 allowing_ops = { .waits = say_waits,
						  .back = say_back,
						  .changed = say_changed };

int tool_open(struct tool *t, bool needs_lun)
{
	struct err e;
	if (ini_url_parse(t->o.args[0], &t->url, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	if (!t->url.target[0] || (needs_lun && !t->url.has_lun)) {
		err_set(&e, -1,
			"invalid URL: %.120s: no %s (iscsi://host[:port]/target/lun, or iser://)",
			t->o.args[0], t->url.target[0] ? "LUN" : "target");
		return tool_fail(TOOL_USAGE, &e);
	}
	if (tool_config(t, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	memcpy(t->config.login.target_name, t->url.target, sizeof t->url.target);
	tool_interrupt_init();
	if (tool_resolve(t, &t->url.portal, &e) < 0 ||
	    ini_sync_open(&t->sync, &t->config, t->o.allows_replaced ? &allowing_ops : &sync_ops,
			  &e) < 0) {
		chap_wipe(&t->config, sizeof t->config);
		return tool_fail(TOOL_FAILED, &e);
	}
	chap_wipe(&t->config, sizeof t->config);
	tool_interrupt_set(t->sync);
	return TOOL_OK;
}

void tool_close(struct tool *t)
{
	tool_interrupt_set(NULL);
	ini_sync_close(t->sync);
	t->sync = NULL;
}

static int run(const struct tool_verb *v, int argc, char **argv)
{
	struct tool t = { .verb = v };
	struct err e;
	int r = tool_options_parse(&t.o, v->bit, argc, argv, &e);
	if (!r && t.o.is_help)
		return verb_help(v);
	if (!r && t.o.arg_count < v->args_min)
		r = err_set(&e, -1, "missing %s", v->args);
	if (!r && t.o.arg_count > v->args_max)
		r = err_set(&e, -1, "unexpected argument: %.64s", t.o.args[v->args_max]);
	if (r) {
		err_prefix(&e, "%s", v->name);
		return tool_fail(TOOL_USAGE, &e);
	}
	int status = v->run(&t);
	tool_close(&t);
	return status;
}

int tool_main(int argc, char **argv)
{
	struct err e;
	log_init("farblock-initiator");
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2)
		return usage(stderr);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return usage(stdout);
	if (!strcmp(argv[1], "--version")) {
		printf("farblock-initiator " FARBLOCK_VERSION "\n");
		return TOOL_OK;
	}
	const struct tool_verb *v = find(argv[1]);
	if (!v) {
		err_set(&e, -1, "unknown command: %.64s (see farblock-initiator --help)", argv[1]);
		return tool_fail(TOOL_USAGE, &e);
	}
	int status = run(v, argc - 2, argv + 2);
	offload_shutdown();
	if (fflush(stdout) || ferror(stdout)) {
		err_set(&e, -1, "standard output: write failed");
		return tool_fail(status ? status : TOOL_FAILED, &e);
	}
	return status;
}
