// SPDX-License-Identifier: BSD-2-Clause
// MPA startup frames. See mpa.h.
#include "transport/rdma/iwarp/mpa.h"

#include <errno.h>
#include <string.h>

#include "transport/wire/be.h"

int mpa_frame_len(const uint8_t *head, bool is_reply, struct err *e)
{
	const struct mpa_startup *h = (const void *)head;
	const char *key = is_reply ? MPA_KEY_REPLY : MPA_KEY_REQUEST;
	uint32_t len = get_be16(h->private_len);

	if (memcmp(h->key, key, MPA_KEY_LEN) != 0)
		return err_set(e, -EPROTO, "MPA: not a valid %s frame (RFC 5044 7.1)",
			       is_reply ? "reply" : "request");
	if (len > MPA_PRIVATE_MAX)
		return err_set(e, -EPROTO, "MPA: %u bytes of private data exceed the limit of %u",
			       len, (unsigned)MPA_PRIVATE_MAX);
	return (int)(MPA_STARTUP_LEN + len);
}

int mpa_parse(const uint8_t *frame, struct mpa_frame *ret, struct err *e)
{
	const struct mpa_startup *h = (const void *)frame;
	const uint8_t *data = frame + MPA_STARTUP_LEN;
	uint32_t len = get_be16(h->private_len);

	*ret = (struct mpa_frame){
		.is_reply = !memcmp(h->key, MPA_KEY_REPLY, MPA_KEY_LEN),
		.flags = h->flags & (MPA_M | MPA_C | MPA_R | MPA_S),
		.revision = h->revision,
	};
	if (h->revision < 2)
		ret->flags &= (uint8_t)~MPA_S; // a reserved bit in that case
	if (ret->flags & MPA_S) {
		const struct mpa_enhanced *m = (const void *)data;
		if (len < MPA_ENHANCED_LEN)
			return err_set(e, -EPROTO, "MPA: announced enhanced data is missing");
		ret->ird = get_be16(m->ird) & MPA_DEPTH_MASK;
		ret->ord = get_be16(m->ord) & MPA_DEPTH_MASK;
		ret->peer_to_peer = get_be16(m->ird) & MPA_A;
		ret->rtr = get_be16(m->ord) & (MPA_W | MPA_D);
		data += MPA_ENHANCED_LEN;
		len -= MPA_ENHANCED_LEN;
	}
	ret->private_data = data;
	ret->private_len = len;
	return 0;
}

size_t mpa_build(const struct mpa_frame *f, uint8_t out[MPA_STARTUP_LEN + MPA_PRIVATE_MAX])
{
	struct mpa_startup *h = (void *)out;
	uint8_t *at = out + MPA_STARTUP_LEN;
	bool is_enhanced = f->flags & MPA_S;

	memcpy(h->key, f->is_reply ? MPA_KEY_REPLY : MPA_KEY_REQUEST, MPA_KEY_LEN);
	h->flags = f->flags;
	h->revision = f->revision;
	put_be16(h->private_len, (uint16_t)(f->private_len + (is_enhanced ? MPA_ENHANCED_LEN : 0)));
	if (is_enhanced) {
		struct mpa_enhanced *m = (void *)at;
		put_be16(m->ird, (uint16_t)(f->ird | f->peer_to_peer));
		put_be16(m->ord, (uint16_t)(f->ord | f->rtr));
		at += MPA_ENHANCED_LEN;
	}
	if (f->private_len)
		memcpy(at, f->private_data, f->private_len);
	return (size_t)(at - out) + f->private_len;
}

static uint16_t agree(uint32_t ours, uint16_t theirs)
{
	if (theirs == MPA_NO_NEGOTIATION || ours < theirs)
		return (uint16_t)ours;
	return theirs;
}

void mpa_answer(struct mpa_frame *ret, const struct mpa_frame *request, uint32_t reads_in,
		uint32_t reads_out, bool wants_crc)
{
	*ret = (struct mpa_frame){
		.is_reply = true,
		.revision = request->revision,
		.flags = request->flags & (MPA_C | MPA_S),
		.ird = (uint16_t)reads_in,
		.ord = (uint16_t)reads_out,
	};
	if (wants_crc)
		ret->flags |= MPA_C;
	if (!(request->flags & MPA_S))
		return;
	ret->ird = agree(reads_in, request->ord);
	ret->ord = agree(reads_out, request->ird);
	if (!request->peer_to_peer)
		return;
	// An empty write is cheapest; an empty send would need a receive buffer. siw does the same.
	ret->peer_to_peer = MPA_A;
	ret->rtr = request->rtr & MPA_W || !request->rtr ? MPA_W : MPA_D;
}
