// SPDX-License-Identifier: BSD-2-Clause
// The content of top: totals, workers, long operations, sessions, disks. See top.h.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/shell/client.h"
#include "cli/top/rates.h"
#include "cli/top/top.h"

const char *const top_sort_names[TOP_SORTS] = { "IOPS", "read", "written", "latency", "name" };

// A session or a disk.
struct line {
	char name[260], target[260], over[24], depth[24], sid[24];
	struct rate rate;
};

struct lines {
	struct line *list;
	size_t count;
};

// ---- from readings to lines ----

// Names from peers must not control the terminal.
static void take_text(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%s", text);
	for (unsigned char *p = (unsigned char *)out; *p; p++)
		if (*p < 0x20 || *p > 0x7e)
			*p = '?';
}

static struct lines sessions_of(struct json_object *now, struct json_object *before)
{
	struct json_object *list = json_field(now, "sessions");
	size_t n = json_count(list);
	struct lines ret = { .list = calloc(n ? n : 1, sizeof *ret.list) };
	json_each (s, ret.list ? list : NULL) {
		struct line *l = &ret.list[ret.count++];
		take_text(l->sid, sizeof l->sid, text_field(s, "sid"));
		take_text(l->name, sizeof l->name, text_field(s, "initiator"));
		take_text(l->target, sizeof l->target, text_field(s, "target"));
		const char *over = text_field(s, "transport"), *below = text_field(s, "carrier");
		snprintf(l->over, sizeof l->over, "%s%s%s", over, strcmp(over, below) ? "/" : "",
			 strcmp(over, below) ? below : "");
		snprintf(l->depth, sizeof l->depth, "%s/%s", text_field(s, "commands_in_flight"),
			 text_field(s, "window"));
		struct json_object *old = rate_session(before, l->sid);
		l->rate = rate_of(s, old, old ? rate_seconds(now, before) : 0);
	}
	return ret;
}

// Commands in flight of a disk, of all sessions.
static int64_t disk_depth(struct json_object *now, const char *disk)
{
	int64_t sum = 0;
	json_each (s, json_field(now, "sessions"))
		json_each (lun, json_field(s, "luns"))
			if (!strcmp(text_field(lun, "storage_object"), disk))
				sum += number_field(lun, "commands_in_flight");
	return sum;
}

static const char *short_path(const char *path)
{
	return strncmp(path, "/backstores/", 12) ? path : path + 12;
}

static struct lines disks_of(struct json_object *now, struct json_object *before)
{
	struct json_object *all = json_field(now, "storage_objects");
	size_t n = all ? (size_t)json_object_object_length(all) : 0;
	struct lines ret = { .list = calloc(n ? n : 1, sizeof *ret.list) };
	if (!ret.list || !all)
		return ret;
	json_object_object_foreach(all, path, disk)
	{
		struct line *l = &ret.list[ret.count++];
		struct json_object *old = json_field(json_field(before, "storage_objects"), path);
		take_text(l->name, sizeof l->name, short_path(path));
		snprintf(l->depth, sizeof l->depth, "%lld",
			 (long long)disk_depth(now, short_path(path)));
		l->rate = rate_of(disk, old, old ? rate_seconds(now, before) : 0);
	}
	return ret;
}

static double key_of(const struct line *l, enum top_sort sort)
{
	return sort == TOP_BY_READ	? l->rate.read
	       : sort == TOP_BY_WRITTEN ? l->rate.written
	       : sort == TOP_BY_LATENCY ? l->rate.p99
	       : sort == TOP_BY_IOPS	? l->rate.iops
					: 0;
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct line *x = a, *y = b;
	double kx = key_of(x, *(enum top_sort *)arg), ky = key_of(y, *(enum top_sort *)arg);
	int by_name = strcmp(x->name, y->name);
	return kx < ky ? 1 : kx > ky ? -1 : by_name ? by_name : strcmp(x->sid, y->sid);
}

static void sort_lines(struct lines *l, enum top_sort sort)
{
	if (l->list)
		qsort_r(l->list, l->count, sizeof *l->list, compare, &sort);
}

// ---- lines to text ----

// Truncated in the middle: names differ at their ends.
static void fit(const char *text, unsigned width, char *out, size_t size)
{
	size_t len = strlen(text);
	if (len <= width || width < 8)
		snprintf(out, size, "%.*s", (int)width, text);
	else
		snprintf(out, size, "%.*s..%s", (int)((width - 2) / 2), text,
			 text + len - (width - 2 - (width - 2) / 2));
}

