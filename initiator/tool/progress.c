// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator: progress on standard error: a bar on a terminal, else, with --progress, a
// line every few seconds. A thread of its own draws, so that a bar whose transfer stands says so.
// Messages of other threads go through here while a bar is shown. ASCII alone: any locale.
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/attr.h"
#include "core/worker.h"
#include "initiator/tool/progress_line.h"
#include "initiator/tool/tool.h"

#define FIRST_NS   500000000ull	  // what ends sooner has no bar
#define BAR_NS	   200000000ull	  // between two updates of the bar
#define LINE_NS	   10000000000ull // between two lines
#define CLEAR_LINE "\r\033[K"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended;
static struct {
	struct progress_state s; // s.what NULL: nothing runs
	uint32_t block_size;
	uint64_t begin_ns, told_ns, grown_ns, rated_ns, rated_done;
	bool is_terminal, is_told, has_bar;
	bool has_thread;
	pthread_t thread;
} now;

static unsigned columns(void)
{
	struct winsize w = { 0 };
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) < 0 || !w.ws_col ? 80 : w.ws_col;
}

static void clear(void)
{
	if (now.has_bar)
		fputs(CLEAR_LINE, stderr);
	now.has_bar = false;
}

// The mean of the last seconds: an older one weighs less.
static void update_rate(uint64_t ns)
{
	double seconds = (double)(ns - now.rated_ns) / 1e9;
	if (seconds < 0.1)
		return;
	double rate = (double)(now.s.done - now.rated_done) / seconds;
	bool is_first = now.rated_ns == now.begin_ns;
	now.s.rate += (rate - now.s.rate) * (is_first ? 1 : seconds / (seconds + 3));
	now.rated_ns = ns;
	now.rated_done = now.s.done;
}

static void show(uint64_t ns)
{
	char text[PROGRESS_LINE_MAX];
	update_rate(ns);
	now.s.seconds = (double)(ns - now.begin_ns) / 1e9;
	now.s.stalled = (double)(ns - now.grown_ns) / 1e9;
	progress_line(&now.s, now.is_terminal ? columns() : 0, text);
	fprintf(stderr, now.is_terminal ? CLEAR_LINE "%s" : "%s\n", text);
	now.has_bar = now.is_terminal;
	now.told_ns = ns;
}

// With the rate of the whole.
static void show_last(uint64_t ns)
{
	now.rated_ns = now.grown_ns = ns;
	now.s.rate =
		ns > now.begin_ns ? (double)now.s.done / ((double)(ns - now.begin_ns) / 1e9) : 0;
	show(ns);
}

static void show_if_due(void)
{
	uint64_t ns = now.is_told ? clock_ns() : 0;
	uint64_t each = now.is_terminal ? BAR_NS : LINE_NS;
	if (now.is_terminal && now.told_ns == now.begin_ns)
		each = FIRST_NS;
	if (now.is_told && ns - now.told_ns >= each)
		show(ns);
}

static void *draw(void *ignored)
{
	pthread_mutex_lock(&lock);
	while (now.s.what) {
		struct timespec t;
		clock_gettime(CLOCK_MONOTONIC, &t);
		t.tv_nsec += (long)BAR_NS;
		if (t.tv_nsec >= 1000000000l) {
			t.tv_sec++;
			t.tv_nsec -= 1000000000l;
		}
		pthread_cond_timedwait(&ended, &lock, &t);
		if (now.s.what)
			show_if_due();
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void init(void)
{
	pthread_condattr_t a;
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&ended, &a);
	pthread_condattr_destroy(&a);
}

static void begin(const struct tool *t, const struct progress_state *s, uint32_t block_size)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, init);
	pthread_mutex_lock(&lock);
	now.s = *s;
	now.block_size = block_size;
	now.begin_ns = now.told_ns = now.grown_ns = now.rated_ns = clock_ns();
	now.rated_done = 0;
	now.is_terminal = isatty(STDERR_FILENO);
	now.is_told = now.is_terminal || (t->o.shows_progress && !s->is_time);
	// Without it a bar is drawn by tool_progress() alone.
	now.has_thread = now.is_terminal && !pthread_create(&now.thread, NULL, draw, NULL);
	pthread_mutex_unlock(&lock);
}

void tool_progress_begin(const struct tool *t, const char *what, uint64_t total,
			 uint32_t block_size)
{
	const struct progress_state s = { .what = what, .total = total };
	begin(t, &s, block_size);
}

void tool_progress_begin_time(const struct tool *t, const char *what, uint64_t total_ns)
{
	const struct progress_state s = { .what = what, .total = total_ns, .is_time = true };
	begin(t, &s, 0);
}

void tool_progress(uint64_t done)
{
	pthread_mutex_lock(&lock);
	uint64_t before = now.s.done;
	now.s.done = now.s.total && done > now.s.total ? now.s.total : done;
	if (now.s.done != before)
		now.grown_ns = now.is_told ? clock_ns() : 0;
	show_if_due();
	pthread_mutex_unlock(&lock);
}

void tool_progress_note(const char *fmt, ...)
{
	va_list ap;
	pthread_mutex_lock(&lock);
	va_start(ap, fmt);
	vsnprintf(now.s.note, sizeof now.s.note, fmt, ap);
	va_end(ap);
	pthread_mutex_unlock(&lock);
}

static void say_interrupted(void)
{
	unsigned long done = now.s.done, total = now.s.total;
	fprintf(stderr, "farblock-initiator: %s: interrupted after ", now.s.what);
	if (now.s.is_time)
		fprintf(stderr, "%.1f of %.1f s\n", (double)done / 1e9, (double)total / 1e9);
	else if (total)
		fprintf(stderr, "%lu of %lu bytes (%lu blocks of %u bytes)\n", done, total,
			done / now.block_size, now.block_size);
	else
		fprintf(stderr, "%lu bytes (%lu blocks of %u bytes)\n", done, done / now.block_size,
			now.block_size);
}

void tool_progress_end(void)
{
	tool_interrupt_over();
	pthread_mutex_lock(&lock);
	if (now.is_told && !now.is_terminal)
		show_last(clock_ns());
	clear();
	if (tool_interrupted())
		say_interrupted();
	bool has_thread = now.has_thread;
	now.s.what = NULL;
	now.is_told = now.has_thread = false;
	pthread_cond_signal(&ended);
	pthread_mutex_unlock(&lock);
	if (has_thread)
		pthread_join(now.thread, NULL);
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
