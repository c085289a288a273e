// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator: its subcommands as rows of a table, help, exit statuses; the protocol of a
// URL. The program's thread; sessions run on a separate worker (initiator/sync.h).
#include "initiator/program/program.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/lockfile.h"
#include "core/log.h"
#include "core/offload.h"
#include "initiator/program/attach.h"
#include "initiator/program/help.h"
#include "initiator/program/iscsi.h"
#include "initiator/program/srp.h"
#include "initiator/tool/tree.h"

// The protocol of a URL; add_target strings are SRP's.
static const struct protocol {
	const char *scheme;
	int (*path)(const struct tool *t, const char *url, bool needs_lun, struct tool_path *ret,
		    struct err *e);
	void (*opened)(struct tool *t); // unless it shows that itself; may be NULL
	int (*ping)(struct tool *t);
	int (*discover)(struct tool *t);
	int (*tree)(struct tool *t, struct tree *tree);
} protocols[] = {
	{"iscsi://", iscsi_path, NULL,	iscsi_ping, iscsi_discover, iscsi_tree},
	{ "iser://", iscsi_path, NULL,       iscsi_ping, iscsi_discover, iscsi_tree},
	{ "srp://",  srp_path,   srp_opened, srp_ping,   srp_discover,	  srp_tree  },
};
#define PROTOCOL_COUNT (sizeof protocols / sizeof *protocols)

static const struct protocol *protocol_of(const char *url)
{
	const struct protocol *p = protocols, *end = p + PROTOCOL_COUNT;
	if (srps_address_is_string(url))
		return end - 1;
	while (p < end && strncasecmp(url, p->scheme, strlen(p->scheme)))
		p++;
	return p < end ? p : protocols; // which refuses it in words
}

static int ping(struct tool *t)
{
	return protocol_of(t->o.args[0])->ping(t);
}

static int program_path(const struct tool *t, const char *url, bool needs_lun,
			struct tool_path *ret, struct err *e)
{
	return protocol_of(url)->path(t, url, needs_lun, ret, e);
}

static void program_opened(struct tool *t)
{
	const struct protocol *p = protocol_of(t->o.args[0]);
	if (p->opened && t->verb->run != ping)
		p->opened(t);
}

static int add_to_tree(const struct tool *t, const struct protocol *p, const char *portal,
		       struct tree *tree)
{
	struct tool one = *t;
	one.o.args[0] = portal;
	// A session that is lost is a line of the tree.
	if (one.o.replacement_timeout == TOOL_UNSET)
		one.o.replacement_timeout = 0;
	return p->tree(&one, tree);
}

// A host alone may have portals of all protocols, at their usual ports.
static int add_host(const struct tool *t, const char *host, struct tree *tree)
{
	char url[512];
	int status = TOOL_OK;
	for (size_t i = 0; i < PROTOCOL_COUNT && !status && !tool_interrupted(); i++) {
		snprintf(url, sizeof url, "%s%s", protocols[i].scheme, host);
		status = add_to_tree(t, &protocols[i], url, tree);
	}
	return status;
}

static bool is_host_alone(const char *portal)
{
	const char *bracket = strrchr(portal, ']');
	return !srps_address_is_string(portal) && !strstr(portal, "://") &&
	       !strchr(bracket ? bracket : portal, ':') && strlen(portal) < 400;
}

static int discover_tree(struct tool *t)
{
	struct tree *tree;
	struct err e;
	int status = TOOL_OK;
	if (tree_new(&tree, t, &e) < 0)
		return tool_fail(TOOL_FAILED, &e);
	for (unsigned i = 0; i < t->o.arg_count && !status && !tool_interrupted(); i++) {
		const char *portal = t->o.args[i];
		status = is_host_alone(portal) ? add_host(t, portal, tree)
					       : add_to_tree(t, protocol_of(portal), portal, tree);
	}
	int end = tree_end(tree);
	return status ? status : end;
}

// Also a portal without a scheme: the first protocol's.
static int discover(struct tool *t)
{
	struct err e;
	if (t->o.is_tree)
		return discover_tree(t);
	if (t->o.arg_count == 1)
		return protocol_of(t->o.args[0])->discover(t);
	err_set(&e, -EINVAL, "discover: unexpected argument: %.64s (--tree takes several portals)",
		t->o.args[1]);
	return tool_fail(TOOL_USAGE, &e);
}

