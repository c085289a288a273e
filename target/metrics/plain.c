// SPDX-License-Identifier: BSD-2-Clause
// Converts an OpenMetrics document to the text format of Prometheus (0.0.4), for clients that do
// not accept OpenMetrics: a family has the name of its samples, no UNIT line and no EOF marker.
#include <stdlib.h>
#include <string.h>

#include "target/metrics/text.h"

// The end of a sample's name, and the type there, of an OpenMetrics type.
static const struct {
	const char *type, *suffix, *plain;
} rows[] = {
	{"counter", "_total", "counter"},
	{ "info",	  "_info",  "gauge"  },
};

enum { OTHER = sizeof rows / sizeof rows[0] };

static unsigned row_of(const char *type, size_t len)
{
	unsigned i = 0;
	while (i < OTHER && (strlen(rows[i].type) != len || strncmp(rows[i].type, type, len)))
		i++;
	return i;
}

// "# TYPE name type" or "# HELP name text"; TYPE comes first and sets *row.
static void put_comment(FILE *out, const char *line, size_t len, unsigned *row)
{
	const char *name = line + 7, *end = memchr(name, ' ', len - 7);
	if (!end || !strncmp(line, "# UNIT ", 7))
		return;
	size_t rest = len - (size_t)(end + 1 - line);
	bool is_type = !strncmp(line, "# TYPE ", 7);
	if (is_type)
		*row = row_of(end + 1, rest);
	bool is_other = *row == OTHER;
	fprintf(out, "%.7s%.*s%s ", line, (int)(end - name), name,
		is_other ? "" : rows[*row].suffix);
	if (is_type && !is_other)
		fprintf(out, "%s\n", rows[*row].plain);
	else
		fprintf(out, "%.*s\n", (int)rest, end + 1);
}

char *metrics_plain(const char *text, size_t *ret_len)
{
	char *plain = NULL;
	unsigned row = OTHER;
	FILE *out = open_memstream(&plain, ret_len);
	if (!out)
		return NULL;
	for (size_t len; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		if (*text != '#')
			fprintf(out, "%.*s\n", (int)len, text);
		else if (len > 7)
			put_comment(out, text, len, &row);
	}
	int failed = ferror(out);
	if (fclose(out) || failed) {
		free(plain);
		return NULL;
	}
	return plain;
}
