// SPDX-License-Identifier: BSD-2-Clause
// Command-line options of farblockd.
#include "target/options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/attr.h"
#include "target/metrics/server.h"

enum { SPIN_DEFAULT_USEC = 100, CPU_NUMBER_MAX = 4095 };

static int on_path(void *to, const struct option_row *row, const char *text, struct err *e)
{
	if (!*text)
		return err_set(e, -EINVAL, "--%s: empty path", row->name);
	if (strlen(text) >= PATH_MAX)
		return err_set(e, -EINVAL, "--%s: path longer than %d characters", row->name,
			       PATH_MAX - 1);
	*(const char **)((char *)to + row->at) = text;
	return 0;
}

static int on_number(void *to, const struct option_row *row, const char *text, struct err *e)
{
	char *end;
	errno = 0;
	unsigned long v = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || v < row->lo || v > row->hi)
		return err_set(e, -EINVAL, "--%s: invalid value '%.40s' (%u to %u)", row->name,
			       text, (unsigned)row->lo, (unsigned)row->hi);
	*(unsigned *)((char *)to + row->at) = (unsigned)v;
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

static int on_metrics(void *to, const struct option_row *row, const char *text, struct err *e)
{
	struct daemon_options *o = to;
	o->metrics = text;
	// An interface may appear later.
	int r = metrics_server_check(text, e);
	return r == -ENODEV ? 0 : r;
}

static int on_cpus(void *to, const struct option_row *row, const char *text, struct err *e)
{
	struct daemon_options *o = to;
	int n = options_cpus(text, o->cpus, e);
	if (n > 0)
		o->cpu_count = (unsigned)n;
	return n < 0 ? n : 0;
}

static int on_pool_mem(void *to, const struct option_row *row, const char *text, struct err *e)
{
	struct daemon_options *o = to;
	if (parse_size(text, &o->pool_mem, e) < 0)
		return err_prefix(e, "--pool-mem");
	if (o->pool_mem < 16 << 20)
		return err_set(e, -EINVAL, "--pool-mem: '%.40s' is too small (at least 16M)", text);
	return 0;
}

static int on_log_level(void *to, const struct option_row *row, const char *text, struct err *e)
{
	struct daemon_options *o = to;
	if (log_parse_level(text, &o->log_level))
		return 0;
	return err_set(e, -EINVAL, "--log-level: invalid level '%.40s' (error, warn, info, debug)",
		       text);
}

#define AT(field) offsetof(struct daemon_options, field)
// clang-format off
const struct option_row daemon_option_rows[] = {
	{0, "config", "FILE", "saved configuration (default /etc/farblock/saveconfig.json)", AT(config), on_path},
	{0, "state-dir", "DIR", "persistent state (default /var/lib/farblock)", AT(state_dir), on_path},
	{0, "socket", "PATH", "control socket (default /run/farblock/control.sock)", AT(socket), on_path},
	{0, "metrics", "ADDR:PORT",
	 "address of metrics and status page, or off (default " SERVER_DEFAULT ")", 0, on_metrics},
	{0, "workers", "N", "number of I/O threads (default: one per CPU)", AT(workers), on_number,
	 .lo = 1, .hi = WORKER_MAX},
	{0, "cpus", "LIST", "pin I/O threads to these CPUs, such as 0-3,8", 0, on_cpus},
	{0, "pool-mem", "SIZE", "buffer memory limit per I/O thread (default 256M)", 0, on_pool_mem},
	{0, "spin", "USEC", "microseconds to poll for a request or a disk, under load (default 100)",
	 AT(spin_usec), on_number, .lo = 0, .hi = 10000},
	{0, "log-level", "LEVEL", "error, warn, info or debug (default info)", 0, on_log_level},
	{0, "version", NULL, "show the version", AT(wants_version)},
	{0, "help", NULL, "show this help", AT(wants_help)},
	{0},
};
// clang-format on

static int refuse_argument(void *to, const char *word, struct err *e)
{
	return err_set(e, -EINVAL, "unexpected argument: %.60s (see --help)", word);
}

static int refuse(enum option_fault fault, const struct option_row *row, const char *word,
		  struct err *e)
{
	if (fault == OPTION_NEEDS_VALUE)
		return err_set(e, -EINVAL, "%.60s: value missing (see --help)", word);
	return err_set(e, -EINVAL, "unknown option: %.60s (see --help)", word);
}

int daemon_options_read(struct daemon_options *ret, int argc, char **argv, struct err *e)
{
	const struct option_program program = {
		.rows = daemon_option_rows,
		.takes_short_names = true,
		.argument = refuse_argument,
		.refuse = refuse,
		.to = ret,
	};
	*ret = (struct daemon_options){
		.config = "/etc/farblock/saveconfig.json",
		.state_dir = "/var/lib/farblock",
		.socket = "/run/farblock/control.sock",
		.metrics = SERVER_DEFAULT,
		.spin_usec = SPIN_DEFAULT_USEC,
		.log_level = LOG_LVL_INFO,
	};
	int r = options_read(&program, argc - 1, argv + 1, e);
	return r < 0 ? r : 0;
}

void daemon_options_help(void)
{
	printf("farblockd serves block devices over iSCSI, iSER and SRP.\nusage: farblockd "
	       "[OPTION]...\n\n");
	options_help(daemon_option_rows, 0, 20, false, stdout);
	printf("\nUse the shell, farblock, to configure disks and targets.\n");
}
