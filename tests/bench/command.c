// SPDX-License-Identifier: BSD-2-Clause
// Commands: where they go, what they carry (RFC 7143 §4.2.5.2 for unsolicited
// data and R2T), when the next one may start.
#include "load.h"

#include <stdio.h>

static uint64_t random_next(struct session *s)
{
	uint64_t x = s->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return s->random = x;
}

static uint64_t random_below(struct session *s, uint64_t limit)
{
	return (uint64_t)((unsigned __int128)random_next(s) * limit >> 64);
}

void command_header(struct session *s, uint8_t *h, unsigned lun, uint32_t itt, uint8_t direction,
		    uint32_t edtl)
{
	h[0] = OP_COMMAND;
	h[AT_FLAGS] = FLAG_FINAL | FLAG_SIMPLE | direction;
	put_lun(h + AT_LUN, lun);
	put32(h + AT_ITT, itt);
	put32(h + AT_EDTL, edtl);
	put32(h + AT_CMDSN, s->cmdsn++);
	put32(h + AT_EXPSTATSN, s->expstatsn);
}

static void cdb_build(const struct load *l, const struct slot *slot, uint8_t *cdb)
{
	uint64_t lba = slot->offset / l->block_size;
	uint32_t blocks = l->opt.io_size / l->block_size;

	if (l->opt.use_16 || lba + blocks > UINT32_MAX || blocks > UINT16_MAX) {
		cdb[0] = slot->is_write ? 0x8a : 0x88;
		put64(cdb + 2, lba);
		put32(cdb + 10, blocks);
	} else {
		cdb[0] = slot->is_write ? 0x2a : 0x28;
		put32(cdb + 2, (uint32_t)lba);
		put16(cdb + 7, (uint16_t)blocks);
	}
}

static void slot_choose(struct load *l, struct session *s, struct slot *slot, uint32_t itt)
{
	const struct options *opt = &l->opt;
	uint64_t place;

	if (opt->is_sequential) {
		place = s->next_sequential++;
		if (s->next_sequential == l->n_slots)
			s->next_sequential = 0;
	} else {
		place = random_below(s, l->n_slots);
	}
	slot->offset = place * opt->io_size;
	slot->lun = opt->lun + (opt->luns > 1 ? (unsigned)random_below(s, opt->luns) : 0);
	if (opt->read_percent == 0 || opt->read_percent == 100)
		slot->is_write = opt->read_percent == 0;
	else
		slot->is_write = (int)random_below(s, 100) >= opt->read_percent;
	slot->data = l->pattern;
	if (slot->is_write && opt->is_verifying) {
		slot->data += ((size_t)s->index * opt->depth + itt) * opt->io_size;
		pattern_fill(slot->data, slot->lun, slot->offset, opt->io_size);
	}
}

// Data-Out PDUs for [offset, offset + len); ttt is NO_TAG for unsolicited data.
void command_send_data(struct session *s, uint32_t itt, uint32_t ttt, uint32_t offset, uint32_t len)
{
	const struct slot *slot = &s->slots[itt];

	for (uint32_t datasn = 0; len; datasn++) {
		uint32_t n = len < s->max_send_segment ? len : s->max_send_segment;
		struct out_pdu *pdu = out_add(s);
		uint8_t *h = pdu->head;

		h[0] = OP_DATA_OUT;
		h[AT_FLAGS] = n == len ? FLAG_FINAL : 0;
		put_lun(h + AT_LUN, slot->lun);
		put32(h + AT_ITT, itt);
		put32(h + AT_TTT, ttt);
		put32(h + AT_EXPSTATSN, s->expstatsn);
		put32(h + AT_DATASN, datasn);
		put32(h + AT_OFFSET, offset);
		pdu->data = slot->data + offset;
		pdu->data_len = n;
		out_seal(s, pdu);
		offset += n;
		len -= n;
	}
}

void command_start(struct load *l, struct session *s, uint32_t itt, bool is_retry, uint64_t now)
{
	struct slot *slot = &s->slots[itt];
	struct out_pdu *pdu = out_add(s);
	uint32_t size = l->opt.io_size, burst, immediate = 0;

	if (!is_retry) {
		slot_choose(l, s, slot, itt);
		slot->start_ns = now;
	}
	slot->is_busy = true;
	slot->is_wrong = false;
	command_header(s, pdu->head, slot->lun, itt, slot->is_write ? FLAG_WRITE : FLAG_READ, size);
	cdb_build(l, slot, pdu->head + AT_CDB);
	if (!slot->is_write) {
		out_seal(s, pdu);
		return;
	}
	burst = size < s->first_burst ? size : s->first_burst;
	if (s->immediate_data) {
		immediate = burst < s->max_send_segment ? burst : s->max_send_segment;
		pdu->data = slot->data;
		pdu->data_len = immediate;
	}
	if (!s->initial_r2t && burst > immediate)
		pdu->head[AT_FLAGS] &= (uint8_t)~FLAG_FINAL;
	out_seal(s, pdu);
	if (!s->initial_r2t && burst > immediate)
		command_send_data(s, itt, NO_TAG, immediate, burst - immediate);
}

void command_finish(struct load *l, struct session *s, uint32_t itt, int status, uint64_t now)
{
	struct slot *slot = &s->slots[itt];

	slot->is_busy = false;
	if (slot->is_wrong && !status && !l->mismatches++)
		fprintf(stderr, "iscsi_load: wrong data: LUN %u, byte %llu\n", slot->lun,
			(unsigned long long)slot->offset);
	s->free_slots[s->n_free++] = itt;
	l->all++;
	if (status && !l->errors++)
		fprintf(stderr, "iscsi_load: %s at byte %llu: status %02x\n",
			slot->is_write ? "write" : "read", (unsigned long long)slot->offset,
			(unsigned)status);
	if (l->is_measuring)
		stats_add(now > slot->start_ns ? now - slot->start_ns : 0, slot->is_write);
}

uint64_t command_due(const struct load *l)
{
	return l->t0 + (uint64_t)((double)l->started * NS_PER_SEC / l->opt.rate);
}

// A late start of a fixed rate counts as latency: the command was due then.
void command_refill(struct load *l, struct session *s, uint64_t now)
{
	while (s->n_free && !l->is_stopping && (int32_t)(s->maxcmdsn - s->cmdsn) >= 0) {
		uint64_t start = l->opt.rate > 0 ? command_due(l) : now;

		if (start > now || (l->opt.max_ios && l->started == l->opt.max_ios))
			break;
		l->started++;
		command_start(l, s, s->free_slots[--s->n_free], false, start);
	}
}
