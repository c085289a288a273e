// SPDX-License-Identifier: BSD-2-Clause
// MPA startup frames of both kinds: what is accepted lies within the input, comes out again as it
// went in, and is answered within our limits.
#include <stdlib.h>
#include <string.h>

#include "transport/rdma/iwarp/mpa.h"
#include "transport/wire/be.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_again(const struct mpa_frame *f)
{
	uint8_t out[MPA_STARTUP_LEN + MPA_PRIVATE_MAX];
	struct mpa_frame again;
	struct err e;
	size_t len = mpa_build(f, out);

	must(mpa_frame_len(out, f->is_reply, &e) == (int)len);
	must(mpa_parse(out, &again, &e) == 0);
	must(again.flags == f->flags && again.revision == f->revision && again.ird == f->ird &&
	     again.ord == f->ord && again.peer_to_peer == f->peer_to_peer && again.rtr == f->rtr);
	must(again.private_len == f->private_len);
	must(!f->private_len || !memcmp(again.private_data, f->private_data, f->private_len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mpa_frame f, answer;
	struct err e;

	if (size < MPA_STARTUP_LEN)
		return 0;
	bool is_reply = data[9] == 'p';
	int len = mpa_frame_len(data, is_reply, &e);
	if (len < 0 || (size_t)len > size)
		return 0;
	uint8_t *exact = malloc((size_t)len);
	memcpy(exact, data, (size_t)len);
	if (mpa_parse(exact, &f, &e) == 0) {
		must(f.private_len <= (size_t)len - MPA_STARTUP_LEN);
		must(f.is_reply == is_reply);
		check_again(&f);
		mpa_answer(&answer, &f, 32, 16, data[0] & 1);
		must(answer.ird <= 32 && answer.ord <= 16 && !(answer.flags & MPA_R));
		must(f.revision >= 2 || !(answer.flags & MPA_S));
		if (answer.flags & MPA_S)
			check_again(&answer);
	}
	free(exact);
	return 0;
}