static const struct tool_verb verbs[] = {
	{"discover",    TOOL_DISCOVER,   1, TOOL_ARGS_MAX,     "PORTAL...",
	  "list the targets of a portal (host[:port]; iscsi://, iser:// or srp://host[:port]); "
	  "with --tree their logical units too",												   discover	   },
	{ "ping",	  TOOL_PING,	     1, 1,		   "URL",
	  "log in, show what was agreed on, time an exchange without data (a NOP-Out; TEST UNIT "
	  "READY over SRP) and log out",													   ping	       },
	{ "login-test", TOOL_PING,	   1, 1,		 "URL",				"same as ping",					ping	     },
	{ "inquiry",    TOOL_INQUIRY,	   1, 1,		 "URL",
	  "show identity, VPD pages, capacity and limits of a logical unit",									     tool_inquiry	  },
	{ "luns",	  TOOL_LUNS,	     1, 1,		   "URL",				  "list the logical units of a target",		tool_luns	  },
	{ "read",	  TOOL_READ,	     1, 1,		   "URL",				  "copy a range of a logical unit to a file",	      tool_read	},
	{ "write",	   TOOL_WRITE,      1, 1,		     "URL",			    "copy a file to a logical unit",		     tool_write	},
	{ "verify",	    TOOL_VERIFY,	 1, 2,		       "URL [FILE]",
	  "compare a logical unit with a file, or write a pattern and read it back (--pattern)",						    tool_verify    },
	{ "checksum",   TOOL_CHECKSUM,   1, 1,		   "URL",				  "print the SHA-256 of a range of a logical unit",
	  tool_checksum																	    },
	{ "bench",	   TOOL_BENCH,      1, 1,		     "URL",			    "measure IOPS, throughput and latency",	    tool_bench     },
	{ "attach",	    TOOL_ATTACH,	 0, 16,		"[URL... | ENTRY]",
	  "make a logical unit, reached by one or several URLs, a local disk",								       attach_run	  },
	{ "detach",	    TOOL_DETACH,	 0, 16,		"[NAME | DEVICE]...",	      "end attachments",				 detach_run	    },
	{ "attached",   TOOL_ATTACHED,   0, 1,		   "[NAME | DEVICE]",		      "list attachments and their paths",
	  attached_run																	     },
	{ "login",	   TOOL_LOG_IN,	0, TOOL_ARGS_MAX,	  "[URL... | RECORD]",
	  "attach all disks of a target, reached by one or several URLs without a LUN",								login_run	  },
	{ "logout",	    TOOL_LOG_OUT,	  0, TOOL_ARGS_MAX,	    "[RECORD | TARGET]...",
	  "detach what login has attached",													 logout_run     },
	{ "sessions",   TOOL_SESSIONS,   0, 1,		   "[SID | NAME | RECORD | TARGET]",
	  "show the sessions of attached disks, at the print levels of iscsiadm (-P)",							      sessions_run   },
	{ "boot",	  TOOL_BOOT,	     0, TOOL_ARGS_MAX - 1, "[ADDRESS]...",
	  "attach the disk of the root file system in an initramfs, with the options of "
	  "iscsistart; "
	  "an ADDRESS is a further portal of the target",											  boot_run	   },
	{ "capacity",   TOOL_CAPACITY,   1, 1,		   "URL",
	  "show the size, block sizes, provisioning and protection of a disk",								       tool_capacity  },
	{ "unmap",	   TOOL_UNMAP,      1, 1,		     "URL",
	  "deallocate a range of a thin-provisioned disk, whose data is lost",								       tool_unmap	  },
	{ "reserve",    TOOL_RESERVE,	   2, 2,		 "URL ACTION",
	  "persistent reservations: report, register, register-ignore, reserve, release, clear, "
	  "preempt, preempt-abort",														tool_reserve   },
	{ "boot-check", TOOL_BOOT_CHECK, 1, 1,		       "URL",
	  "log in as firmware does, and say what it would boot",										    tool_boot_check},
	{ "copy",	  TOOL_COPY,	     2, 2,		   "URL URL",
	  "copy a range of a logical unit to another one, by the targets themselves if they can "
	  "(ODX, "
	  "EXTENDED COPY), else through memory",												   tool_copy	    },
};
#define VERB_COUNT (sizeof verbs / sizeof *verbs)

