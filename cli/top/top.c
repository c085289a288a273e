// SPDX-License-Identifier: BSD-2-Clause
// top: live sessions and disks in the terminal, or a number of text reports.
#include "cli/top/top.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli/shell/command.h"
#include "cli/top/rates.h"
#include "cli/top/wait.h"

#define INTERVAL_DEFAULT 1.0
#define INTERVAL_MIN	 0.1
#define INTERVAL_MAX	 3600.0

struct choice {
	long rounds; // 0: until q
	double interval;
};

// Two readings; each new one replaces the older.
struct readings {
	struct json_object *before, *now;
};

static int take(struct shell *s, struct readings *r, struct err *e)
{
	struct json_object *next;
	int code = shell_call(s, "status.get", NULL, &next, e);
	if (code < 0)
		return code;
	json_object_put(r->before);
	r->before = r->now;
	r->now = next;
	return 0;
}

static void readings_done(struct readings *r)
{
	json_object_put(r->before);
	json_object_put(r->now);
}

// ---- text reports ----

static int run_plain(struct shell *s, const struct choice *c, struct err *e)
{
	struct top_look l = { .width = s->look.width, .has_color = s->look.has_color };
	struct readings k = { 0 };
	int r = take(s, &k, e);
	for (long i = 0; !r && i < c->rounds; i++) {
		r = wait_seconds(c->interval, e);
		if (!r)
			r = take(s, &k, e);
		if (r < 0)
			break;
		if (s->is_json) {
			show_json_once(&s->look, top_json(k.now, k.before));
		} else {
			fputs(i ? "\n" : "", s->look.out);
			top_draw(s->look.out, &l, k.now, k.before);
		}
		fflush(s->look.out);
	}
	readings_done(&k);
	return r;
}

// ---- live ----

static volatile sig_atomic_t has_to_end;

static void on_end(int number)
{
	has_to_end = 1;
}

static void on_resize(int number)
{
}

struct screen {
	struct termios saved;
	struct sigaction resize, interrupt, term;
	sigset_t mask;
};

static void screen_begin(struct screen *sc)
{
	struct sigaction resize = { .sa_handler = on_resize }, end = { .sa_handler = on_end };
	struct termios raw;
	has_to_end = 0;
	tcgetattr(STDIN_FILENO, &sc->saved);
	raw = sc->saved;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
	sigaction(SIGWINCH, &resize, &sc->resize); // ends the wait: redraws the screen
	sigaction(SIGINT, &end, &sc->interrupt);
	sigaction(SIGTERM, &end, &sc->term);
	sigset_t ours; // a prompt has them blocked (cli/shell/interrupt.h)
	sigemptyset(&ours);
	sigaddset(&ours, SIGWINCH);
	sigaddset(&ours, SIGINT);
	sigprocmask(SIG_UNBLOCK, &ours, &sc->mask);
	fputs("\033[?1049h\033[?25l", stdout);
}

static void screen_end(const struct screen *sc)
{
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	sigprocmask(SIG_SETMASK, &sc->mask, NULL);
	sigaction(SIGTERM, &sc->term, NULL);
	sigaction(SIGINT, &sc->interrupt, NULL);
	sigaction(SIGWINCH, &sc->resize, NULL);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &sc->saved);
}

// Writes the screen at once; the terminal truncates each line.
static void draw(const struct readings *k, struct top_look *l)
{
	struct winsize w = terminal_size(stdout);
	char *text = NULL;
	size_t size;
	// The last column stays free: clearing the rest of a line would clear it too.
	l->width = w.ws_col > 240 ? 240 : w.ws_col - 1u;
	l->height = w.ws_row;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return;
	top_draw(out, l, k->now, k->before);
	fclose(out);
	fputs("\033[?7l\033[H", stdout); // no wrapping
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		fprintf(stdout, "%s\033[K%s", line, rest ? "\n" : "");
	fputs("\033[J\033[?7h", stdout);
	fflush(stdout);
	free(text);
}

enum key { KEY_NONE, KEY_DRAW, KEY_TIME, KEY_QUIT };

// Waits for a key, a resize, or the time.
static enum key wait_key(struct top_look *l, int ms)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	char c;
	int n = poll(&p, 1, ms);
	if (has_to_end)
		return KEY_QUIT;
	if (n < 0)
		return KEY_DRAW;
	if (!n)
		return KEY_TIME;
	if (read(STDIN_FILENO, &c, 1) != 1)
		return KEY_QUIT;
	if (c == 'q' || c == 'Q' || c == 4)
		return KEY_QUIT;
	if (c == 's')
		l->sort = (l->sort + 1) % TOP_SORTS;
	else if (c == 'p')
		l->is_paused = !l->is_paused;
	return KEY_DRAW;
}

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int run_live(struct shell *s, const struct choice *c, struct err *e)
{
	struct top_look l = { .has_color = s->look.has_color, .is_live = true };
	struct readings k = { 0 };
	struct screen sc;
	int r = take(s, &k, e);
	if (r < 0)
		return r;
	screen_begin(&sc);
	double next = now_s() + (c->interval < 0.3 ? c->interval : 0.3); // the first one soon
	for (enum key key = KEY_DRAW; !r && key != KEY_QUIT;) {
		double left = next - now_s();
		if (left <= 0) {
			next = now_s() + c->interval;
			r = l.is_paused ? 0 : take(s, &k, e);
			if (!r)
				draw(&k, &l);
			continue;
		}
		key = wait_key(&l, (int)(left * 1000) + 1);
		if (key == KEY_DRAW)
			draw(&k, &l);
	}
	screen_end(&sc);
	readings_done(&k);
	return r;
}

// ---- the command ----

static int parse_rounds(const char *text, struct choice *c, struct err *e)
{
	char *end;
	c->rounds = strtol(text, &end, 10);
	if (isdigit((unsigned char)*text) && !*end && c->rounds > 0)
		return 0;
	return err_set(e, -EINVAL, "invalid number of rounds: '%.20s'", text);
}

static int parse(const struct line *l, struct choice *c, struct err *e)
{
	const char *text = line_named(l, "interval"), *word;
	char *end;
	int r = 0;
	*c = (struct choice){ .interval = INTERVAL_DEFAULT };
	if (text) {
		c->interval = strtod(text, &end);
		if (end == text || *end ||
		    !(c->interval >= INTERVAL_MIN && c->interval <= INTERVAL_MAX))
			return err_set(e, -EINVAL,
				       "invalid interval: '%.20s' (0.1 to 3600 seconds)", text);
	}
	text = line_named(l, "n");
	if (text)
		r = parse_rounds(text, c, e);
	for (unsigned i = 0; !r && (word = line_positional(l, i)); i++) {
		if (!strcmp(word, "--once"))
			c->rounds = 1;
		else if (strcmp(word, "-n"))
			r = parse_rounds(word, c, e);
	}
	return r;
}

static int run(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	struct choice c;
	int r = parse(l, &c, e);
	if (r < 0)
		return r;
	bool is_live = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !s->is_json;
	if (!c.rounds && is_live)
		return run_live(s, &c, e);
	if (!c.rounds)
		c.rounds = 1;
	return run_plain(s, &c, e);
}

static const struct shell_param params[] = {
	{"n",							    "number", false, NULL,
	  "number of rounds to print (--once, -n 3); none: live display" },
	{ "interval",							 "number", false, "1", "seconds between two rounds" },
	{ 0},
};

const struct shell_command command_top = {
	"top", params,		"Show sessions and disks live (q quits, s sorts, p pauses).",
	run,   .is_open = true,
};
