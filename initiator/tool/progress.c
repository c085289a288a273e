// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator: progress of a transfer on standard error: a bar on a terminal, else, with
// --progress, a line every few seconds. Messages of other threads go through here while a bar is
// shown.
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/attr.h"
#include "core/worker.h"
#include "initiator/tool/tool.h"

#define BAR_NS	   200000000ull	  // between two updates of the bar
#define LINE_NS	   10000000000ull // between two lines
#define BAR_MAX	   40
#define LINE_WIDTH 62 // of everything except the bar
#define CLEAR_LINE "\r\033[K"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	const char *what; // NULL: no transfer
	uint64_t total;	  // 0: unknown
	uint64_t done, begin_ns, told_ns;
	bool is_terminal, is_told, has_bar;
} now;

void tool_progress_begin(const struct tool *t, const char *what, uint64_t total)
{
	pthread_mutex_lock(&lock);
	now.what = what;
	now.total = total;
	now.done = 0;
	now.begin_ns = now.told_ns = clock_ns();
	now.is_terminal = isatty(STDERR_FILENO);
	now.is_told = now.is_terminal || t->o.shows_progress;
	pthread_mutex_unlock(&lock);
}

// "45%  1.4G of 3G  512.0 MB/s  0:03 left"
static void describe(char *ret, size_t size, uint64_t ns)
{
	char done[32], total[32];
	double seconds = (double)ns / 1e9, rate = seconds > 0 ? (double)now.done / seconds : 0;
	format_size(now.done, done);
	format_size(now.total, total);
	if (!now.total || rate <= 0) {
		snprintf(ret, size, "%s  %.1f MB/s", done, rate / 1e6);
		return;
	}
	uint64_t left = (uint64_t)((double)(now.total - now.done) / rate + 0.5);
	snprintf(ret, size, "%3u%%  %s of %s  %.1f MB/s  %lu:%02lu left",
		 (unsigned)(100.0 * (double)now.done / (double)now.total), done, total, rate / 1e6,
		 (unsigned long)left / 60, (unsigned long)left % 60);
}

static unsigned bar_width(void)
{
	struct winsize w = { 0 };
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) < 0 || !w.ws_col)
		w.ws_col = 80;
	unsigned room = w.ws_col > LINE_WIDTH ? w.ws_col - LINE_WIDTH : 0;
	return !now.total ? 0 : room < BAR_MAX ? room : BAR_MAX;
}

static void show(uint64_t ns)
{
	char text[160], bar[BAR_MAX + 4] = "";
	unsigned width = now.is_terminal ? bar_width() : 0;
	describe(text, sizeof text, ns - now.begin_ns);
	if (width) {
		unsigned full = (unsigned)((double)width * (double)now.done / (double)now.total);
		memset(bar, '-', width + 2);
		memset(bar + 1, '#', full);
		bar[0] = '[';
		bar[width + 1] = ']';
		bar[width + 2] = 0;
	}
	fprintf(stderr, now.is_terminal ? CLEAR_LINE "%s %s%s%s" : "%s: %s%s%s\n", now.what, bar,
		*bar ? " " : "", text);
	now.has_bar = now.is_terminal;
	now.told_ns = ns;
}

static void clear(void)
{
	if (now.has_bar)
		fputs(CLEAR_LINE, stderr);
	now.has_bar = false;
}

void tool_progress(uint64_t done)
{
	pthread_mutex_lock(&lock);
	now.done = now.total && done > now.total ? now.total : done;
	uint64_t ns = now.is_told ? clock_ns() : 0;
	if (now.is_told && ns - now.told_ns >= (now.is_terminal ? BAR_NS : LINE_NS))
		show(ns);
	pthread_mutex_unlock(&lock);
}

void tool_progress_end(void)
{
	pthread_mutex_lock(&lock);
	if (now.is_told && !now.is_terminal)
		show(clock_ns());
	clear();
	if (tool_interrupted() && now.total)
		fprintf(stderr, "farblock-initiator: %s: interrupted after %lu of %lu bytes\n",
			now.what, (unsigned long)now.done, (unsigned long)now.total);
	else if (tool_interrupted())
		fprintf(stderr, "farblock-initiator: %s: interrupted after %lu bytes\n", now.what,
			(unsigned long)now.done);
	now.what = NULL;
	now.is_told = false;
	pthread_mutex_unlock(&lock);
}

void tool_say(const char *fmt, ...)
{
	va_list ap;
	pthread_mutex_lock(&lock);
	clear();
	fputs("farblock-initiator: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	pthread_mutex_unlock(&lock);
}
