// SPDX-License-Identifier: BSD-2-Clause
// What farblock-initiator bench prints: lines of text, or one JSON object. Its --svg.
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "initiator/bench/svg.h"
#include "initiator/tool/bench.h"

static const struct {
	const char *name, *key;
	double share;
} percentiles[] = {
	{"50",	"p50_us",	  0.5   },
	       { "90",    "p90_us",	 0.9   },
	 { "99",	 "p99_us",	   0.99	},
	{ "99.9",  "p99_9_us",  0.999 },
	       { "99.99", "p99_99_us", 0.9999},
};
#define PERCENTILES (sizeof percentiles / sizeof *percentiles)

static uint64_t count_of(const struct bench *b)
{
	return b->reads.count + b->writes.count;
}

static double cpu_us(const struct bench *b)
{
	uint64_t n = count_of(b);
	return n ? (double)b->cpu_ns / 1e3 / (double)n : 0;
}

static double iops_per_core(const struct bench *b)
{
	return b->cpu_ns ? (double)count_of(b) * 1e9 / (double)b->cpu_ns : 0;
}

static double mb_per_s(const struct bench *b, double iops)
{
	return iops * b->bytes / 1e6;
}

// Of all commands.
static void all_of(const struct bench *b, struct histogram *ret)
{
	*ret = b->reads;
	histogram_merge(ret, &b->writes);
}

// --- live ---

void bench_show_second(const struct bench *b, const struct load_second *s, unsigned at,
		       bool is_line)
{
	double iops = (double)(s->reads + s->writes);
	tool_progress_note("%.0f IOPS  %.1f MB/s  p99 %.1f us", iops, mb_per_s(b, iops), s->p99_us);
	if (is_line)
		tool_say("%4u s  %8.0f IOPS  %8.1f MB/s  p99 %.1f us", at, iops, mb_per_s(b, iops),
			 s->p99_us);
}

// --- text ---

static void print_direction(const char *name, const struct bench *b, const struct histogram *h)
{
	if (!h->count)
		return;
	double iops = b->time_s > 0 ? (double)h->count / b->time_s : 0;
	printf("%s: %.0f IOPS, %.1f MB/s; us: min %.1f, mean %.1f", name, iops, mb_per_s(b, iops),
	       (double)h->min_ns / 1e3, histogram_mean_us(h));
	for (unsigned i = 0; i < PERCENTILES; i++)
		printf(", %s %% %.1f", percentiles[i].name, histogram_us(h, percentiles[i].share));
	printf(", max %.1f\n", (double)h->max_ns / 1e3);
}

static void print_text(const struct bench *b)
{
	struct histogram all;
	char text[LIMIT_TEXT];
	all_of(b, &all);
	printf("%s bs %u depth %u", b->op->name, b->bytes, b->depth);
	if (b->session_count > 1)
		printf(" sessions %u", b->session_count);
	printf(": %.0f IOPS, %.1f MB/s, p50 %.1f us, p99 %.1f us\n", b->iops, mb_per_s(b, b->iops),
	       histogram_us(&all, 0.5), histogram_us(&all, 0.99));
	print_direction("reads", b, &b->reads);
	print_direction("writes", b, &b->writes);
	if (count_of(b))
		printf("CPU of this program: %.2f us a command, %.0f IOPS a core\n", cpu_us(b),
		       iops_per_core(b));
	if (b->unsent)
		printf("rate: %lu commands of %lu a second were due and not sent (use a greater "
		       "depth, or a lower rate)\n",
		       (unsigned long)b->unsent, (unsigned long)b->rate);
	if (b->limit.link.bytes > 0)
		printf("link: %s, at most %.0f MB/s in each direction\n", b->limit.link.name,
		       b->limit.link.bytes / 1e6);
	if (!b->failed && !tool_interrupted() && b->session_count == 1 && !b->rate)
		printf("limit: %s\n", limit_text(&b->limit, text));
}

// --- JSON; all texts in it are from tables, or names of interfaces ---

static void json_direction(const char *name, const struct bench *b, const struct histogram *h)
{
	double iops = b->time_s > 0 ? (double)h->count / b->time_s : 0;
	printf("\"%s\": { \"count\": %lu, \"iops\": %.1f, \"MB_per_s\": %.1f, \"min_us\": %.1f, "
	       "\"mean_us\": %.1f, ",
	       name, (unsigned long)h->count, iops, mb_per_s(b, iops), (double)h->min_ns / 1e3,
	       histogram_mean_us(h));
	for (unsigned i = 0; i < PERCENTILES; i++)
		printf("\"%s\": %.1f, ", percentiles[i].key, histogram_us(h, percentiles[i].share));
	printf("\"max_us\": %.1f }, ", (double)h->max_ns / 1e3);
}

