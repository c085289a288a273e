// SPDX-License-Identifier: BSD-2-Clause
// The load generator's command line.
#include "load.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
	"usage: iscsi_load [OPTIONS] iscsi://HOST:PORT/IQN/LUN | raw://HOST:PORT\n"
	"  -b, --io-size BYTES     bytes a command (4096)\n"
	"  -q, --depth N           commands in flight a session (32)\n"
	"  -c, --sessions N        sessions (1)\n"
	"  -t, --seconds S         measured time (4)\n"
	"  -u, --ramp S            time before it (0.3)\n"
	"  -w, --write             write instead of read\n"
	"  -m, --mixed PERCENT     so many percent reads, the rest writes\n"
	"  -s, --sequential        instead of random\n"
	"  -r, --rate N            offer N commands/s instead of keeping the queue full\n"
	"  -p, --spin              never sleep\n"
	"  -C, --cpu N             run on this CPU\n"
	"  -P, --pids PID[+PID]    measure the CPU time of these processes\n"
	"  -v, --verify            write a pattern of the address, check what is read\n"
	"  -n, --count N           stop after N commands\n"
	"  -S, --span BYTES        use only the start of the LUN\n"
	"  -L, --luns N            spread commands over N LUNs from the URL's up\n"
	"  -I, --idle              log in and only answer pings\n"
	"  -H, --header-digest     ask for CRC32C\n"
	"  -D, --data-digest       ask for CRC32C\n"
	"  -R, --initial-r2t       ask for InitialR2T=Yes\n"
	"  -N, --no-immediate      ask for ImmediateData=No\n"
	"  -F, --first-burst BYTES (262144)\n"
	"  -B, --max-burst BYTES   (1048576)\n"
	"  -x, --cdb16             READ(16), WRITE(16)\n"
	"Prints one line of JSON. Exit status: 0, 1 failed, 2 usage, 3 errors or wrong data.\n";

static const struct option long_options[] = {
	{"io-size",	     required_argument, NULL, 'b'},
	{ "depth",	   required_argument, NULL, 'q'},
	{ "sessions",      required_argument, NULL, 'c'},
	{ "seconds",	     required_argument, NULL, 't'},
	{ "ramp",	  required_argument, NULL, 'u'},
	{ "write",	   no_argument,	NULL, 'w'},
	{ "mixed",	   required_argument, NULL, 'm'},
	{ "sequential",	no_argument,	     NULL, 's'},
	{ "rate",	  required_argument, NULL, 'r'},
	{ "spin",	  no_argument,       NULL, 'p'},
	{ "cpu",		 required_argument, NULL, 'C'},
	{ "pids",	  required_argument, NULL, 'P'},
	{ "verify",	    no_argument,	 NULL, 'v'},
	{ "count",	   required_argument, NULL, 'n'},
	{ "span",	  required_argument, NULL, 'S'},
	{ "luns",	  required_argument, NULL, 'L'},
	{ "idle",	  no_argument,       NULL, 'I'},
	{ "header-digest", no_argument,	NULL, 'H'},
	{ "data-digest",	 no_argument,	      NULL, 'D'},
	{ "initial-r2t",	 no_argument,	      NULL, 'R'},
	{ "no-immediate",  no_argument,       NULL, 'N'},
	{ "first-burst",	 required_argument, NULL, 'F'},
	{ "max-burst",     required_argument, NULL, 'B'},
	{ "cdb16",	   no_argument,	NULL, 'x'},
	{ NULL,		0,		   NULL, 0  },
};

void die(const char *fmt, ...)
{
	va_list args;

	fputs("iscsi_load: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static void __attribute__((noreturn)) refuse(const char *why, const char *what)
{
	fprintf(stderr, "iscsi_load: %s: %s\n%s", what, why, usage);
	exit(2);
}

static uint64_t number(const char *text, uint64_t min, uint64_t max)
{
	char *end;
	uint64_t v = strtoull(text, &end, 0);

	if (end == text || *end || v < min || v > max || *text == '-')
		refuse("not a number in range", text);
	return v;
}

static double real(const char *text, double min)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= min && v < 1e9))
		refuse("not a number in range", text);
	return v;
}

