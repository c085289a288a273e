// SPDX-License-Identifier: BSD-2-Clause
// CHAP values: CHAP_A, CHAP_I, CHAP_C, CHAP_N, CHAP_R as NUL-separated strings.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "transport/iscsi/chap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const empty = "";
	const char *value[5] = { empty, empty, empty, empty, empty };
	struct chap_challenge theirs, ours;
	struct chap_creds creds, own;
	struct err e;
	unsigned mask;
	char *copy = malloc(size + 1), *at = copy;
	memcpy(copy, data, size);
	copy[size] = 0;
	for (int i = 0; i < 5 && at < copy + size; i++, at += strlen(at) + 1)
		value[i] = at;
	chap_creds_set(&creds, "alice", "0123456789abcdef", NULL);
	chap_creds_set(&own, "target", "fedcba9876543210", NULL);
	chap_algs_parse(value[0], &mask, &e);
	int alg = chap_alg_choose(value[0], CHAP_ALGS_ALL);
	if (alg > 0 && !chap_challenge_new((unsigned)alg, &ours)) {
		// Nobody guesses a fresh challenge's answer.
		if (!chap_answer_check((unsigned)alg, &ours, &creds, &own, value[3], value[4], &e))
			abort();
		if (!chap_challenge_parse(value[1], value[2], &theirs, &e)) {
			char buf[512];
			struct text_out o;
			if (!theirs.len || chap_challenge_same(&ours, &theirs))
				abort();
			text_out_init(&o, buf, sizeof buf);
			if (chap_answer_append((unsigned)alg, &theirs, &creds, &o))
				abort();
		}
	}
	free(copy);
	return 0;
}
