// SPDX-License-Identifier: BSD-2-Clause
// What is counted between the start and the end of the measured window: a
// latency histogram of 64 steps an octave, calls, and the CPU time of this
// process and of the target's, read from the kernel's clocks at both ends.
#include "load.h"

#include <stdio.h>
#include <time.h>

enum { STEPS = 64, STEP_BITS = 6 };

static struct {
	uint64_t begin_ns, end_ns, rx_calls, tx_calls;
	double own_cpu, target_cpu;
	uint64_t reads, writes, sum, max;
	uint64_t histogram[64 * STEPS];
} st;

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

static double clock_seconds(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		die("the target's process is gone");
	return (double)t.tv_sec + (double)t.tv_nsec / NS_PER_SEC;
}

static double target_seconds(const struct options *opt)
{
	double sum = 0;

	for (unsigned i = 0; i < opt->n_pids; i++) {
		clockid_t clock;

		if (clock_getcpuclockid(opt->pids[i], &clock))
			die("process %d: no such process", opt->pids[i]);
		sum += clock_seconds(clock);
	}
	return sum;
}

static unsigned step_of(uint64_t v)
{
	unsigned top;

	if (v < STEPS)
		return (unsigned)v;
	top = 63 - (unsigned)__builtin_clzll(v);
	return (top - STEP_BITS + 1) * STEPS + ((unsigned)(v >> (top - STEP_BITS)) & (STEPS - 1));
}

static double step_value(unsigned step)
{
	unsigned shift = step / STEPS;

	if (!shift)
		return step;
	return (double)((uint64_t)(STEPS + step % STEPS) << (shift - 1));
}

static double percentile_us(double part)
{
	uint64_t wanted = (uint64_t)((double)(st.reads + st.writes) * part), seen = 0;

	for (unsigned i = 0; i < 64 * STEPS; i++) {
		seen += st.histogram[i];
		if (seen > wanted)
			return step_value(i) / 1000;
	}
	return (double)st.max / 1000;
}

void stats_begin(struct load *l)
{
	l->is_measuring = true;
	st.rx_calls = l->rx_calls;
	st.tx_calls = l->tx_calls;
	st.own_cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
	st.target_cpu = target_seconds(&l->opt);
	st.begin_ns = now_ns();
}

void stats_add(uint64_t latency_ns, bool is_write)
{
	if (is_write)
		st.writes++;
	else
		st.reads++;
	st.sum += latency_ns;
	if (latency_ns > st.max)
		st.max = latency_ns;
	st.histogram[step_of(latency_ns)]++;
}

void stats_end(struct load *l)
{
	if (!l->is_measuring)
		return;
	l->is_measuring = false;
	st.end_ns = now_ns();
	st.target_cpu = target_seconds(&l->opt) - st.target_cpu;
	st.own_cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - st.own_cpu;
	st.rx_calls = l->rx_calls - st.rx_calls;
	st.tx_calls = l->tx_calls - st.tx_calls;
}

static double per(double what, double by)
{
	return by > 0 ? what / by : 0;
}

void stats_print(const struct load *l)
{
	double secs = (double)(st.end_ns - st.begin_ns) / NS_PER_SEC;
	double ios = (double)(st.reads + st.writes);

	printf("{\"iops\":%.1f,\"mbps\":%.2f,\"reads\":%llu,\"writes\":%llu,\"seconds\":%.4f",
	       per(ios, secs), per(ios * l->opt.io_size / 1e6, secs), (unsigned long long)st.reads,
	       (unsigned long long)st.writes, secs);
	printf(",\"mean_us\":%.2f,\"p50_us\":%.2f,\"p99_us\":%.2f,\"p999_us\":%.2f,\"max_us\":%.2f",
	       per((double)st.sum / 1000, ios), percentile_us(.5), percentile_us(.99),
	       percentile_us(.999), (double)st.max / 1000);
	printf(",\"target_cores\":%.5f,\"target_us_per_io\":%.4f,\"client_cores\":%.4f"
	       ",\"client_us_per_io\":%.4f",
	       per(st.target_cpu, secs), per(st.target_cpu * 1e6, ios), per(st.own_cpu, secs),
	       per(st.own_cpu * 1e6, ios));
	printf(",\"ios_per_receive\":%.2f,\"ios_per_send\":%.2f,\"errors\":%llu,\"busy\":%llu"
	       ",\"mismatches\":%llu,\"sessions\":%u,\"block_size\":%u,\"capacity\":%llu}\n",
	       per(ios, (double)st.rx_calls), per(ios, (double)st.tx_calls),
	       (unsigned long long)l->errors, (unsigned long long)l->busy,
	       (unsigned long long)l->mismatches, l->opt.sessions, l->block_size,
	       (unsigned long long)l->capacity);
}
