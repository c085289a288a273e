// SPDX-License-Identifier: BSD-2-Clause
// The options of farblock-initiator, parsed into struct tool_options.
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/attr.h"
#include "core/suggest.h"
#include "initiator/tool/tool.h"

static int on_size(void *to, const struct option_row *row, const char *text, struct err *e)
{
	if (parse_size(text, (uint64_t *)((char *)to + row->at), e) < 0)
		return err_prefix(e, "--%s", row->name), -EINVAL;
	return 0;
}

// Decimal, or hexadecimal after 0x.
static int parse_number(const char *text, uint64_t lo, uint64_t hi, uint64_t *ret)
{
	char *end;
	errno = 0;
	uint64_t n = strtoull(text, &end, text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10);
	if (!isdigit((unsigned char)*text) || *end || errno || n < lo || n > hi)
		return -EINVAL;
	*ret = n;
	return 0;
}

static int on_number(void *to, const struct option_row *row, const char *text, struct err *e)
{
	if (parse_number(text, row->lo, row->hi, (uint64_t *)((char *)to + row->at)))
		return err_set(e, -EINVAL, "--%s %.32s: must be %lu to %lu", row->name, text,
			       (unsigned long)row->lo, (unsigned long)row->hi);
	return 0;
}

static int on_key(void *to, const struct option_row *row, const char *text, struct err *e)
{
	struct tool_options *o = to;
	if (!strchr(text, '='))
		return err_set(e, -EINVAL, "--%s %.64s: must be %s", row->name, text,
			       row->argument);
	if (o->key_count == TOOL_KEYS_MAX)
		return err_set(e, -EINVAL, "--%s: more than %d", row->name, TOOL_KEYS_MAX);
	o->keys[o->key_count++] = text;
	return 0;
}

static int on_param(void *to, const struct option_row *row, const char *text, struct err *e)
{
	struct tool_options *o = to;
	if (!strchr(text, '='))
		return err_set(e, -EINVAL, "--%s %.64s: must be %s", row->name, text,
			       row->argument);
	if (o->param_count == TOOL_KEYS_MAX)
		return err_set(e, -EINVAL, "--%s: more than %d", row->name, TOOL_KEYS_MAX);
	o->params[o->param_count++] = text;
	return 0;
}

