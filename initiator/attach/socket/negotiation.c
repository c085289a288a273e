// SPDX-License-Identifier: BSD-2-Clause
// See negotiation.h. The protocol is the NBD project's doc/proto.md, "Fixed newstyle negotiation".
#include "initiator/attach/socket/negotiation.h"

#include <string.h>

#include "initiator/attach/nbd_flags.h"
#include "transport/wire/be.h"

#define MAGIC	     0x4e42444d41474943ull // "NBDMAGIC"
#define OPTION_MAGIC 0x49484156454f5054ull // "IHAVEOPT"
#define REPLY_MAGIC  0x0003e889045565a9ull
#define HEADER	     16 // magic, option, length
#define REPLY_HEADER 20 // magic, option, type, length
#define ZEROES	     124

enum { FIXED_NEWSTYLE = 1, NO_ZEROES = 2 };
#define CONTEXT	  "base:allocation"
#define NAMESPACE "base:"

enum {
	OPT_EXPORT_NAME = 1,
	OPT_ABORT = 2,
	OPT_LIST = 3,
	OPT_INFO = 6,
	OPT_GO = 7,
	OPT_STRUCTURED_REPLY = 8,
	OPT_LIST_META_CONTEXT = 9,
	OPT_SET_META_CONTEXT = 10,
};
enum { INFO_EXPORT = 0, INFO_BLOCK_SIZE = 3 };
enum {
	REP_ACK = 1,
	REP_SERVER = 2,
	REP_INFO = 3,
	REP_META_CONTEXT = 4,
	REP_ERR_UNSUPPORTED = (int)0x80000001,
	REP_ERR_INVALID = (int)0x80000003,
	REP_ERR_UNKNOWN = (int)0x80000006,
	REP_ERR_TOO_BIG = (int)0x80000009,
};

static void want(struct negotiation *n, enum negotiation_state s, uint32_t bytes)
{
	n->state = s;
	n->want = bytes;
}

static size_t reply(const struct negotiation *n, uint32_t type, const void *data, uint32_t len,
		    uint8_t *out)
{
	put_be64(out, REPLY_MAGIC);
	put_be32(out + 8, n->option);
	put_be32(out + 12, type);
	put_be32(out + 16, len);
	if (len)
		memcpy(out + REPLY_HEADER, data, len);
	return REPLY_HEADER + len;
}

size_t negotiation_begin(struct negotiation *n, const struct negotiation_export *export,
			 uint8_t out[NEGOTIATION_OUT_MAX])
{
	*n = (struct negotiation){ .export = *export };
	want(n, NEGOTIATION_WANTS_FLAGS, 4);
	put_be64(out, MAGIC);
	put_be64(out + 8, OPTION_MAGIC);
	put_be16(out + 16, FIXED_NEWSTYLE | NO_ZEROES);
	return 18;
}

static bool is_name(const struct negotiation *n, const uint8_t *name, uint32_t len)
{
	return !len || (len == strlen(n->export.name) && !memcmp(name, n->export.name, len));
}

// ---- options ----

static size_t export_name(struct negotiation *n, const uint8_t *in, uint32_t len, uint8_t *out)
{
	if (!is_name(n, in, len)) { // this option has no reply for an error
		want(n, NEGOTIATION_FAILED, 0);
		return 0;
	}
	put_be64(out, n->export.bytes);
	put_be16(out + 8, n->export.flags);
	memset(out + 10, 0, ZEROES);
	want(n, NEGOTIATION_DONE, 0);
	return n->has_no_zeroes ? 10 : 10 + ZEROES;
}

static size_t abort_(struct negotiation *n, const uint8_t *in, uint32_t len, uint8_t *out)
{
	want(n, NEGOTIATION_FAILED, 0);
	return reply(n, REP_ACK, NULL, 0, out);
}

static size_t list(struct negotiation *n, const uint8_t *in, uint32_t len, uint8_t *out)
{
	uint8_t data[4 + 256];
	uint32_t name_len = (uint32_t)strlen(n->export.name);
	if (len)
		return reply(n, (uint32_t)REP_ERR_INVALID, NULL, 0, out);
	name_len = name_len < 256 ? name_len : 256;
	put_be32(data, name_len);
	memcpy(data + 4, n->export.name, name_len);
	size_t size = reply(n, REP_SERVER, data, 4 + name_len, out);
	return size + reply(n, REP_ACK, NULL, 0, out + size);
}

// Also OPT_GO: what the client asks for is answered in any case, which the protocol permits.
static size_t info(struct negotiation *n, const uint8_t *in, uint32_t len, uint8_t *out)
{
	uint8_t export[12], sizes[14];
	uint32_t name_len = len >= 6 ? get_be32(in) : 0;
	if (len < 6 || name_len > len - 6 ||
	    6 + name_len + 2ull * get_be16(in + 4 + name_len) != len)
		return reply(n, (uint32_t)REP_ERR_INVALID, NULL, 0, out);
	if (!is_name(n, in + 4, name_len))
		return reply(n, (uint32_t)REP_ERR_UNKNOWN, NULL, 0, out);
	put_be16(export, INFO_EXPORT);
	put_be64(export + 2, n->export.bytes);
	put_be16(export + 10, n->export.flags);
	put_be16(sizes, INFO_BLOCK_SIZE);
	put_be32(sizes + 2, n->export.block_size);
	put_be32(sizes + 6, n->export.preferred);
	put_be32(sizes + 10, n->export.data_max);
	size_t size = reply(n, REP_INFO, export, sizeof export, out);
	size += reply(n, REP_INFO, sizes, sizeof sizes, out + size);
	if (n->option == OPT_GO)
		want(n, NEGOTIATION_DONE, 0);
	return size + reply(n, REP_ACK, NULL, 0, out + size);
}