static void json_seconds(const struct bench *b)
{
	printf("\"per_second\": [");
	for (unsigned i = 0; i < b->second_count; i++) {
		const struct load_second *s = &b->seconds[i];
		printf("%s{ \"second\": %u, \"reads\": %lu, \"writes\": %lu, \"MB_per_s\": %.1f, "
		       "\"p99_us\": %.1f }",
		       i ? ", " : " ", i + 1, (unsigned long)s->reads, (unsigned long)s->writes,
		       mb_per_s(b, (double)(s->reads + s->writes)), s->p99_us);
	}
	printf(" ], ");
}

// The limit and the figures it was decided from, as the last members of an object.
static void json_limit(const struct limit_figures *f)
{
	printf("\"limit\": \"%s\", \"limit_figures\": { \"busy\": %.2f, \"waited\": %.2f, "
	       "\"iops_without_disk\": %.0f, \"bare_iops\": %.0f, \"data_iops\": %.0f, "
	       "\"data_bytes\": %.0f, \"interface\": \"%s\", \"link_MB_per_s\": %.0f } }\n",
	       limit_name(limit_of(f)), f->busy, f->waited, limit_without_disk(f), f->bare_rate,
	       f->data_rate, f->data_bytes, f->link.name, f->link.bytes / 1e6);
}

static void print_json(const struct tool *t, const struct bench *b)
{
	struct histogram all;
	all_of(b, &all);
	printf("{ \"op\": \"%s\", \"mix\": %u, \"bs\": %u, \"depth\": %u, \"sessions\": %u, "
	       "\"rate\": %lu, \"time\": %lu, \"offset\": %lu, \"length\": %lu, "
	       "\"seconds\": %.3f, \"iops\": %.1f, \"MB_per_s\": %.1f, \"p50_us\": %.1f, "
	       "\"p99_us\": %.1f, \"errors\": %lu, \"unsent\": %lu, \"interrupted\": %s, "
	       "\"cpu_us_per_io\": %.3f, \"iops_per_core\": %.0f, ",
	       b->op->name, b->mix, b->bytes, b->depth, b->session_count, (unsigned long)b->rate,
	       (unsigned long)(t->o.seconds == TOOL_UNSET ? 5 : t->o.seconds),
	       (unsigned long)b->first, (unsigned long)(b->slots * b->bytes), b->time_s, b->iops,
	       mb_per_s(b, b->iops), histogram_us(&all, 0.5), histogram_us(&all, 0.99),
	       (unsigned long)b->failed, (unsigned long)b->unsent,
	       tool_interrupted() ? "true" : "false", cpu_us(b), iops_per_core(b));
	json_direction("reads", b, &b->reads);
	json_direction("writes", b, &b->writes);
	json_seconds(b);
	json_limit(&b->limit);
}

void bench_print(const struct tool *t, const struct bench *b)
{
	if (t->o.is_json)
		print_json(t, b);
	else
		print_text(b);
}

// --- the picture ---

int bench_check_svg(const char *path, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return err_errno(e, -errno, "--svg %.200s: create", path);
	close(fd);
	return 0;
}

int bench_draw(const struct tool *t, const struct bench *b, struct err *e)
{
	char title[160];
	struct svg_run run = { .title = title,
			       .bytes = b->bytes,
			       .seconds = b->seconds,
			       .second_count = b->second_count,
			       .reads = &b->reads,
			       .writes = &b->writes };
	snprintf(title, sizeof title, "%s, %u bytes, depth %u, %u session%s: %.0f IOPS, %.1f MB/s",
		 b->op->name, b->bytes, b->depth, b->session_count,
		 b->session_count == 1 ? "" : "s", b->iops, mb_per_s(b, b->iops));
	FILE *f = fopen(t->o.svg, "we");
	if (!f)
		return err_errno(e, -errno, "--svg %.200s: create", t->o.svg);
	svg_write(f, &run);
	bool is_bad = fflush(f) || ferror(f);
	int code = errno;
	fclose(f);
	return is_bad ? err_errno(e, -(code ? code : EIO), "--svg %.200s: write", t->o.svg) : 0;
}