#define AT(field) offsetof(struct tool_options, field)
// clang-format off
const struct option_row tool_option_rows[] = {
	{'h', "help", NULL, "show this help", AT(is_help)},
	{0, "json", NULL, "print JSON", AT(is_json)},
	{0, "transport", "NAME", "tcp or iser, for iSCSI; default: from the URL", AT(transport), .verbs = ~(unsigned)TOOL_HELD, .words = "tcp iser"},
	{0, "provider", "NAME", "RDMA provider: verbs (adapter) or iwarp (software); default: the first that connects", AT(provider), .verbs = ~(unsigned)TOOL_HELD, .words = "verbs iwarp"},
	{0, "initiator-name", "NAME", "initiator name; default: from /etc/iscsi/initiatorname.iscsi, else generated from the host name", AT(initiator_name), .verbs = ~(unsigned)TOOL_HELD},
	{0, "initiator-port", "EXT:GUID", "SRP port identifier of the initiator, 16 hex digits each; default: zeros and a GUID made from the initiator name; attach and login have another first half for each path, which sessions -P 1 shows", AT(initiator_port), .verbs = ~(unsigned)TOOL_HELD},
	{0, "isid", "HEX", "ISID of the session, 12 hex digits; a session with the same one ends that of the same initiator; default: random; those of attach, login and reserve (not report) stay the same", AT(isid), .verbs = ~(unsigned)TOOL_HELD},
	{0, "channels", "N", "connections of an SRP session, fewer if the target refuses more; default: 1", AT(channels), on_number, .verbs = ~(unsigned)TOOL_HELD, .lo = 1, .hi = 16},
	{0, "chap-user", "USER", "CHAP user name; default: from the URL", AT(chap_user), .verbs = ~(unsigned)TOOL_HELD},
	{0, "chap-secret-file", "FILE", "file with the CHAP secret; default: $FARBLOCK_CHAP_SECRET, else a prompt", AT(chap_secret_file), .verbs = ~(unsigned)TOOL_HELD},
	{0, "chap-mutual-user", "USER", "CHAP user name of the target (enables mutual CHAP)", AT(mutual_user), .verbs = ~(unsigned)TOOL_HELD},
	{0, "chap-mutual-secret-file", "FILE", "file with the CHAP secret of the target; default: $FARBLOCK_CHAP_MUTUAL_SECRET, else a prompt", AT(mutual_secret_file), .verbs = ~(unsigned)TOOL_HELD},
	{0, "iscsi-dir", "DIRECTORY", "take CHAP users and secrets from open-iscsi's records and iscsid.conf in this directory, usually /etc/iscsi, and the initiator name from its initiatorname.iscsi", AT(iscsi_dir), .verbs = ~(unsigned)TOOL_HELD},
	{0, "chap-algs", "LIST", "CHAP algorithms: SHA3-256, SHA256, SHA1, MD5; default: all but SHA256", AT(chap_algs), .verbs = ~(unsigned)TOOL_HELD},
	{0, "header-digest", "LIST", "None, CRC32C, or both in order of preference", AT(header_digest), .verbs = ~(unsigned)TOOL_HELD, .words = "None CRC32C CRC32C,None None,CRC32C"},
	{0, "data-digest", "LIST", "None, CRC32C, or both in order of preference", AT(data_digest), .verbs = ~(unsigned)TOOL_HELD, .words = "None CRC32C CRC32C,None None,CRC32C"},
	{0, "set", "KEY=VALUE", "login key to offer, for example ImmediateData=No; may be repeated", AT(keys), on_key, .verbs = ~(unsigned)TOOL_HELD},
	{0, "login-timeout", "SECONDS", "time limit for connecting and for logging in; default: 15", AT(login_timeout), on_number, .verbs = ~(unsigned)TOOL_HELD, .lo = 1, .hi = 3600},
	{0, "replacement-timeout", "SECONDS", "how long to retry a lost session; default: 120, for attach and login without end", AT(replacement_timeout), on_number, .verbs = ~(unsigned)TOOL_HELD, .lo = 0, .hi = 86400},
	{0, "tree", NULL, "also log in to each target and show its logical units; several portals may be given; one without a scheme and a port is asked by iscsi, iser and srp", AT(is_tree), .verbs = TOOL_DISCOVER},
	{0, "count", "N", "number of exchanges (NOP-Out; TEST UNIT READY over SRP); default: 3", AT(count), on_number, .verbs = TOOL_PING, .lo = 1, .hi = 1000000},
	{0, "offset", "BYTES", "first byte; default: 0", AT(offset), on_size, .verbs = TOOL_RANGE | TOOL_UNMAP | TOOL_COPY},
	{0, "length", "BYTES", "number of bytes; default: to the end", AT(length), on_size, .verbs = TOOL_RANGE | TOOL_UNMAP | TOOL_COPY},
	{0, "seek", "BYTES", "first byte at the destination; default: 0", AT(seek), on_size, .verbs = TOOL_COPY},
	{0, "way", "WAY", "odx, extended-copy or memory; default: the first of these that both ends allow", AT(way), .verbs = TOOL_COPY, .words = "odx extended-copy memory"},
	{'o', "output", "FILE", "required; - for standard output", AT(output), .verbs = TOOL_READ},
	{'i', "input", "FILE", "required; - for standard input", AT(input), .verbs = TOOL_WRITE},
	{0, "pattern", "SEED", "overwrite the range with a pattern made from the seed, then read it back", AT(pattern), on_number, .verbs = TOOL_VERIFY, .lo = 0, .hi = UINT64_MAX - 1},
	{0, "check-only", NULL, "with --pattern: only read back", AT(is_check_only), .verbs = TOOL_VERIFY},
	{0, "op", "OP", "randread, read, randwrite, write, randrw or rw (all but the first two overwrite); default: randread", AT(op), .verbs = TOOL_BENCH, .words = "randread read randwrite write randrw rw"},
	{0, "mix", "PERCENT", "with rw and randrw: share of reads; default: 50", AT(mix), on_number, .verbs = TOOL_BENCH, .lo = 0, .hi = 100},
	{0, "sessions", "N", "sessions, each with its own depth and worker; iSCSI and iSER; default: 1", AT(sessions), on_number, .verbs = TOOL_BENCH, .lo = 1, .hi = 32},
	{0, "rate", "IOPS", "start so many commands a second, whether others have ended or not; latencies count from when they should start", AT(rate), on_number, .verbs = TOOL_BENCH, .lo = 1, .hi = 10000000},
	{0, "svg", "FILE", "draw throughput over time and the distribution of latencies", AT(svg), .verbs = TOOL_BENCH},
	{0, "allow-replaced", NULL, "continue on a disk that was replaced, or restarted and may have lost data", AT(allows_replaced), .verbs = TOOL_RANGE | TOOL_MAKE | TOOL_UNMAP | TOOL_COPY},
	{0, "force", NULL, "overwrite a filesystem, partition table or other signature, and a disk that is attached on this machine", AT(is_forced), .verbs = TOOL_WRITE | TOOL_VERIFY | TOOL_BENCH | TOOL_UNMAP | TOOL_COPY},
	{0, "progress", NULL, "report progress where standard error is not a terminal", AT(shows_progress), .verbs = TOOL_RANGE | TOOL_UNMAP | TOOL_COPY},
	{0, "bs", "BYTES", "size of a command; default: 1m", AT(block_size), on_size, .verbs = TOOL_RANGE & ~TOOL_BENCH},
	{0, "bs", "BYTES", "size of a command; default: 4k", AT(block_size), on_size, .verbs = TOOL_BENCH},
	{0, "key", "KEY", "the key that this initiator has registered, decimal or 0x and hexadecimal", AT(key), on_number, .verbs = TOOL_RESERVE, .lo = 0, .hi = UINT64_MAX - 1},
	{0, "service-key", "KEY", "the key to register (0 unregisters), or to preempt", AT(service_key), on_number, .verbs = TOOL_RESERVE, .lo = 0, .hi = UINT64_MAX - 1},
	{0, "type", "TYPE", "write-exclusive (1), exclusive-access (3), write-exclusive-registrants-only (5), exclusive-access-registrants-only (6), write-exclusive-all-registrants (7) or exclusive-access-all-registrants (8); also we, ea, wero, earo, wear, eaar", AT(type), .verbs = TOOL_RESERVE, .words = "write-exclusive exclusive-access write-exclusive-registrants-only exclusive-access-registrants-only write-exclusive-all-registrants exclusive-access-all-registrants"},
	{0, "depth", "N", "commands in flight; default: 32", AT(depth), on_number, .verbs = TOOL_BENCH, .lo = 1, .hi = 1024},
	{0, "time", "SECONDS", "duration; default: 5", AT(seconds), on_number, .verbs = TOOL_BENCH, .lo = 1, .hi = 86400},
	{0, "name", "NAME", "name of the attachment; default: the target's name and the LUN", AT(name), .verbs = TOOL_ATTACH},
	{0, "via", "WAY", "ublk, nbd, fuse or socket; default: the first that this machine has", AT(via), .verbs = TOOL_MAKE, .words = "ublk nbd fuse socket"},
	{0, "at", "PATH", "device, mount point or socket to make; default: chosen", AT(place), .verbs = TOOL_ATTACH},
	{0, "read-only", NULL, "refuse writes", AT(is_read_only), .verbs = TOOL_MAKE},
	{0, "shared", NULL, "do not refuse a disk that is attached on this machine already (for cluster file systems)", AT(is_shared), .verbs = TOOL_MAKE},
	{0, "root-disk", NULL, "the disk holds the root file system: its process needs no file of it, runs from the initramfs to the shutdown, and is started again if it dies", AT(is_root_disk), .verbs = TOOL_ATTACH},
	{0, "policy", "POLICY", "selects among paths: service-time, queue-depth or round-robin; default: service-time", AT(policy), .verbs = TOOL_MAKE, .words = "service-time queue-depth round-robin"},
	{0, "no-path-retry", "SECONDS", "how long requests wait while no path is up: seconds, queue (without end) or fail; default: queue", AT(no_path_retry), .verbs = TOOL_MAKE, .words = "queue fail"},
	{0, "fence", "WAY", "how writes of a lost path are kept from coming late: auto, or reservation, which reserves the disk for this host and preempts the path; default: auto", AT(fence), .verbs = TOOL_MAKE, .words = "auto reservation"},
	{0, "fence-wait", "SECONDS", "when a path is lost with writes under way and the target cannot say that they have ended: how long newer writes of the same blocks wait; seconds or never; default: 60", AT(fence_wait), .verbs = TOOL_MAKE, .words = "never"},
	{0, "queues", "N", "queues of the device; default: chosen", AT(queues), on_number, .verbs = TOOL_MAKE, .lo = 1, .hi = 64},
	{0, "depth", "N", "requests of a queue; default: chosen", AT(depth), on_number, .verbs = TOOL_MAKE, .lo = 1, .hi = 1024},
	{0, "dead-seconds", "SECONDS", "how long the kernel keeps requests of nbd after its process has died; default: 300", AT(dead_seconds), on_number, .verbs = TOOL_MAKE, .lo = 1, .hi = 86400},
	{0, "foreground", NULL, "stay in the foreground until SIGTERM or SIGINT", AT(stays), .verbs = TOOL_ATTACH},
	{0, "keep-trying", NULL, "with --foreground: try again while the target, the disk or the network is not there, without end", AT(keeps_trying), .verbs = TOOL_ATTACH},
	{0, "all", NULL, "all automatic entries of the entry directory", AT(is_all), .verbs = TOOL_ATTACH},
	{0, "all", NULL, "all attachments", AT(is_all), .verbs = TOOL_DETACH},
	{0, "force", NULL, "detach even if the device is used", AT(is_forced), .verbs = TOOL_DETACH | TOOL_LOG_OUT},
	{0, "all", NULL, "all automatic records of the record directory", AT(is_all), .verbs = TOOL_LOG_IN},
	{0, "all", NULL, "all that login has attached", AT(is_all), .verbs = TOOL_LOG_OUT},
	{0, "name", "NAME", "name of the record; attachments are called NAME-LUN; default: the target's name", AT(name), .verbs = TOOL_LOG_IN},
	{0, "foreground", NULL, "stay until SIGTERM or SIGINT, then log out; log in again when the process of a disk has died", AT(stays), .verbs = TOOL_LOG_IN},
	{0, "save", NULL, "keep URLs and options as a record", AT(saves), .verbs = TOOL_LOG_IN},
	{0, "startup", "WHEN", "of the record that is saved: automatic (login --all) or manual; default: manual", AT(startup), .verbs = TOOL_LOG_IN, .words = "automatic manual"},
	{0, "record-dir", "DIRECTORY", "where records are; default: /etc/farblock-initiator/login.d", AT(entry_dir), .verbs = TOOL_LOG_IN},
	{'P', "print", "LEVEL", "how much of each session: 0 (a line) to 3; default: 0", AT(level), on_number, .verbs = TOOL_SESSIONS, .lo = 0, .hi = 3},
	{0, "export", NULL, "print the properties of DEVICE, or of a partition, for a rule of udev", AT(is_export), .verbs = TOOL_ATTACHED},
	{'b', "fwparam_connect", NULL, "attach the disk that the iBFT names, at all its portals", AT(boots_firmware), .verbs = TOOL_BOOT},
	{'N', "fwparam_network", NULL, "set up the network as the iBFT has it; with -b before that", AT(sets_network), .verbs = TOOL_BOOT},
	{'f', "fwparam_print", NULL, "print the iBFT in the form of iscsistart, without secrets; with --json as JSON", AT(prints_firmware), .verbs = TOOL_BOOT},
	{'i', "initiatorname", "NAME", "same as --initiator-name", AT(initiator_name), .verbs = TOOL_BOOT},
	{'t', "targetname", "NAME", "name of the target; required without -b, -N and -f", AT(target), .verbs = TOOL_BOOT},
	{'a', "address", "ADDRESS", "address or host of the target's portal; required without -b, -N and -f", AT(address), .verbs = TOOL_BOOT},
	{'p', "port", "PORT", "port of the portal; default: 3260", AT(port), on_number, .verbs = TOOL_BOOT, .lo = 1, .hi = 65535},
	{'g', "tgpt", "N", "no effect: the target tells the tag of its portal group", AT(tpgt), on_number, .verbs = TOOL_BOOT, .lo = 0, .hi = 65535},
	{'u', "username", "USER", "same as --chap-user", AT(chap_user), .verbs = TOOL_BOOT},
	{'w', "password", "SECRET", "CHAP secret; other users see it until the program has read it; use --chap-secret-file or $FARBLOCK_CHAP_SECRET to hide it from them", AT(chap_secret), .verbs = TOOL_BOOT},
	{'U', "username_in", "USER", "same as --chap-mutual-user", AT(mutual_user), .verbs = TOOL_BOOT},
	{'W', "password_in", "SECRET", "CHAP secret of the target; see --password", AT(mutual_secret), .verbs = TOOL_BOOT},
	{'P', "param", "NAME=VALUE", "setting of a record of open-iscsi, for example iface.transport_name=iser; may be repeated", AT(params), on_param, .verbs = TOOL_BOOT},
	{'c', "config", "FILE", "no effect: settings of iscsid.conf are given with --param", AT(iscsid_conf), .verbs = TOOL_BOOT},
	{'d', "debug", "LEVEL", "from 1 on: log more", AT(debug), on_number, .verbs = TOOL_BOOT, .lo = 0, .hi = 8},
	{'v', "version", NULL, "print the version", AT(is_version), .verbs = TOOL_BOOT},
	{0, "lun", "N", "attach this LUN alone; default: all disks of the target, with -b the LUN of the iBFT", AT(lun), on_number, .verbs = TOOL_BOOT, .lo = 0, .hi = 16383},
	{0, "name", "NAME", "name of the attachment; with all disks they are called NAME-LUN; default: boot", AT(name), .verbs = TOOL_BOOT},
	{0, "timeout", "SECONDS", "how long to retry the first login; 0: without end; default: 120", AT(timeout), on_number, .verbs = TOOL_BOOT, .lo = 0, .hi = 86400},
	{0, "retry-all", NULL, "also retry errors that waiting does not fix: a wrong secret, a missing ACL, target or LUN", AT(retries_all), .verbs = TOOL_BOOT},
	{0, "link-timeout", "SECONDS", "with -N: time limit for interfaces to appear and to have a link; default: 30", AT(link_timeout), on_number, .verbs = TOOL_BOOT, .lo = 1, .hi = 3600},
	{0, "ibft", "DIRECTORY", "where the iBFT is; default: /sys/firmware/ibft", AT(ibft_dir), .verbs = TOOL_BOOT},
	{0, "entry-dir", "DIRECTORY", "where entries are; default: /etc/farblock-initiator/attach.d", AT(entry_dir), .verbs = TOOL_ATTACH},
	{0, "run-dir", "DIRECTORY", "state and sockets of attachments; default: /run/farblock-initiator", AT(run_dir), .verbs = TOOL_DISCOVER | TOOL_MAKE | TOOL_HELD | TOOL_WRITE | TOOL_VERIFY | TOOL_BENCH | TOOL_UNMAP | TOOL_COPY},
	{0},
};
// clang-format on

