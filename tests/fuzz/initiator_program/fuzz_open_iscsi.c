// SPDX-License-Identifier: BSD-2-Clause
// open-iscsi's configuration: what is taken are texts within their limits, and messages have no
// secret.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/program/open_iscsi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct open_iscsi_auth a;
	struct err e;
	int r = open_iscsi_parse(&a, (const char *)data, size, "node.session.auth.", "f", &e);
	if (r && !strstr(e.text, "longer than"))
		abort();
	if (r)
		return 0;
	if (strnlen(a.user, sizeof a.user) == sizeof a.user ||
	    strnlen(a.secret, sizeof a.secret) == sizeof a.secret ||
	    strnlen(a.mutual_user, sizeof a.mutual_user) == sizeof a.mutual_user ||
	    strnlen(a.mutual_secret, sizeof a.mutual_secret) == sizeof a.mutual_secret ||
	    strnlen(a.algs, sizeof a.algs) == sizeof a.algs || (a.is_chap && !a.has_method))
		abort();
	return 0;
}
