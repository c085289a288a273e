// SPDX-License-Identifier: BSD-2-Clause
// OpenMetrics 1.0 as text: families with their TYPE, UNIT and HELP, samples with their labels.
// Pure functions that write to a stream.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// A metric family. As the specification requires, a unit is the end of its family's name, and the
// writers below add _total, _info, _bucket, _count and _sum.
struct family {
	const char *name;
	const char *type; // "gauge", "counter", "histogram", "info"
	const char *unit; // "bytes", "seconds", "ratio", or NULL
	const char *help; // one line
};

enum { LABELS_MAX = 12 };
// value may be any text: it is escaped, and malformed UTF-8 is replaced. Ends with a NULL name.
struct label {
	const char *name, *value;
};

void metric_family(FILE *out, const struct family *f);
void metric_number(FILE *out, const struct family *f, const struct label *labels, uint64_t value);
// value in units of 1/per of the family's unit; per is a power of ten.
void metric_fraction(FILE *out, const struct family *f, const struct label *labels, uint64_t value,
		     uint64_t per);
void metric_info(FILE *out, const struct family *f, const struct label *labels);
// buckets[i]: observations below 2^i us, the last: all others. sum_us: their sum.
void metric_histogram(FILE *out, const struct family *f, const struct label *labels,
		      const uint64_t *buckets, unsigned count, uint64_t sum_us);
void metric_end(FILE *out);

// The same document in the text format of Prometheus, version 0.0.4. text was written by the
// functions above. For free(); NULL: no memory.
char *metrics_plain(const char *text, size_t *ret_len);