static void defaults(struct tool_options *o)
{
	*o = (struct tool_options){ 0 };
	for (const struct option_row *r = tool_option_rows; r->name; r++)
		if (r->on == on_size || r->on == on_number)
			*(uint64_t *)((char *)o + r->at) = TOOL_UNSET;
}

static bool is_list(const struct option_row *r)
{
	return r->on == on_key || r->on == on_param;
}

static bool is_given(const struct option_row *r, const void *field)
{
	if (r->on == on_size || r->on == on_number)
		return *(const uint64_t *)field != TOOL_UNSET;
	return r->argument ? *(const char *const *)field != NULL : *(const bool *)field;
}

void tool_options_each(const struct tool_options *o, unsigned verb,
		       void (*found)(void *arg, const char *name, const char *value), void *arg)
{
	for (const struct option_row *r = tool_option_rows; r->name; r++) {
		const void *field = (const char *)o + r->at;
		char number[24];
		if (!option_is_of(r, verb) || (r->on != on_key && !is_given(r, field)) ||
		    r->on == on_param)
			continue;
		if (r->on == on_key) {
			for (unsigned i = 0; i < o->key_count; i++)
				found(arg, r->name, o->keys[i]);
		} else if (r->on) {
			snprintf(number, sizeof number, "%lu",
				 (unsigned long)*(const uint64_t *)field);
			found(arg, r->name, number);
		} else {
			found(arg, r->name, r->argument ? *(const char *const *)field : "yes");
		}
	}
}

