// SPDX-License-Identifier: BSD-2-Clause
// The text format of OpenMetrics 1.0, see text.h.
#include "target/metrics/text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

// Bytes of the UTF-8 character at p (RFC 3629), 0 if it is malformed.
static unsigned utf8_len(const unsigned char *p)
{
	static const struct {
		unsigned char first, last, low, high; // of the first byte, of the second
		unsigned len;
	} rows[] = {
		{0x01,	0x7f, 0,	 0,    1},
		       { 0xc2, 0xdf, 0x80, 0xbf, 2},
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3},
		       { 0xe1, 0xec, 0x80, 0xbf, 3},
		{ 0xed, 0xed, 0x80, 0x9f, 3},
		       { 0xee, 0xef, 0x80, 0xbf, 3},
		{ 0xf0, 0xf0, 0x90, 0xbf, 4},
		       { 0xf1, 0xf3, 0x80, 0xbf, 4},
		{ 0xf4, 0xf4, 0x80, 0x8f, 4},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (*p < rows[i].first || *p > rows[i].last)
			continue;
		if (rows[i].len > 1 && (p[1] < rows[i].low || p[1] > rows[i].high))
			return 0;
		for (unsigned n = 2; n < rows[i].len; n++)
			if ((p[n] & 0xc0) != 0x80)
				return 0;
		return rows[i].len;
	}
	return 0;
}

static void put_value(FILE *out, const char *value)
{
	const unsigned char *p = (const unsigned char *)value;
	while (*p) {
		unsigned len = utf8_len(p);
		if (!len) {
			fputs("\xef\xbf\xbd", out); // REPLACEMENT CHARACTER
			p++;
			continue;
		}
		if (*p == '\n')
			fputs("\\n", out);
		else if (*p == '"' || *p == '\\')
			fprintf(out, "\\%c", *p);
		else
			fwrite(p, 1, len, out);
		p += len;
	}
}

// more: one label after the others, or NULL.
static void put_labels(FILE *out, const struct label *labels, const struct label *more)
{
	bool is_first = true;
	for (const struct label *l = labels; l && l->name; l++) {
		fprintf(out, "%c%s=\"", is_first ? '{' : ',', l->name);
		put_value(out, l->value);
		fputc('"', out);
		is_first = false;
	}
	if (more)
		fprintf(out, "%c%s=\"%s\"", is_first ? '{' : ',', more->name, more->value);
	if (more || !is_first)
		fputc('}', out);
}

void metric_family(FILE *out, const struct family *f)
{
	fprintf(out, "# TYPE %s %s\n", f->name, f->type);
	if (f->unit)
		fprintf(out, "# UNIT %s %s\n", f->name, f->unit);
	fprintf(out, "# HELP %s ", f->name);
	put_value(out, f->help);
	fputc('\n', out);
}

static void put_name(FILE *out, const struct family *f, const struct label *labels)
{
	fprintf(out, "%s%s", f->name, strcmp(f->type, "counter") ? "" : "_total");
	put_labels(out, labels, NULL);
}

static void put_fraction(FILE *out, uint64_t value, uint64_t per)
{
	int digits = 0;
	for (uint64_t n = per; n > 1; n /= 10)
		digits++;
	fprintf(out, " %" PRIu64 ".%0*" PRIu64 "\n", value / per, digits, value % per);
}

void metric_number(FILE *out, const struct family *f, const struct label *labels, uint64_t value)
{
	put_name(out, f, labels);
	fprintf(out, " %" PRIu64 "\n", value);
}

void metric_fraction(FILE *out, const struct family *f, const struct label *labels, uint64_t value,
		     uint64_t per)
{
	put_name(out, f, labels);
	put_fraction(out, value, per);
}

void metric_info(FILE *out, const struct family *f, const struct label *labels)
{
	fprintf(out, "%s_info", f->name);
	put_labels(out, labels, NULL);
	fputs(" 1\n", out);
}

void metric_histogram(FILE *out, const struct family *f, const struct label *labels,
		      const uint64_t *buckets, unsigned count, uint64_t sum_us)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < count; i++) {
		char le[32] = "+Inf";
		if (i + 1 < count)
			snprintf(le, sizeof le, "%.9g", (double)(UINT64_C(1) << i) / 1e6);
		sum += buckets[i];
		fprintf(out, "%s_bucket", f->name);
		put_labels(out, labels, &(struct label){ "le", le });
		fprintf(out, " %" PRIu64 "\n", sum);
	}
	fprintf(out, "%s_count", f->name);
	put_labels(out, labels, NULL);
	fprintf(out, " %" PRIu64 "\n%s_sum", sum, f->name);
	put_labels(out, labels, NULL);
	put_fraction(out, sum_us, 1000000);
}

void metric_end(FILE *out)
{
	fputs("# EOF\n", out);
}
