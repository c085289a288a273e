// SPDX-License-Identifier: BSD-2-Clause
// Headers of FPDUs. See ddp.h.
#include "transport/rdma/iwarp/ddp.h"

#include <string.h>

#include "transport/wire/be.h"

// The required header of each opcode.
static const struct row {
	bool is_known, is_tagged;
	uint8_t header_len;
	uint8_t qn;
} rows[RDMAP_OPCODE_MASK + 1] = {
	[RDMAP_WRITE] = {true,	true,  16, 0		    },
	[RDMAP_READ_REQUEST] = { true, false, 48, DDP_QN_READ_REQUEST},
	[RDMAP_READ_RESPONSE] = { true, true,  16, 0		    },
	[RDMAP_SEND] = { true, false, 20, DDP_QN_SEND	      },
	[RDMAP_SEND_INVALIDATE] = { true, false, 20, DDP_QN_SEND	 },
	[RDMAP_SEND_SE] = { true, false, 20, DDP_QN_SEND	 },
	[RDMAP_SEND_SE_INVALIDATE] = { true, false, 20, DDP_QN_SEND	    },
	[RDMAP_TERMINATE] = { true, false, 20, DDP_QN_TERMINATE	},
};

unsigned ddp_begin(const uint8_t *head, struct ddp_segment *ret)
{
	const struct ddp_common *c = (const void *)head;
	const struct row *row = &rows[c->rdmap & RDMAP_OPCODE_MASK];
	uint32_t ulpdu = get_be16(c->ulpdu_len);

	*ret = (struct ddp_segment){
		.opcode = c->rdmap & RDMAP_OPCODE_MASK,
		.is_tagged = c->ddp & DDP_T,
		.is_last = c->ddp & DDP_L,
		.header_len = row->header_len,
	};
	if ((c->ddp & DDP_VERSION_MASK) != DDP_VERSION)
		return ret->is_tagged ? TERM_DDP_TAGGED_VERSION : TERM_DDP_UNTAGGED_VERSION;
	if ((c->rdmap & RDMAP_VERSION_MASK) != RDMAP_VERSION)
		return TERM_RDMAP_VERSION;
	if (!row->is_known || row->is_tagged != ret->is_tagged)
		return TERM_RDMAP_OPCODE;
	if (ulpdu + MPA_LENGTH_LEN < row->header_len)
		return TERM_MPA_LENGTH;
	ret->len = ulpdu + MPA_LENGTH_LEN - row->header_len;
	ret->tail_len = (-(ulpdu + MPA_LENGTH_LEN) & 3) + MPA_CRC_LEN;
	return 0;
}

static unsigned decode_read_request(const uint8_t *header, struct ddp_segment *s)
{
	const struct rdmap_read_request *r = (const void *)header;

	if (s->len)
		return TERM_DDP_TOO_LONG;
	s->sink_stag = get_be32(r->sink_stag);
	s->sink_to = get_be64(r->sink_to);
	s->read_len = get_be32(r->len);
	s->source_stag = get_be32(r->source_stag);
	s->source_to = get_be64(r->source_to);
	return 0;
}

unsigned ddp_decode(const uint8_t *header, struct ddp_segment *s)
{
	const struct ddp_tagged *t = (const void *)header;
	const struct ddp_untagged *u = (const void *)header;

	if (s->is_tagged) {
		s->stag = get_be32(t->stag);
		s->to = get_be64(t->to);
		return 0;
	}
	s->invalidate = get_be32(u->invalidate);
	s->qn = get_be32(u->qn);
	s->msn = get_be32(u->msn);
	s->mo = get_be32(u->mo);
	if (s->qn != rows[s->opcode].qn)
		return TERM_DDP_QN;
	return s->opcode == RDMAP_READ_REQUEST ? decode_read_request(header, s) : 0;
}

static void put_common(uint8_t *out, uint8_t ddp, enum rdmap_opcode op, uint32_t ulpdu)
{
	struct ddp_common *c = (void *)out;

	put_be16(c->ulpdu_len, (uint16_t)ulpdu);
	c->ddp = ddp | DDP_VERSION;
	c->rdmap = (uint8_t)(RDMAP_VERSION | op);
}

uint32_t ddp_put_tagged(uint8_t *out, enum rdmap_opcode op, bool is_last, uint32_t len,
			uint32_t stag, uint64_t to)
{
	struct ddp_tagged *t = (void *)out;

	put_common(out, DDP_T | (is_last ? DDP_L : 0), op, DDP_TAGGED_LEN + len);
	put_be32(t->stag, stag);
	put_be64(t->to, to);
	return sizeof *t;
}

uint32_t ddp_put_untagged(uint8_t *out, enum rdmap_opcode op, bool is_last, uint32_t len,
			  uint32_t invalidate, enum ddp_queue qn, uint32_t msn, uint32_t mo)
{
	struct ddp_untagged *u = (void *)out;

	put_common(out, is_last ? DDP_L : 0, op, DDP_UNTAGGED_LEN + len);
	put_be32(u->invalidate, invalidate);
	put_be32(u->qn, qn);
	put_be32(u->msn, msn);
	put_be32(u->mo, mo);
	return sizeof *u;
}

uint32_t ddp_put_read_request(uint8_t *out, uint32_t msn, uint32_t sink_stag, uint64_t sink_to,
			      uint32_t len, uint32_t source_stag, uint64_t source_to)
{
	struct rdmap_read_request *r = (void *)out;

	ddp_put_untagged(out, RDMAP_READ_REQUEST, true, RDMAP_READ_REQUEST_LEN, 0,
			 DDP_QN_READ_REQUEST, msn, 0);
	put_be32(r->sink_stag, sink_stag);
	put_be64(r->sink_to, sink_to);
	put_be32(r->len, len);
	put_be32(r->source_stag, source_stag);
	put_be64(r->source_to, source_to);
	return sizeof *r;
}