static void put(FILE *out, const struct top_look *l, const char *color, const char *text)
{
	if (l->has_color)
		fprintf(out, "\033[%sm%s\033[0m", color, text);
	else
		fputs(text, out);
}

static void put_rates(FILE *out, const struct line *l)
{
	struct rate_texts t = rate_texts(&l->rate);
	fprintf(out, " %8s %11s %11s %9s %9s %8s", t.iops, t.read, t.written, t.p50, t.p99,
		l->depth);
}

enum { RATES_WIDTH = 62, OVER_WIDTH = 12, SID_WIDTH = 5, NAME_MIN = 12 };

static void put_heads(FILE *out, const struct top_look *l, const char *left)
{
	char text[400];
	snprintf(text, sizeof text, "%s %8s %11s %11s %9s %9s %8s", left, "IOPS", "READ", "WRITTEN",
		 "P50", "P99", "DEPTH");
	put(out, l, "7", text);
	fputc('\n', out);
}

struct columns {
	unsigned name, target; // 0: no room for the target
};

static struct columns columns_of(const struct top_look *l)
{
	unsigned fixed = SID_WIDTH + 1 + OVER_WIDTH + 1 + RATES_WIDTH;
	unsigned rest = l->width > fixed + NAME_MIN ? l->width - fixed : NAME_MIN;
	if (rest < 2 * NAME_MIN + 10)
		return (struct columns){ rest, 0 };
	return (struct columns){ rest / 2, rest - rest / 2 - 1 };
}

static void put_sessions(FILE *out, const struct top_look *l, const struct lines *s, size_t most)
{
	struct columns c = columns_of(l);
	char left[300], name[260], target[260];
	snprintf(left, sizeof left, "%*s %-*s%s%-*s %-*s", SID_WIDTH, "SID", (int)c.name,
		 "INITIATOR", c.target ? " " : "", (int)c.target, c.target ? "TARGET" : "",
		 OVER_WIDTH, "OVER");
	put_heads(out, l, left);
	for (size_t i = 0; i < s->count && i < most; i++) {
		const struct line *line = &s->list[i];
		fit(line->name, c.name, name, sizeof name);
		fit(line->target, c.target, target, sizeof target);
		fprintf(out, "%*s %-*s%s%-*s %-*.*s", SID_WIDTH, line->sid, (int)c.name, name,
			c.target ? " " : "", (int)c.target, c.target ? target : "", OVER_WIDTH,
			OVER_WIDTH, line->over);
		put_rates(out, line);
		fputc('\n', out);
	}
	if (!s->count)
		fputs("      no sessions\n", out);
	else if (s->count > most)
		fprintf(out, "      ... and %zu more\n", s->count - most);
}

static void put_disks(FILE *out, const struct top_look *l, const struct lines *d, size_t most)
{
	unsigned width = l->width > RATES_WIDTH + NAME_MIN ? l->width - RATES_WIDTH : NAME_MIN;
	char left[300], name[260];
	snprintf(left, sizeof left, "%-*s", (int)(width < 290 ? width : 290), "DISK");
	put_heads(out, l, left);
	for (size_t i = 0; i < d->count && i < most; i++) {
		fit(d->list[i].name, width, name, sizeof name);
		fprintf(out, "%-*s", (int)width, name);
		put_rates(out, &d->list[i]);
		fputc('\n', out);
	}
	if (d->count > most)
		fprintf(out, "... and %zu more\n", d->count - most);
}

static double cpu_of(struct json_object *now, struct json_object *before, size_t i)
{
	struct json_object *a = json_object_array_get_idx(json_field(now, "workers"), i);
	struct json_object *old = json_field(before, "workers");
	struct json_object *b = old ? json_object_array_get_idx(old, i) : NULL;
	double seconds = rate_seconds(now, before);
	if (!b || seconds <= 0)
		return 0;
	return (double)(number_field(a, "cpu_us") - number_field(b, "cpu_us")) / seconds / 1e4;
}

static void put_workers(FILE *out, struct json_object *now, struct json_object *before)
{
	size_t n = json_count(json_field(now, "workers"));
	fputs("workers' CPU:", out);
	for (size_t i = 0; i < n && i < 16; i++)
		fprintf(out, " %3.0f%%", cpu_of(now, before, i));
	fprintf(out, "%s\n", n > 16 ? " ..." : "");
}

