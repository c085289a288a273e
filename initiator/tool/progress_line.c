// SPDX-License-Identifier: BSD-2-Clause
// See progress_line.h.
#include "initiator/tool/progress_line.h"

#include <stdio.h>
#include <string.h>

#include "core/attr.h"

#define STALLED_SECONDS 5

enum { BAR_LEAST = 8, BAR_MOST = 40, FIELD = 96 };

// In the order of a line. Those that are left out first have the lowest rank.
enum { PERCENT, AMOUNT, RATE, LEFT, FIELDS };
static const unsigned char rank[FIELDS] = { [AMOUNT] = 0, [PERCENT] = 1, [RATE] = 2, [LEFT] = 3 };

static void time_text(char *ret, double seconds)
{
	unsigned long s = seconds < 3.6e8 ? (unsigned long)(seconds + 0.5) : 360000000ul;
	if (s >= 3600)
		snprintf(ret, FIELD, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
	else
		snprintf(ret, FIELD, "%lu:%02lu", s / 60, s % 60);
}

static void amount(const struct progress_state *s, char *ret)
{
	char done[32], total[32];
	if (s->is_time && s->total)
		snprintf(ret, FIELD, "%.0f of %.0f s", (double)s->done / 1e9,
			 (double)s->total / 1e9);
	if (s->is_time)
		return;
	format_size(s->done, done);
	format_size(s->total, total);
	if (s->total)
		snprintf(ret, FIELD, "%s of %s", done, total);
	else
		snprintf(ret, FIELD, "%s", done);
}

static void rate(const struct progress_state *s, char *ret)
{
	if (*s->note)
		snprintf(ret, FIELD, "%s", s->note);
	else if (!s->is_time)
		snprintf(ret, FIELD, "%.1f MB/s", s->rate / 1e6);
}

static void left(const struct progress_state *s, char *ret)
{
	char text[FIELD];
	double rate = s->is_time ? 1e9 : s->rate;
	if (!s->is_time && s->stalled >= STALLED_SECONDS) {
		time_text(text, s->stalled);
		snprintf(ret, FIELD, "stalled for %.40s", text);
	} else if (!s->total) {
		time_text(ret, s->seconds);
	} else if (rate > 0) {
		time_text(text, (double)(s->total - s->done) / rate);
		snprintf(ret, FIELD, "%.40s left", text);
	}
}

static void fields(const struct progress_state *s, char ret[FIELDS][FIELD])
{
	memset(ret, 0, FIELDS * sizeof *ret);
	if (s->total)
		snprintf(ret[PERCENT], FIELD, "%3u%%",
			 (unsigned)(100.0 * (double)s->done / (double)s->total));
	amount(s, ret[AMOUNT]);
	rate(s, ret[RATE]);
	left(s, ret[LEFT]);
}

static size_t width(const char *what, char f[FIELDS][FIELD])
{
	size_t n = strlen(what);
	for (unsigned i = 0; i < FIELDS; i++)
		n += f[i][0] ? 2 + strlen(f[i]) : 0;
	return n;
}

static void leave_out(const char *what, char f[FIELDS][FIELD], size_t room)
{
	for (unsigned r = 0; r < FIELDS; r++)
		for (unsigned i = 0; i < FIELDS && width(what, f) > room; i++)
			if (rank[i] == r)
				f[i][0] = 0;
}

static void bar(const struct progress_state *s, size_t room, char *ret)
{
	size_t n = room < BAR_MOST + 3 ? room - 3 : BAR_MOST; // a blank and brackets
	n = n < 10 ? n : n / 10 * 10; // the same while figures change their width
	size_t full = (size_t)((double)n * (double)s->done / (double)s->total);
	*ret++ = ' ';
	*ret++ = '[';
	memset(ret, '-', n);
	memset(ret, '#', full < n ? full : n);
	ret[n] = ']';
	ret[n + 1] = 0;
}

void progress_line(const struct progress_state *s, unsigned columns, char ret[PROGRESS_LINE_MAX])
{
	char f[FIELDS][FIELD], b[BAR_MOST + 4] = "";
	// The last column stays free: a terminal may wrap after it.
	size_t room = columns && columns < PROGRESS_LINE_MAX ? columns - 1 : PROGRESS_LINE_MAX - 1;
	fields(s, f);
	leave_out(s->what, f, room);
	size_t used = width(s->what, f), at;
	if (columns && s->total && used + BAR_LEAST + 3 <= room)
		bar(s, room - used, b);
	at = (size_t)snprintf(ret, PROGRESS_LINE_MAX, "%.64s%s%s", s->what, b, columns ? "" : ":");
	for (unsigned i = 0; i < FIELDS; i++)
		if (f[i][0])
			at += (size_t)snprintf(ret + at, PROGRESS_LINE_MAX - at, "%s%s",
					       columns || at > strlen(s->what) + 1 ? "  " : " ",
					       f[i]);
	if (at > room)
		ret[room] = 0;
}
