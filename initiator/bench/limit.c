// SPDX-License-Identifier: BSD-2-Clause
// See limit.h. An ordered list of rules: the first one that holds decides.
#include "initiator/bench/limit.h"

#include <stdint.h>
#include <stdio.h>

// Ethernet, IP, TCP and iSCSI headers take 6 to 10 % of a link at 4 KiB commands and the usual
// MTU, and a measured second begins and ends with a pause.
#define LINK_FULL 0.85
// The clock of a thread's CPU time and the pauses at both ends of a run hide some per cent.
#define THREAD_FULL 0.9
#define WAIT_SHOWN  0.05
// A burst of a few 100 ms varies by up to a third on a busy machine. At a factor of 2 more than
// half of a command's time is unexplained by all that was measured without the disk.
#define FAR 2

// Of data, for a single CPU that copies it, at either end: bytes a second.
#define COPY_RATE 4e9

static double larger(double a, double b)
{
	return a > b ? a : b;
}

double limit_without_disk(const struct limit_figures *f)
{
	if (f->bare_rate <= 0 || f->data_rate <= 0 || f->data_bytes <= 0 || f->rate <= 0)
		return 0;
	// What a byte costs is the difference of two bursts. The data of the second one is short,
	// and the target composes it, so that this is rather more than the cost in a long transfer.
	// As bursts vary, it is not below what is plausible.
	double byte_s = (1 / f->data_rate - 1 / f->bare_rate) / f->data_bytes;
	byte_s = larger(byte_s, 1 / COPY_RATE);
	if (f->link.bytes > 0)
		byte_s = larger(byte_s, 1 / f->link.bytes);
	double command_s = f->trips / f->bare_rate + byte_s * f->bytes;
	// This program's own work for a command of the run remains, and its waits for a CPU.
	return 1 / larger(command_s, (f->busy + f->waited) / f->rate);
}

// --- the rules ---

static bool was_interrupted(const struct limit_figures *f)
{
	return f->was_interrupted || f->rate <= 0;
}

static bool link_is_full(const struct limit_figures *f)
{
	return f->link.bytes > 0 && f->rate * f->bytes >= LINK_FULL * f->link.bytes;
}

static bool thread_is_busy(const struct limit_figures *f)
{
	return f->busy + f->waited >= THREAD_FULL;
}

static bool has_no_burst(const struct limit_figures *f)
{
	return f->bare_rate <= 0;
}

static bool waits_for_each(const struct limit_figures *f)
{
	return f->depth == 1;
}

static bool disk_is_slow(const struct limit_figures *f)
{
	return limit_without_disk(f) >= FAR * f->rate;
}

// Not even commands without data are much faster.
static bool all_is_slow(const struct limit_figures *f)
{
	return f->bare_rate < FAR * f->rate;
}

static bool is_any(const struct limit_figures *f)
{
	return true;
}

// --- their texts ---

// "152,000": three digits of a figure that is not more exact.
static const char *count_text(double v, char ret[32])
{
	uint64_t count = v < 1e15 ? (uint64_t)(v + 0.5) : 1000000000000000, unit = 1;
	char digits[24];
	while (count / unit >= 1000)
		unit *= 10;
	count = (count + unit / 2) / unit * unit;
	int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count), at = 0;
	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			ret[at++] = ',';
		ret[at++] = digits[i];
	}
	ret[at] = 0;
	return ret;
}

static void say_interrupted(const struct limit_figures *f, char *ret, size_t size)
{
	snprintf(ret, size, "unknown; the session was interrupted");
}

static void say_network(const struct limit_figures *f, char *ret, size_t size)
{
	snprintf(ret, size, "the network; %s runs at %.2f Gb/s and carried %.2f Gb/s of data",
		 f->link.name, f->link.bytes * 8 / 1e9, f->rate * f->bytes * 8 / 1e9);
}

static void say_cpu(const struct limit_figures *f, char *ret, size_t size)
{
	char wait[60] = "";
	if (f->waited >= WAIT_SHOWN)
		snprintf(wait, sizeof wait, ", and waited %.0f %% for a CPU that others used",
			 f->waited * 100);
	snprintf(ret, size, "this program's CPU (its thread was busy %.0f %% of the time%s)",
		 f->busy * 100, wait);
}

static void say_no_burst(const struct limit_figures *f, char *ret, size_t size)
{
	snprintf(ret, size, "unknown; TEST UNIT READY failed after the run");
}

static void say_latency(const struct limit_figures *f, char *ret, size_t size)
{
	double all = 1e6 / f->rate, bare = 1e6 / f->bare_rate;
	char text[2][32];
	snprintf(ret, size,
		 "the latency; one command at a time takes %s us, without disk and data %s us "
		 "(use a greater depth)",
		 count_text(all, text[0]), count_text(bare < all ? bare : all, text[1]));
}

static void say_disk(const struct limit_figures *f, char *ret, size_t size)
{
	char text[32];
	snprintf(ret, size, "the disk; commands that do not use it would reach about %s/s",
		 count_text(limit_without_disk(f), text));
}

static void say_target(const struct limit_figures *f, char *ret, size_t size)
{
	char text[32];
	snprintf(ret, size,
		 "%s; commands that use neither disk nor data are not much faster (%s/s)",
		 f->link.is_loopback ? "the target's CPU" : "the target's CPU or the network",
		 count_text(f->bare_rate, text));
}

static void say_unclear(const struct limit_figures *f, char *ret, size_t size)
{
	char text[32];
	snprintf(ret, size, "%s; commands that use neither disk nor data reach %s/s",
		 f->link.is_loopback ? "the disk or the target's CPU"
				     : "the disk, the target's CPU or the network",
		 count_text(f->bare_rate, text));
}

// --- the decision ---

// clang-format off
static const struct rule {
	bool (*holds)(const struct limit_figures *f);
	enum limit limit;
	void (*say)(const struct limit_figures *f, char *ret, size_t size);
} rules[] = {
	{ was_interrupted, LIMIT_UNKNOWN,	 say_interrupted },
	{ link_is_full,	   LIMIT_NETWORK,	 say_network },
	{ thread_is_busy,  LIMIT_CPU,		 say_cpu },
	{ has_no_burst,	   LIMIT_UNKNOWN,	 say_no_burst },
	{ waits_for_each,  LIMIT_LATENCY,	 say_latency },
	{ disk_is_slow,	   LIMIT_DISK,		 say_disk },
	{ all_is_slow,	   LIMIT_TARGET,	 say_target },
	{ is_any,	   LIMIT_DISK_OR_TARGET, say_unclear },
};
// clang-format on

static const struct rule *rule_of(const struct limit_figures *f)
{
	const struct rule *r = rules;
	while (!r->holds(f))
		r++;
	return r;
}

enum limit limit_of(const struct limit_figures *f)
{
	return rule_of(f)->limit;
}

const char *limit_text(const struct limit_figures *f, char ret[LIMIT_TEXT])
{
	rule_of(f)->say(f, ret, LIMIT_TEXT);
	return ret;
}

const char *limit_name(enum limit l)
{
	static const char *const names[] = {
		[LIMIT_UNKNOWN] = "unknown",
		[LIMIT_NETWORK] = "network",
		[LIMIT_CPU] = "cpu",
		[LIMIT_LATENCY] = "latency",
		[LIMIT_DISK] = "disk",
		[LIMIT_TARGET] = "target",
		[LIMIT_DISK_OR_TARGET] = "disk-or-target",
	};
	return names[l];
}
