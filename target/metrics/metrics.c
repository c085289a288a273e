// SPDX-License-Identifier: BSD-2-Clause
// The whole document.
#include "target/metrics/metrics.h"

#include <stdlib.h>

static const struct family build = {
	"farblock_build",
	"info",
	NULL,
	"Version of farblockd.",
};

static void metrics_build(FILE *out, const struct snapshot *s)
{
	const struct label labels[] = {
		{"version", FARBLOCK_VERSION },
		{ 0	    },
	};
	metric_family(out, &build);
	metric_info(out, &build, labels);
}

char *metrics_text(const struct snapshot *s, size_t *ret_len)
{
	static void (*const parts[])(FILE *, const struct snapshot *) = {
		metrics_build,	  metrics_disks,  metrics_luns,
		metrics_sessions, metrics_logins, metrics_workers,
	};
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);
	if (!out)
		return NULL;
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		parts[i](out, s);
	metric_end(out);
	int failed = ferror(out);
	if (fclose(out) || failed) {
		free(text);
		return NULL;
	}
	return text;
}