static void put_totals(FILE *out, const struct top_look *l, struct json_object *now,
		       const struct lines *sessions, const struct lines *disks)
{
	char clock[16] = "";
	time_t t = (time_t)number_field(now, "time");
	struct rate sum = { 0 };
	struct tm tm;
	if (localtime_r(&t, &tm))
		strftime(clock, sizeof clock, "%H:%M:%S", &tm);
	for (size_t i = 0; i < disks->count; i++) {
		sum.iops += disks->list[i].rate.iops;
		sum.read += disks->list[i].rate.read;
		sum.written += disks->list[i].rate.written;
	}
	struct rate_texts text = rate_texts(&sum);
	put(out, l, "1", "farblock ");
	fprintf(out, "%s  %s  sessions: %zu  ", text_field(now, "version"), clock, sessions->count);
	put(out, l, "1", text.iops);
	fputs(" IOPS  ", out);
	put(out, l, "1", text.read);
	fputs(" read  ", out);
	put(out, l, "1", text.written);
	fprintf(out, " written%s\n", l->is_paused ? "  [paused]" : "");
}

// Returns the number of lines used.
static size_t put_progress(FILE *out, const struct top_look *l, struct json_object *now)
{
	enum { BAR = 30 };
	json_each (p, json_field(now, "progress")) {
		double percent = json_object_get_double(json_field(p, "percent"));
		int full = (int)(percent * BAR / 100);
		char bar[BAR + 1], name[120], text[300];
		memset(bar, '-', BAR);
		memset(bar, '#', (size_t)(full < 0 ? 0 : full > BAR ? BAR : full));
		bar[BAR] = 0;
		take_text(text, sizeof text, short_path(text_field(p, "storage_object")));
		fit(text, 40, name, sizeof name);
		fprintf(out, "%-9s %-40s [", text_field(p, "operation"), name);
		put(out, l, "33", bar);
		fprintf(out, "] %5.1f%%\n", percent);
	}
	return json_count(json_field(now, "progress"));
}

void top_draw(FILE *out, const struct top_look *l, struct json_object *now,
	      struct json_object *before)
{
	struct lines sessions = sessions_of(now, before), disks = disks_of(now, before);
	sort_lines(&sessions, l->sort);
	sort_lines(&disks, l->sort);
	put_totals(out, l, now, &sessions, &disks);
	put_workers(out, now, before);
	size_t used = put_progress(out, l, now) + 8, most_sessions = SIZE_MAX;
	size_t most_disks = SIZE_MAX;
	if (l->height) { // half of the room each, and the unused rest of the other
		size_t room = l->height > used + 2 ? l->height - used : 2, half = room / 2;
		most_disks = sessions.count < half ? room - sessions.count : half;
		most_sessions = disks.count < half ? room - disks.count : room - half;
	}
	fputc('\n', out);
	put_sessions(out, l, &sessions, most_sessions);
	fputc('\n', out);
	put_disks(out, l, &disks, most_disks);
	if (l->is_live) {
		fputc('\n', out);
		put(out, l, "2", "q quit  s sort (by ");
		put(out, l, "1", top_sort_names[l->sort]);
		put(out, l, "2", ")  p pause");
	}
	free(sessions.list);
	free(disks.list);
}

// ---- as JSON ----

static struct json_object *lines_json(const struct lines *l, bool are_sessions)
{
	struct json_object *list = json_object_new_array();
	for (size_t i = 0; i < l->count; i++) {
		const struct line *line = &l->list[i];
		struct json_object *o = json_object_new_object();
		if (are_sessions) {
			json_object_object_add(o, "sid", json_object_new_int64(atoll(line->sid)));
			json_object_object_add(o, "initiator", json_object_new_string(line->name));
			json_object_object_add(o, "target", json_object_new_string(line->target));
			json_object_object_add(o, "over", json_object_new_string(line->over));
		} else {
			json_object_object_add(o, "disk", json_object_new_string(line->name));
		}
		rate_put(o, &line->rate);
		json_object_object_add(o, "in_flight", json_object_new_int64(atoll(line->depth)));
		json_object_array_add(list, o);
	}
	return list;
}

struct json_object *top_json(struct json_object *now, struct json_object *before)
{
	struct lines sessions = sessions_of(now, before), disks = disks_of(now, before);
	struct json_object *o = json_object_new_object(), *cpu = json_object_new_array();
	json_object_object_add(o, "interval_s", json_object_new_double(rate_seconds(now, before)));
	json_object_object_add(o, "sessions", lines_json(&sessions, true));
	json_object_object_add(o, "disks", lines_json(&disks, false));
	for (size_t i = 0; i < json_count(json_field(now, "workers")); i++)
		json_object_array_add(cpu, json_object_new_double(cpu_of(now, before, i)));
	json_object_object_add(o, "workers_cpu_percent", cpu);
	json_object_object_add(o, "progress", json_object_get(json_field(now, "progress")));
	free(sessions.list);
	free(disks.list);
	return o;
}
