// SPDX-License-Identifier: BSD-2-Clause
// Runs the cases of the RDMA contract over one provider.
//
//     rdma_contract PROVIDER ADDRESS [--connections N] [--find COMMAND]
//                   [--down COMMAND --up COMMAND] [--lose COMMAND] [PATTERN]
//
// The commands make the device, its port go down and up, and the device go. PATTERN names cases
// ("a_close*"). Exit status 0: all passed, 77: no device has ADDRESS.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

static const struct named {
	const char *name;
	const struct rnic_provider *provider;
} providers[] = {
#ifdef HAS_IWARP
	{"iwarp",  &rnic_iwarp},
#endif
#ifdef HAS_VERBS
	{ "verbs", &rnic_verbs},
#endif
	{ NULL,	NULL	     },
};

static int usage(void)
{
	fputs("usage: rdma_contract PROVIDER ADDRESS [--connections N] [--find COMMAND] "
	      "[--down COMMAND --up COMMAND] [--lose COMMAND] [PATTERN]\n",
	      stderr);
	return 2;
}

static bool parse_option(const char *name, const char *value)
{
	static const struct {
		const char *name;
		const char **command;
	} commands[] = {
		{"--lose",  &device_lose},
		{ "--find", &device_find},
		{ "--down", &device_down},
		{ "--up",	  &device_up  },
	};

	if (!strcmp(name, "--connections")) {
		bench_connections = (unsigned)strtoul(value, NULL, 10);
		return true;
	}
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (!strcmp(name, commands[i].name)) {
			*commands[i].command = value;
			return true;
		}
	return false;
}

static int parse(int argc, char **argv)
{
	struct err e;

	if (argc < 3)
		return usage();
	for (const struct named *p = providers; p->name; p++)
		if (!strcmp(argv[1], p->name))
			bench_provider = p->provider;
	if (!bench_provider)
		return usage();
	if (tcp_addr_parse(&bench_addr, argv[2], 0, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		return 2;
	}
	for (int i = 3; i < argc; i++) {
		if (argv[i][0] != '-')
			cmocka_set_test_filter(argv[i]);
		else if (i + 1 == argc || !parse_option(argv[i], argv[i + 1]))
			return usage();
		else
			i++;
	}
	return bench_connections > 0 && bench_connections <= ENDS_MAX / 2 ? 0 : usage();
}

// No device, no test.
static int try_to_listen(void)
{
	static const struct rnic_listener_ops none;
	struct worker_options o = { .name = "contract", .cpu = -1 };
	struct rnic_listener *l = NULL;
	struct worker *w;
	struct err e;
	int r = worker_new(&w, &o, &e);

	if (r == 0) {
		bench_run_once(w);
		r = rnic_listen(bench_provider, &l, w, &bench_addr, &none, NULL, &e);
		rnic_listener_free(l);
		bench_run_once(w);
		worker_free(w);
	}
	if (r == 0)
		return 0;
	fprintf(stderr, "rdma_contract: %s\n", e.text);
	return r == -ENODEV ? 77 : 1;
}

#define RUN(cases, count) _cmocka_run_group_tests(#cases, cases, count, NULL, NULL)

int main(int argc, char **argv)
{
	int r = parse(argc, argv);

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (r == 0 && device_find && RUN(late_cases, late_case_count))
		return 1;
	if (r == 0)
		r = try_to_listen();
	if (r)
		return r;
	r = RUN(connect_cases, connect_case_count);
	r += RUN(message_cases, message_case_count);
	r += RUN(rdma_cases, rdma_case_count);
	r += RUN(protection_cases, protection_case_count);
	r += RUN(close_cases, close_case_count);
	if (device_lose || device_down)
		r += RUN(device_cases, device_case_count);
	printf("rdma_contract: %s on %s: %d failed\n", argv[1], argv[2], r);
	return r ? 1 : 0;
}
