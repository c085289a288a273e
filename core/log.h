// SPDX-License-Identifier: BSD-2-Clause
// Log lines: one line per event, beginning with the object it is about.
//
// Any thread may log. A line goes to stderr in one write; under systemd (JOURNAL_STREAM is
// set) it carries the "<N>" priority prefix that journald reads. Levels are runtime state.
#pragma once

#include <stdbool.h>

enum log_level { LOG_LVL_ERROR, LOG_LVL_WARN, LOG_LVL_INFO, LOG_LVL_DEBUG, LOG_LVL_MAX };

extern enum log_level log_threshold; // lines above it are dropped; default LOG_LVL_INFO

// Chooses the stderr format. Call once, before threads start.
void log_init(const char *program);

// "error", "warn", "info" or "debug"; returns false for any other word.
bool log_parse_level(const char *word, enum log_level *ret);

// Redirects lines, for tests. fn NULL restores stderr.
void log_set_sink(void (*fn)(void *arg, enum log_level level, const char *line), void *arg);

void log_line(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_line(LOG_LVL_ERROR, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_LVL_WARN, __VA_ARGS__)
#define log_info(...)  log_line(LOG_LVL_INFO, __VA_ARGS__)
#define log_debug(...)                                                                             \
	do {                                                                                       \
		if (log_threshold >= LOG_LVL_DEBUG)                                                \
			log_line(LOG_LVL_DEBUG, __VA_ARGS__);                                      \
	} while (0)
