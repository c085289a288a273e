// SPDX-License-Identifier: BSD-2-Clause
// Rates and latencies from two readings of counters, and short texts of them. Pure functions.
#pragma once

#include <json-c/json.h>
#include <stddef.h>

enum { RATE_BUCKETS = 64 };

struct rate {
	double iops, read, written; // commands, bytes, bytes per second
	double p50, p99;	    // us; negative: no command ended
	double buckets[RATE_BUCKETS];
};

// Adds the difference between two readings of one object's counters (read, write and other with
// commands, bytes, latency_log2_us), seconds apart; before NULL: from 0. A counter that has
// decreased counts as 0.
void rate_add(struct rate *r, struct json_object *now, struct json_object *before, double seconds);
void rate_finish(struct rate *r); // computes p50 and p99
// Both, for the first difference.
struct rate rate_of(struct json_object *now, struct json_object *before, double seconds);

// As JSON: iops, read_bytes and written_bytes per second, p50_us and p99_us (null: no command
// ended).
void rate_put(struct json_object *to, const struct rate *r);

// Texts of at most 15 characters: "12.3k", "349 MB/s", "1.2 ms", "-" for none.
void rate_count_text(double count, char out[16]);
void rate_bytes_text(double bytes, char out[16]);
void rate_time_text(double us, char out[16]);
struct rate_texts {
	char iops[16], read[16], written[16], p50[16], p99[16];
};
struct rate_texts rate_texts(const struct rate *r);

// Two readings of status.get: the seconds between them, and a session in one of them, borrowed;
// NULL: none.
double rate_seconds(struct json_object *now, struct json_object *before);
struct json_object *rate_session(struct json_object *status, const char *sid);