static size_t structured(struct negotiation *n, const uint8_t *in, uint32_t len, uint8_t *out)
{
	if (len)
		return reply(n, (uint32_t)REP_ERR_INVALID, NULL, 0, out);
	n->is_structured = true;
	n->export.flags |= NBD_CAN_DF;
	return reply(n, REP_ACK, NULL, 0, out);
}

static bool is_text(const uint8_t *p, uint32_t len, const char *text)
{
	return len == strlen(text) && !memcmp(p, text, len);
}

// Only a list knows the wildcard. 0, or an error of the protocol.
static uint32_t take_queries(const struct negotiation *n, const uint8_t *p, uint32_t left,
			     uint32_t count, bool *finds)
{
	bool is_list = n->option == OPT_LIST_META_CONTEXT;
	*finds = is_list && !count;
	if (count > NEGOTIATION_QUERIES_MAX)
		return (uint32_t)REP_ERR_TOO_BIG;
	for (; count; count--) {
		uint32_t len = left >= 4 ? get_be32(p) : 0;
		if (left < 4 || len > left - 4)
			return (uint32_t)REP_ERR_INVALID;
		*finds |=
			is_text(p + 4, len, CONTEXT) || (is_list && is_text(p + 4, len, NAMESPACE));
		p += 4 + len;
		left -= 4 + len;
	}
	return left ? (uint32_t)REP_ERR_INVALID : 0;
}

// OPT_LIST_META_CONTEXT, OPT_SET_META_CONTEXT: the length of a name, the name, the number of
// queries, and for each its length and text. One that sets replaces what was set before, also if
// it fails.
static size_t contexts(struct negotiation *n, const uint8_t *in, uint32_t len, uint8_t *out)
{
	uint8_t data[4 + sizeof CONTEXT - 1];
	uint32_t name_len = len >= 8 ? get_be32(in) : 0, error = 0;
	bool finds = false, sets = n->option == OPT_SET_META_CONTEXT;
	if (sets)
		n->has_allocation = false;
	if (len < 8 || name_len > len - 8 || !n->is_structured)
		error = (uint32_t)REP_ERR_INVALID;
	else if (!is_name(n, in + 4, name_len))
		error = (uint32_t)REP_ERR_UNKNOWN;
	else
		error = take_queries(n, in + 8 + name_len, len - 8 - name_len,
				     get_be32(in + 4 + name_len), &finds);
	if (error || !finds)
		return reply(n, error ? error : (uint32_t)REP_ACK, NULL, 0, out);
	n->has_allocation |= sets;
	put_be32(data, sets ? n->export.context : 0);
	memcpy(data + 4, CONTEXT, sizeof CONTEXT - 1);
	size_t size = reply(n, REP_META_CONTEXT, data, sizeof data, out);
	return size + reply(n, REP_ACK, NULL, 0, out + size);
}

static const struct {
	uint32_t option;
	size_t (*run)(struct negotiation *n, const uint8_t *in, uint32_t len, uint8_t *out);
} options[] = {
	{OPT_EXPORT_NAME,	   export_name},
	{ OPT_ABORT,	     abort_	    },
	{ OPT_LIST,		    list	 },
	{ OPT_INFO,		    info	 },
	{ OPT_GO,		  info       },
	{ OPT_STRUCTURED_REPLY,	structured },
	{ OPT_LIST_META_CONTEXT, contexts	  },
	{ OPT_SET_META_CONTEXT,	contexts	 },
};

static size_t run(struct negotiation *n, const uint8_t *in, uint32_t len, uint8_t *out)
{
	want(n, NEGOTIATION_WANTS_OPTION, HEADER);
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (options[i].option == n->option)
			return options[i].run(n, in, len, out);
	return reply(n, (uint32_t)REP_ERR_UNSUPPORTED, NULL, 0, out);
}

// ---- states ----

static size_t take_flags(struct negotiation *n, const uint8_t *in, uint8_t *out)
{
	uint32_t flags = get_be32(in);
	n->has_no_zeroes = flags & NO_ZEROES;
	if (flags & ~(uint32_t)(FIXED_NEWSTYLE | NO_ZEROES))
		want(n, NEGOTIATION_FAILED, 0);
	else
		want(n, NEGOTIATION_WANTS_OPTION, HEADER);
	return 0;
}

static size_t take_option(struct negotiation *n, const uint8_t *in, uint8_t *out)
{
	uint32_t len = get_be32(in + 12);
	n->option = get_be32(in + 8);
	if (get_be64(in) != OPTION_MAGIC || len > NEGOTIATION_IN_MAX ||
	    ++n->options > NEGOTIATION_OPTIONS_MAX)
		want(n, NEGOTIATION_FAILED, 0);
	else if (len)
		want(n, NEGOTIATION_WANTS_DATA, len);
	else
		return run(n, in, 0, out);
	return 0;
}

static size_t take_data(struct negotiation *n, const uint8_t *in, uint8_t *out)
{
	return run(n, in, n->want, out);
}

size_t negotiation_take(struct negotiation *n, const uint8_t *in, uint8_t out[NEGOTIATION_OUT_MAX])
{
	static size_t (*const states[])(struct negotiation * n, const uint8_t *in, uint8_t *out) = {
		[NEGOTIATION_WANTS_FLAGS] = take_flags,
		[NEGOTIATION_WANTS_OPTION] = take_option,
		[NEGOTIATION_WANTS_DATA] = take_data,
	};
	return n->state < NEGOTIATION_DONE ? states[n->state](n, in, out) : 0;
}