const struct tool_verb *tool_verb_at(unsigned index)
{
	return index < VERB_COUNT ? &verbs[index] : NULL;
}

static const struct tool_verb *find(const char *name)
{
	for (size_t i = 0; i < VERB_COUNT; i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

// The process that holds a disk has another working directory.
static int make_absolute(const char **path, struct err *e)
{
	static char whole[PATH_MAX];
	if (!*path || **path == '/')
		return 0;
	if (!getcwd(whole, sizeof whole))
		return err_errno(e, -errno, "%.200s: the working directory", *path);
	size_t n = strlen(whole);
	if (snprintf(whole + n, sizeof whole - n, "/%s", *path) >= (int)(sizeof whole - n))
		return err_set(e, -ENAMETOOLONG, "%.200s: too long", *path);
	*path = whole;
	return 0;
}

// Sockets, locks and states there are believed. One that is missing, or hidden from this user, is
// the verb's to judge.
static int check_run_dir(const struct tool *t)
{
	struct err e;
	return path_check_owners(attach_run_dir(t), &e) == -EPERM ? tool_fail_by(&e) : TOOL_OK;
}

static int run(const struct tool_verb *v, char *argv0, int argc, char **argv)
{
	struct tool t = {
		.verb = v, .argv0 = argv0, .path = program_path, .opened = program_opened
	};
	struct err e;
	int r = tool_options_parse(&t.o, v->bit, argc, argv, &e);
	if (!r && t.o.is_help)
		return help_verb(v), TOOL_OK;
	if (!r && t.o.arg_count < v->args_min)
		r = help_missing(v, t.o.arg_count, &e);
	if (!r && t.o.arg_count > v->args_max)
		r = err_set(&e, -1, "unexpected argument: %.64s", t.o.args[v->args_max]);
	if (!r)
		r = make_absolute(&t.o.run_dir, &e);
	if (r) {
		err_prefix(&e, "%s", v->name);
		return tool_fail(TOOL_USAGE, &e);
	}
	int status = check_run_dir(&t);
	if (!status)
		status = v->run(&t);
	tool_close(&t);
	iscsi_forget_secrets();
	return status;
}

static bool is_word_of_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help");
}

// Standard output is a pipe that nobody reads any more, as of head: ends as other programs do.
static void end_without_reader(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };
	if (poll(&p, 1, 0) < 1 || !(p.revents & POLLERR))
		return;
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
}

// Under the name of iscsistart, as of a link in an initramfs, the program is boot alone.
static bool is_iscsistart(const char *argv0)
{
	const char *slash = argv0 ? strrchr(argv0, '/') : NULL;
	return argv0 && !strcmp(slash ? slash + 1 : argv0, "iscsistart");
}

static int end(int status)
{
	struct err e;
	offload_shutdown();
	tool_interrupt_over();
	if (fflush(stdout) || ferror(stdout)) {
		end_without_reader();
		err_set(&e, -1, "standard output: write failed");
		return tool_fail(status ? status : TOOL_FAILED, &e);
	}
	return status;
}

int tool_main(int argc, char **argv)
{
	struct err e;
	log_init("farblock-initiator");
	signal(SIGPIPE, SIG_IGN);
	if (is_iscsistart(argv[0]))
		return end(run(find("boot"), argv[0], argc - 1, argv + 1));
	if (argc < 2)
		return help_usage(verbs, VERB_COUNT, stderr), TOOL_USAGE;
	bool is_help = is_word_of_help(argv[1]);
	if (is_help && argc < 3)
		return help_usage(verbs, VERB_COUNT, stdout), TOOL_OK;
	if (!strcmp(argv[1], "--version")) {
		printf("farblock-initiator " FARBLOCK_VERSION "\n");
		return TOOL_OK;
	}
	const char *name = argv[is_help ? 2 : 1];
	if (!strcmp(name, "-m") && argc > 2) // iscsiadm's
		name = argv[2];
	const struct tool_verb *v = find(name);
	if (!v) {
		help_unknown(name, verbs, VERB_COUNT, &e);
		return tool_fail(TOOL_USAGE, &e);
	}
	if (is_help)
		return help_verb(v), TOOL_OK;
	return end(run(v, argv[0], argc - 2, argv + 2));
}