int tool_options_overlay(struct tool_options *to, const struct tool_options *from, struct err *e)
{
	for (const struct option_row *r = tool_option_rows; r->name; r++) {
		const char *field = (const char *)from + r->at;
		if (is_list(r) || !is_given(r, field))
			continue;
		memcpy((char *)to + r->at, field, r->argument ? sizeof(uint64_t) : sizeof(bool));
	}
	for (unsigned i = 0; i < from->key_count; i++) {
		if (to->key_count == TOOL_KEYS_MAX)
			return err_set(e, -EINVAL, "--set: more than %d", TOOL_KEYS_MAX);
		to->keys[to->key_count++] = from->keys[i];
	}
	return 0;
}

_Static_assert(sizeof(const char *) == sizeof(uint64_t), "fields of options have one of two sizes");

static int take_argument(void *to, const char *word, struct err *e)
{
	struct tool_options *o = to;
	if (o->arg_count == TOOL_ARGS_MAX)
		return err_set(e, -EINVAL, "unexpected argument: %.64s", word);
	o->args[o->arg_count++] = word;
	return 0;
}

static int refuse(enum option_fault fault, const struct option_row *row, const char *word,
		  struct err *e)
{
	if (fault == OPTION_TAKES_NONE)
		return err_set(e, -EINVAL, "--%s takes no value", row->name);
	if (fault == OPTION_NEEDS_VALUE)
		return err_set(e, -EINVAL, "--%s: missing %s", row->name, row->argument);
	err_set(e, -ENOENT, "unknown option: %.64s (see --help)", word);
	return err_at(e, ERR_PART_NAME, 0, word);
}