uint32_t ddp_put_terminate(uint8_t *out, unsigned code, const uint8_t *header,
			   const struct ddp_segment *s)
{
	uint8_t *at = out + sizeof(struct ddp_untagged);
	struct rdmap_terminate *t = (void *)at;

	*t = (struct rdmap_terminate){ .layer_type = (uint8_t)(code >> 8), .code = (uint8_t)code };
	at += sizeof *t;
	if (header) {
		uint32_t quoted = s->is_tagged ? DDP_TAGGED_LEN : DDP_UNTAGGED_LEN;
		t->quotes = TERM_M | TERM_D;
		if (s->opcode == RDMAP_READ_REQUEST) {
			quoted += RDMAP_READ_REQUEST_LEN;
			t->quotes |= TERM_R;
		}
		memcpy(at, header, MPA_LENGTH_LEN + quoted); // the segment's length comes first
		at += MPA_LENGTH_LEN + quoted;
	}
	uint32_t len = (uint32_t)(at - out);
	ddp_put_untagged(out, RDMAP_TERMINATE, true, len - sizeof(struct ddp_untagged), 0,
			 DDP_QN_TERMINATE, 1, 0);
	return len;
}

unsigned term_decode(const uint8_t *control, bool *ret_is_read)
{
	enum { SIW_R = 0x04 };
	const struct rdmap_terminate *t = (const void *)control;
	bool is_siw = !(t->quotes & (TERM_M | TERM_D | TERM_R)) && t->quotes;
	uint8_t swapped = (uint8_t)(t->layer_type << 4 | t->layer_type >> 4);
	unsigned code = (unsigned)t->layer_type << 8 | t->code;

	// Without quotes: a code of siw that is not in RFC 5040.
	is_siw |= t->layer_type == 0x21 || (code >= 0x0201 && code <= 0x0204);
	*ret_is_read = t->quotes & (is_siw ? SIW_R : TERM_R);
	return is_siw ? (unsigned)swapped << 8 | t->code : code;
}

static const struct {
	unsigned code;
	const char *text;
} term_rows[] = {
	{TERM_RDMAP_STAG,		   "RDMAP: invalid STag"				 },
	{ TERM_RDMAP_BOUNDS,		     "RDMAP: outside the bounds of the STag"	     },
	{ TERM_RDMAP_ACCESS,		     "RDMAP: access right missing for the STag"	},
	{ TERM_RDMAP_STREAM,		     "RDMAP: the STag belongs to another connection"  },
	{ TERM_RDMAP_TO_WRAP,	      "RDMAP: tagged offset wraps around"		  },
	{ TERM_RDMAP_INVALIDATE,		 "RDMAP: the STag cannot be invalidated"		 },
	{ TERM_RDMAP_PROTECTION,		 "RDMAP: remote protection error"		  },
	{ TERM_RDMAP_VERSION,	      "RDMAP: invalid version"			       },
	{ TERM_RDMAP_OPCODE,		     "RDMAP: unexpected opcode"			},
	{ TERM_RDMAP_CATASTROPHIC,	   "RDMAP: catastrophic error of the connection"	 },
	{ TERM_RDMAP_CATASTROPHIC_GLOBAL, "RDMAP: catastrophic error of the adapter"	     },
	{ TERM_RDMAP_INVALIDATE_STAG,     "RDMAP: the STag cannot be invalidated"	      },
	{ TERM_DDP_STAG,			 "DDP: invalid STag"				     },
	{ TERM_DDP_BOUNDS,		   "DDP: outside the bounds of the STag"		 },
	{ TERM_DDP_STREAM,		   "DDP: the STag belongs to another connection"	 },
	{ TERM_DDP_TO_WRAP,		    "DDP: tagged offset wraps around"		      },
	{ TERM_DDP_TAGGED_VERSION,	   "DDP: invalid version"				  },
	{ TERM_DDP_QN,		       "DDP: invalid queue number"			   },
	{ TERM_DDP_NO_BUFFER,	      "DDP: no buffer for the message"		       },
	{ TERM_DDP_MSN,			"DDP: message sequence number out of range"	    },
	{ TERM_DDP_MO,		       "DDP: invalid message offset"		     },
	{ TERM_DDP_TOO_LONG,		     "DDP: the message is too long for its buffer"	   },
	{ TERM_DDP_UNTAGGED_VERSION,	     "DDP: invalid version"			    },
	{ TERM_MPA_CLOSED,		   "MPA: the TCP connection was lost"		      },
	{ TERM_MPA_CRC,			"MPA: CRC error"				 },
	{ TERM_MPA_LENGTH,		   "MPA: FPDU length does not match its content"	 },
	{ TERM_MPA_STARTUP,		    "MPA: invalid startup frame"			 },
	{ TERM_MPA_CATASTROPHIC,		 "MPA: catastrophic error"			   },
	{ TERM_MPA_IRD,			"MPA: not enough inbound reads (IRD)"	      },
	{ TERM_MPA_NO_RTR,		   "MPA: no agreement on the ready-to-receive frame"},
};

const char *term_text(unsigned code)
{
	for (unsigned i = 0; i < sizeof term_rows / sizeof *term_rows; i++)
		if (term_rows[i].code == code)
			return term_rows[i].text;
	return code >> 12 == 0 ? "RDMAP error" : code >> 12 == 1 ? "DDP error" : "error";
}

bool term_is_access(unsigned code)
{
	unsigned type = code >> 8;

	return type == TERM_RDMAP_STAG >> 8 || type == TERM_DDP_STAG >> 8;
}