static void pids_parse(struct options *opt, const char *text)
{
	char *end;

	for (const char *p = text; *p; p = *end ? end + 1 : end) {
		long pid = strtol(p, &end, 10);

		if (end == p || (*end && *end != '+') || pid <= 0 || opt->n_pids == MAX_PIDS)
			refuse("not a list of process ids", text);
		opt->pids[opt->n_pids++] = (pid_t)pid;
	}
}

static void url_parse(struct options *opt, const char *url)
{
	if (sscanf(url, "raw://%255[^:/]:%15[0-9]", opt->host, opt->port) == 2)
		opt->is_raw = true;
	else if (sscanf(url, "iscsi://%255[^:/]:%15[0-9]/%255[^/]/%u", opt->host, opt->port,
			opt->iqn, &opt->lun) != 4)
		refuse("not iscsi://HOST:PORT/IQN/LUN", url);
	if (opt->lun + opt->luns > 16384)
		refuse("LUN above 16383", url);
}

static void take(struct options *opt, int letter, const char *arg)
{
	switch (letter) {
	case 'b':
		opt->io_size = (uint32_t)number(arg, 512, 8 << 20);
		break;
	case 'q':
		opt->depth = (uint32_t)number(arg, 1, 4096);
		break;
	case 'c':
		opt->sessions = (unsigned)number(arg, 1, 65536);
		break;
	case 't':
		opt->seconds = real(arg, 0.01);
		break;
	case 'u':
		opt->ramp = real(arg, 0);
		break;
	case 'w':
		opt->read_percent = 0;
		break;
	case 'm':
		opt->read_percent = (int)number(arg, 0, 100);
		break;
	case 's':
		opt->is_sequential = true;
		break;
	case 'r':
		opt->rate = real(arg, 0);
		break;
	case 'p':
		opt->is_spinning = true;
		break;
	case 'C':
		opt->cpu = (int)number(arg, 0, 1023);
		break;
	case 'P':
		pids_parse(opt, arg);
		break;
	case 'v':
		opt->is_verifying = true;
		break;
	case 'n':
		opt->max_ios = number(arg, 1, UINT64_MAX);
		break;
	case 'S':
		opt->span = number(arg, 512, UINT64_MAX);
		break;
	case 'L':
		opt->luns = (unsigned)number(arg, 1, 16384);
		break;
	case 'I':
		opt->is_idle = true;
		break;
	case 'H':
		opt->has_header_digest = true;
		break;
	case 'D':
		opt->has_data_digest = true;
		break;
	case 'R':
		opt->initial_r2t = true;
		break;
	case 'N':
		opt->immediate_data = false;
		break;
	case 'F':
		opt->first_burst = (uint32_t)number(arg, 512, (1 << 24) - 1);
		break;
	case 'B':
		opt->max_burst = (uint32_t)number(arg, 512, (1 << 24) - 1);
		break;
	case 'x':
		opt->use_16 = true;
		break;
	default:
		fputs(usage, stderr);
		exit(2);
	}
}

void options_parse(struct options *opt, int argc, char **argv)
{
	int letter;

	*opt = (struct options){
		.luns = 1,
		.io_size = 4096,
		.depth = 32,
		.sessions = 1,
		.seconds = 4,
		.ramp = 0.3,
		.read_percent = 100,
		.immediate_data = true,
		.first_burst = 256 * 1024,
		.max_burst = 1024 * 1024,
		.cpu = -1,
	};
	while ((letter = getopt_long(argc, argv, "b:q:c:t:u:wm:sr:pC:P:vn:S:L:IHDRNF:B:x",
				     long_options, NULL)) != -1)
		take(opt, letter, optarg);
	if (optind + 1 != argc)
		refuse("one URL expected", optind < argc ? argv[optind + 1] : "command line");
	url_parse(opt, argv[optind]);
	if (opt->is_raw && !opt->span)
		opt->span = 64 << 20;
	if (opt->is_raw && (opt->is_verifying || opt->is_idle))
		refuse("not with --verify or --idle", argv[optind]);
}
