// SPDX-License-Identifier: BSD-2-Clause
// Log lines to stderr, with journald's priority prefix where journald reads it.
#include "core/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum log_level log_threshold = LOG_LVL_INFO;

static const struct {
	const char *word;
	int syslog;
} levels[LOG_LVL_MAX] = {
	[LOG_LVL_ERROR] = {"error",  3},
	[LOG_LVL_WARN] = { "warn",  4},
	[LOG_LVL_INFO] = { "info",  6},
	[LOG_LVL_DEBUG] = { "debug", 7},
};

static const char *log_program = "farblock";
static bool log_journal;
static void (*sink)(void *arg, enum log_level level, const char *line);
static void *sink_arg;

void log_init(const char *program)
{
	log_program = program;
	log_journal = getenv("JOURNAL_STREAM") != NULL;
}

bool log_parse_level(const char *word, enum log_level *ret)
{
	for (int i = 0; i < LOG_LVL_MAX; i++) {
		if (!strcmp(word, levels[i].word)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

void log_set_sink(void (*fn)(void *arg, enum log_level level, const char *line), void *arg)
{
	sink = fn;
	sink_arg = arg;
}

static size_t log_header(char *out, size_t size, enum log_level level)
{
	if (log_journal)
		return snprintf(out, size, "<%d>", levels[level].syslog);
	struct timespec now;
	struct tm tm;
	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	size_t n = strftime(out, size, "%H:%M:%S", &tm);
	return n + snprintf(out + n, size - n, ".%03ld %s %s: ", now.tv_nsec / 1000000, log_program,
			    levels[level].word);
}

void log_line(enum log_level level, const char *fmt, ...)
{
	if (level > log_threshold)
		return;
	char line[1024];
	size_t n = sink ? 0 : log_header(line, sizeof line - 1, level);
	va_list ap;
	va_start(ap, fmt);
	int m = vsnprintf(line + n, sizeof line - 1 - n, fmt, ap);
	va_end(ap);
	n = m < 0 ? n : n + m;
	if (n > sizeof line - 2)
		n = sizeof line - 2;
	// Names come from the network: a control character must not forge a second line.
	for (char *p = line; p < line + n; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	line[n] = 0;
	if (sink) {
		sink(sink_arg, level, line);
		return;
	}
	line[n] = '\n';
	if (write(STDERR_FILENO, line, n + 1) < 0)
		return; // stderr is broken too
}
