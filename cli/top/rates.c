// SPDX-License-Identifier: BSD-2-Clause
// Rates and percentiles, see rates.h.
#include "cli/top/rates.h"

#include <stdio.h>
#include <string.h>

#include "cli/shell/client.h"

static double grown(struct json_object *now, struct json_object *before, const char *key)
{
	int64_t n = number_field(now, key) - number_field(before, key);
	return n > 0 ? (double)n : 0;
}

static void add_buckets(struct rate *r, struct json_object *now, struct json_object *before)
{
	size_t n = json_count(now);
	for (size_t i = 0; i < n && i < RATE_BUCKETS; i++) {
		struct json_object *old = json_object_is_type(before, json_type_array)
						  ? json_object_array_get_idx(before, i)
						  : NULL;
		int64_t more = json_object_get_int64(json_object_array_get_idx(now, i)) -
			       json_object_get_int64(old);
		if (more > 0)
			r->buckets[i] += (double)more;
	}
}

void rate_add(struct rate *r, struct json_object *now, struct json_object *before, double seconds)
{
	static const char *const kinds[] = { "read", "write", "other" };
	if (seconds <= 0)
		return;
	for (int i = 0; i < 3; i++) {
		struct json_object *a = json_field(now, kinds[i]),
				   *b = json_field(before, kinds[i]);
		double bytes = grown(a, b, "bytes") / seconds;
		r->iops += grown(a, b, "commands") / seconds;
		r->read += i == 0 ? bytes : 0;
		r->written += i == 1 ? bytes : 0;
		add_buckets(r, json_field(a, "latency_log2_us"), json_field(b, "latency_log2_us"));
	}
}

// Entry i counts commands below 2^i us; linear within a bucket.
static double quantile(const double buckets[RATE_BUCKETS], double q)
{
	double total = 0;
	for (int i = 0; i < RATE_BUCKETS; i++)
		total += buckets[i];
	double left = q * total;
	for (int i = 0; total > 0 && i < RATE_BUCKETS; i++) {
		double top = (double)(UINT64_C(1) << (i < 62 ? i : 62)), low = i ? top / 2 : 0;
		if (buckets[i] > 0 && left <= buckets[i])
			return low + (top - low) * left / buckets[i];
		left -= buckets[i];
	}
	return -1;
}

void rate_finish(struct rate *r)
{
	r->p50 = quantile(r->buckets, 0.50);
	r->p99 = quantile(r->buckets, 0.99);
}

struct rate rate_of(struct json_object *now, struct json_object *before, double seconds)
{
	struct rate r = { 0 };
	rate_add(&r, now, before, seconds);
	rate_finish(&r);
	return r;
}

double rate_seconds(struct json_object *now, struct json_object *before)
{
	return (double)(number_field(now, "clock_us") - number_field(before, "clock_us")) / 1e6;
}

struct json_object *rate_session(struct json_object *status, const char *sid)
{
	json_each (s, json_field(status, "sessions"))
		if (!strcmp(text_field(s, "sid"), sid))
			return s;
	return NULL;
}

static void put_number(struct json_object *to, const char *key, double v)
{
	char text[32];
	snprintf(text, sizeof text, "%.1f", v);
	json_object_object_add(to, key, v < 0 ? NULL : json_object_new_double_s(v, text));
}

void rate_put(struct json_object *to, const struct rate *r)
{
	put_number(to, "iops", r->iops);
	put_number(to, "read_bytes", r->read);
	put_number(to, "written_bytes", r->written);
	put_number(to, "p50_us", r->p50);
	put_number(to, "p99_us", r->p99);
}

// ---- texts ----

void rate_count_text(double count, char out[16])
{
	if (count >= 1e6)
		snprintf(out, 16, "%.2fM", count / 1e6);
	else if (count >= 1e4)
		snprintf(out, 16, "%.1fk", count / 1e3);
	else
		snprintf(out, 16, "%.0f", count);
}

void rate_bytes_text(double bytes, char out[16])
{
	if (bytes >= 1e9)
		snprintf(out, 16, "%.2f GB/s", bytes / 1e9);
	else
		snprintf(out, 16, "%.*f MB/s", bytes > 0 && bytes < 1e8 ? 1 : 0, bytes / 1e6);
}

void rate_time_text(double us, char out[16])
{
	if (us < 0)
		snprintf(out, 16, "-");
	else if (us < 1000)
		snprintf(out, 16, "%.*f us", us < 10 ? 1 : 0, us);
	else if (us < 1e6)
		snprintf(out, 16, "%.1f ms", us / 1e3);
	else
		snprintf(out, 16, "%.1f s", us / 1e6);
}

struct rate_texts rate_texts(const struct rate *r)
{
	struct rate_texts t;
	rate_count_text(r->iops, t.iops);
	rate_bytes_text(r->read, t.read);
	rate_bytes_text(r->written, t.written);
	rate_time_text(r->p50, t.p50);
	rate_time_text(r->p99, t.p99);
	return t;
}