// Of fio, sg_persist and dd.
static const struct {
	const char *name, *option;
} others[] = {
	{"iodepth",     "depth"	     },
	     { "rw",	     "op"	  },
	{ "readwrite",  "op"	    },
	     { "runtime",	  "time"	 },
	{ "numjobs",    "sessions"	},
	     { "blocksize",  "bs"	 },
	{ "rwmixread",  "mix"	     },
	     { "rate_iops",  "rate"	   },
	{ "size",	  "length"	   },
	     { "skip",       "offset"	},
	{ "of",		"output"	 },
	     { "if",	     "input"	     },
	{ "param-rk",   "key"	    },
	     { "param-sark", "service-key"},
	{ "prout-type", "type"       },
	     { "ro",	     "read-only"	 },
	{ "readonly",   "read-only"  },
	     { "yes",	      "force"      },
};

// What an unknown option of the subcommand may have been meant to be.
static int suggest_option(unsigned verb, struct err *e)
{
	char name[sizeof e->name];
	snprintf(name, sizeof name, "%s", e->name + strspn(e->name, "-"));
	name[strcspn(name, "=")] = 0;
	struct suggest s = { .word = name };
	bool is_elsewhere = false;
	for (const struct option_row *r = tool_option_rows; r->name; r++) {
		is_elsewhere |= !strcmp(r->name, name);
		if (option_is_of(r, verb))
			suggest_add(&s, r->name);
		for (size_t i = 0; i < sizeof others / sizeof *others && option_is_of(r, verb); i++)
			if (!strcmp(others[i].name, name) && !strcmp(others[i].option, r->name))
				s = (struct suggest){ .word = name, .best = r->name };
	}
	if (is_elsewhere)
		return err_set(e, -EINVAL,
			       "unknown option: --%s (other commands have it; see --help)", name);
	if (s.best)
		return err_set(e, -EINVAL, "unknown option: --%s (did you mean --%s?)", name,
			       s.best);
	return -EINVAL;
}

int tool_options_parse(struct tool_options *o, unsigned verb, int argc, char **argv, struct err *e)
{
	const struct option_program program = { .rows = tool_option_rows,
						.verb = verb,
						.argument = take_argument,
						.refuse = refuse,
						.to = o };
	defaults(o);
	int r = options_read(&program, argc, argv, e);
	if (r == -ENOENT)
		r = suggest_option(verb, e);
	return r < 0 ? r : 0;
}
