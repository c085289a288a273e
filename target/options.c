// SPDX-License-Identifier: BSD-2-Clause
// Command-line options of farblockd.
#include "target/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/attr.h"
#include "target/metrics/server.h"

enum { SPIN_DEFAULT_USEC = 100, CPU_NUMBER_MAX = 4095 };

static int set_path(const char **field, const char *flag, const char *text, struct err *e)
{
	if (!*text)
		return err_set(e, -EINVAL, "--%s: empty path", flag);
	if (strlen(text) >= PATH_MAX)
		return err_set(e, -EINVAL, "--%s: path longer than %d characters", flag,
			       PATH_MAX - 1);
	*field = text;
	return 0;
}

static int set_number(unsigned *field, const char *flag, const char *text, unsigned min,
		      unsigned max, struct err *e)
{
	char *end;
	errno = 0;
	unsigned long v = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || v < min || v > max)
		return err_set(e, -EINVAL, "--%s: invalid value '%.40s' (%u to %u)", flag, text,
			       min, max);
	*field = (unsigned)v;
	return 0;
}

int options_cpus(const char *text, int ret[WORKER_MAX], struct err *e)
{
	unsigned count = 0;
	const char *p = text;
	while (isdigit((unsigned char)*p)) {
		char *end;
		long from = strtol(p, &end, 10), to = from;
		if (*end == '-' && isdigit((unsigned char)end[1]))
			to = strtol(end + 1, &end, 10);
		if (to < from || to > CPU_NUMBER_MAX)
			break;
		for (long cpu = from; cpu <= to; cpu++) {
			if (count == WORKER_MAX)
				return err_set(e, -EINVAL, "--cpus: '%.60s': more than %d CPUs",
					       text, WORKER_MAX);
			ret[count++] = (int)cpu;
		}
		if (!*end)
			return (int)count;
		p = *end == ',' ? end + 1 : "";
	}
	return err_set(e, -EINVAL, "--cpus: invalid list '%.60s' (such as 0-3,8)", text);
}

static int on_config(struct daemon_options *o, const char *text, struct err *e)
{
	return set_path(&o->config, "config", text, e);
}

static int on_state_dir(struct daemon_options *o, const char *text, struct err *e)
{
	return set_path(&o->state_dir, "state-dir", text, e);
}

static int on_socket(struct daemon_options *o, const char *text, struct err *e)
{
	return set_path(&o->socket, "socket", text, e);
}

static int on_metrics(struct daemon_options *o, const char *text, struct err *e)
{
	o->metrics = text;
	// An interface may appear later.
	int r = metrics_server_check(text, e);
	return r == -ENODEV ? 0 : r;
}

static int on_workers(struct daemon_options *o, const char *text, struct err *e)
{
	return set_number(&o->workers, "workers", text, 1, WORKER_MAX, e);
}

static int on_cpus(struct daemon_options *o, const char *text, struct err *e)
{
	int n = options_cpus(text, o->cpus, e);
	if (n > 0)
		o->cpu_count = (unsigned)n;
	return n < 0 ? n : 0;
}

static int on_pool_mem(struct daemon_options *o, const char *text, struct err *e)
{
	if (parse_size(text, &o->pool_mem, e) < 0)
		return err_prefix(e, "--pool-mem");
	if (o->pool_mem < 16 << 20)
		return err_set(e, -EINVAL, "--pool-mem: '%.40s' is too small (at least 16M)", text);
	return 0;
}

static int on_spin(struct daemon_options *o, const char *text, struct err *e)
{
	return set_number(&o->spin_usec, "spin", text, 0, 10000, e);
}

static int on_log_level(struct daemon_options *o, const char *text, struct err *e)
{
	if (log_parse_level(text, &o->log_level))
		return 0;
	return err_set(e, -EINVAL, "--log-level: invalid level '%.40s' (error, warn, info, debug)",
		       text);
}

static int on_version(struct daemon_options *o, const char *text, struct err *e)
{
	o->wants_version = true;
	return 0;
}

static int on_help(struct daemon_options *o, const char *text, struct err *e)
{
	o->wants_help = true;
	return 0;
}

static const struct flag {
	struct option_row row;
	int (*on)(struct daemon_options *o, const char *text, struct err *e);
} flags[] = {
	// clang-format off
	{{"config", "FILE", "saved configuration (default /etc/farblock/saveconfig.json)"}, on_config},
	{{"state-dir", "DIR", "persistent state (default /var/lib/farblock)"}, on_state_dir},
	{{"socket", "PATH", "control socket (default /run/farblock/control.sock)"}, on_socket},
	{{"metrics", "ADDR:PORT",
	  "address of metrics and status page, or off (default " SERVER_DEFAULT ")"}, on_metrics},
	{{"workers", "N", "number of I/O threads (default: one per CPU)"}, on_workers},
	{{"cpus", "LIST", "pin I/O threads to these CPUs, such as 0-3,8"}, on_cpus},
	{{"pool-mem", "SIZE", "buffer memory limit per I/O thread (default 256M)"}, on_pool_mem},
	{{"spin", "USEC", "microseconds to poll for a request or a disk, under load (default 100)"}, on_spin},
	{{"log-level", "LEVEL", "error, warn, info or debug (default info)"}, on_log_level},
	{{"version", NULL, "show the version"}, on_version},
	{{"help", NULL, "show this help"}, on_help},
	// clang-format on
};
enum { FLAGS = sizeof flags / sizeof flags[0] };

int options_parse(struct daemon_options *ret, int argc, char **argv, struct err *e)
{
	struct option longs[FLAGS + 1] = { 0 };
	*ret = (struct daemon_options){
		.config = "/etc/farblock/saveconfig.json",
		.state_dir = "/var/lib/farblock",
		.socket = "/run/farblock/control.sock",
		.metrics = SERVER_DEFAULT,
		.spin_usec = SPIN_DEFAULT_USEC,
		.log_level = LOG_LVL_INFO,
	};
	for (int i = 0; i < FLAGS; i++)
		longs[i] = (struct option){ flags[i].row.name,
					    flags[i].row.argument ? required_argument : no_argument,
					    NULL, 256 + i };
	optind = 0; // resets getopt, for tests
	opterr = 0;
	for (;;) {
		int at = getopt_long(argc, argv, ":", longs, NULL);
		if (at == -1)
			break;
		if (at == ':')
			return err_set(e, -EINVAL, "%.60s: value missing (see --help)",
				       argv[optind - 1]);
		if (at < 256)
			return err_set(e, -EINVAL, "unknown option: %.60s (see --help)",
				       argv[optind - 1]);
		int r = flags[at - 256].on(ret, optarg, e);
		if (r < 0)
			return r;
	}
	if (optind < argc)
		return err_set(e, -EINVAL, "unexpected argument: %.60s (see --help)", argv[optind]);
	return 0;
}

const struct option_row *options_row(unsigned index)
{
	return index < FLAGS ? &flags[index].row : NULL;
}

void options_help(void)
{
	printf("farblockd serves block devices over iSCSI and iSER.\nusage: farblockd "
	       "[OPTION]...\n\n");
	for (int i = 0; i < FLAGS; i++) {
		char left[40];
		snprintf(left, sizeof left, "--%s%s%s", flags[i].row.name,
			 flags[i].row.argument ? " " : "",
			 flags[i].row.argument ? flags[i].row.argument : "");
		printf("  %-20s %s\n", left, flags[i].row.help);
	}
	printf("\nUse the shell, farblock, to configure disks and targets.\n");
}
