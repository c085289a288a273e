// SPDX-License-Identifier: BSD-2-Clause
// Negotiation by the rows of keys.c: collects keys of a text, answers, proposes, takes
// answers, and makes dependent values consistent [RFC 7143 §6.2].
#include "transport/iscsi/keys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "transport/wire/iser.h"

static bool is_reserved_answer(const char *value)
{
	return !strcmp(value, "NotUnderstood") || !strcmp(value, "Reject") ||
	       !strcmp(value, "Irrelevant");
}

// An unknown key: an error if sent twice, else answered.
static int collect_unknown(const void *text, size_t len, const struct text_pair *pair,
			   struct text_out *unknown, struct err *e)
{
	struct text_iter it;
	struct text_pair before;
	text_iter_init(&it, text, len);
	while (text_next(&it, &before) > 0 && before.key != pair->key)
		if (before.key_len == pair->key_len &&
		    !memcmp(before.key, pair->key, pair->key_len))
			return err_set(e, -EPROTO, "%.*s: sent twice", (int)pair->key_len,
				       pair->key);
	if (!unknown || is_reserved_answer(pair->value))
		return 0;
	if (text_append_len(unknown, pair->key, pair->key_len, "NotUnderstood"))
		return err_set(e, -ENOSPC, "text: answers to unknown keys do not fit");
	return 0;
}

static int collect_known(int id, const struct text_pair *pair, struct iscsi_key_set *ret,
			 struct err *e)
{
	const struct iscsi_key *k = &iscsi_keys[id];
	size_t max = k->value_max ? k->value_max : ISCSI_VALUE_MAX;
	if (ret->value[id])
		return err_set(e, -EPROTO, "%s: sent twice", k->name);
	if (pair->value_len > max)
		return err_set(e, -EPROTO, "%s: value too long: %zu bytes (at most %zu)", k->name,
			       pair->value_len, max);
	ret->value[id] = pair->value;
	ret->order[ret->count++] = (uint8_t)id;
	return 0;
}

// The answer to FirstBurstLength depends on that to MaxBurstLength.
static void order_bursts(struct iscsi_key_set *set)
{
	for (unsigned i = 0; i < set->count; i++) {
		if (set->order[i] == ISCSI_KEY_MAX_BURST_LENGTH)
			return;
		if (set->order[i] != ISCSI_KEY_FIRST_BURST_LENGTH)
			continue;
		for (unsigned j = i + 1; j < set->count; j++) {
			if (set->order[j] == ISCSI_KEY_MAX_BURST_LENGTH) {
				set->order[i] = ISCSI_KEY_MAX_BURST_LENGTH;
				set->order[j] = ISCSI_KEY_FIRST_BURST_LENGTH;
			}
		}
		return;
	}
}

int iscsi_keys_collect(const void *text, size_t len, struct iscsi_key_set *ret,
		       struct text_out *unknown, struct err *e)
{
	struct text_iter it;
	struct text_pair pair;
	unsigned total = 0;
	int rc;
	*ret = (struct iscsi_key_set){ 0 };
	text_iter_init(&it, text, len);
	while ((rc = text_next(&it, &pair)) > 0) {
		if (++total > ISCSI_TEXT_KEYS_MAX)
			return err_set(e, -EPROTO, "text: more than %d keys", ISCSI_TEXT_KEYS_MAX);
		int id = iscsi_key_find(pair.key, pair.key_len);
		rc = id < 0 ? collect_unknown(text, len, &pair, unknown, e)
			    : collect_known(id, &pair, ret, e);
		if (rc)
			return rc;
	}
	if (rc < 0)
		return err_set(e, -EPROTO,
			       "text: not a list of key=value pairs that end with a NUL");
	order_bursts(ret);
	return 0;
}

static uint32_t min32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

// Our value, adapted to the transport and to our other values.
static uint32_t ours_of(unsigned id, const struct iscsi_offer *o)
{
	if (id == ISCSI_KEY_RDMA_EXTENSIONS)
		return o->is_rdma;
	if (id == ISCSI_KEY_FIRST_BURST_LENGTH)
		return min32(o->value[id], o->value[ISCSI_KEY_MAX_BURST_LENGTH]);
	if (iscsi_keys[id].flags & ISCSI_KEY_TCP && iscsi_keys[id].kind == ISCSI_KIND_LIST &&
	    o->is_rdma)
		return 1; // only the first value, None
	return o->value[id];
}

static bool is_in_list(uint32_t packed, unsigned index)
{
	for (; packed; packed >>= 8)
		if ((packed & 0xff) == index + 1)
			return true;
	return false;
}

static bool is_boolean(const struct iscsi_key *k)
{
	return k->kind == ISCSI_KIND_AND || k->kind == ISCSI_KIND_OR || k->flags & ISCSI_KEY_BOOL;
}

// A received number or boolean.
static int parse(const struct iscsi_key *k, const char *value, uint32_t *ret)
{
	uint64_t n;
	if (is_boolean(k)) {
		*ret = !strcmp(value, "Yes");
		return *ret || !strcmp(value, "No") ? 0 : -EINVAL;
	}
	int rc = text_number(value, k->lo, k->hi, &n);
	if (!rc)
		*ret = (uint32_t)n;
	return rc;
}

static uint32_t combine(const struct iscsi_key *k, uint32_t a, uint32_t b)
{
	switch (k->kind) {
	case ISCSI_KIND_MAX:
	case ISCSI_KIND_OR:
		return a > b ? a : b;
	default:
		return min32(a, b);
	}
}

static int say(struct text_out *out, const struct iscsi_key *k, const char *value, struct err *e)
{
	if (text_append(out, k->name, value))
		return err_set(e, -ENOSPC, "%s: answer does not fit", k->name);
	return 0;
}

static int say_value(struct text_out *out, const struct iscsi_key *k, uint32_t v, struct err *e)
{
	char digits[16];
	if (is_boolean(k))
		return say(out, k, v ? "Yes" : "No", e);
	snprintf(digits, sizeof digits, "%u", v);
	return say(out, k, digits, e);
}

// The index of a value in the row, or -1.
static int index_of(const struct iscsi_key *k, const char *item, size_t len)
{
	for (int i = 0; k->values[i]; i++)
		if (strlen(k->values[i]) == len && !memcmp(k->values[i], item, len))
			return i;
	return -1;
}

static int answer_list(unsigned id, const char *value, const struct iscsi_offer *o,
		       struct iscsi_params *p, struct text_out *out, struct err *e)
{
	const struct iscsi_key *k = &iscsi_keys[id];
	const char *item;
	size_t len;
	while (text_list_next(&value, &item, &len)) {
		int i = index_of(k, item, len);
		if (i < 0 || !is_in_list(ours_of(id, o), (unsigned)i))
			continue;
		iscsi_key_store(id, p, (uint32_t)i);
		return say(out, k, k->values[i], e);
	}
	return say(out, k, "Reject", e);
}

static int declare(unsigned id, const char *value, struct iscsi_params *p, struct err *e)
{
	const struct iscsi_key *k = &iscsi_keys[id];
	uint32_t v;
	if (parse(k, value, &v))
		return err_set(e, -EPROTO, "%s: invalid value %.64s", k->name, value);
	iscsi_key_store(id, p, v);
	return 0;
}

int iscsi_key_answer(unsigned id, const char *value, const struct iscsi_offer *o,
		     struct iscsi_params *p, struct text_out *out, struct err *e)
{
	const struct iscsi_key *k = &iscsi_keys[id];
	uint32_t v;
	switch (k->kind) {
	case ISCSI_KIND_STRING:
		return 0;
	case ISCSI_KIND_DECLARE:
		return declare(id, value, p, e);
	case ISCSI_KIND_OBSOLETE:
		return say(out, k, k->values[0], e);
	case ISCSI_KIND_LIST:
		return answer_list(id, value, o, p, out, e);
	default:
		break;
	}
	if (k->flags & ISCSI_KEY_RDMA && !o->is_rdma && !is_boolean(k))
		return say(out, k, "Irrelevant", e);
	if (parse(k, value, &v))
		return say(out, k, "Reject", e);
	v = combine(k, v, ours_of(id, o));
	// iPXE offers FirstBurstLength where it has no meaning, and other initiators parse any
	// answer as a number: so the answer is always a number, and at most MaxBurstLength.
	if (id == ISCSI_KEY_FIRST_BURST_LENGTH)
		v = min32(v, p->max_burst);
	iscsi_key_store(id, p, v);
	return say_value(out, k, v, e);
}

bool iscsi_key_is_proposed(unsigned id, const struct iscsi_offer *o, bool is_discovery,
			   bool is_leading)
{
	const struct iscsi_key *k = &iscsi_keys[id];
	if (!(k->by & ISCSI_BY_INITIATOR) || !(k->in & ISCSI_IN_OPERATIONAL) ||
	    k->kind == ISCSI_KIND_STRING || k->kind == ISCSI_KIND_OBSOLETE)
		return false;
	if ((k->flags & ISCSI_KEY_RDMA && !o->is_rdma) || (k->flags & ISCSI_KEY_TCP && o->is_rdma))
		return false;
	if ((k->flags & ISCSI_KEY_NOT_DISCOVERY && is_discovery) ||
	    (k->flags & ISCSI_KEY_LEADING && !is_leading))
		return false;
	uint32_t standard = k->kind == ISCSI_KIND_LIST ? k->standard + 1 : k->standard;
	return !(k->flags & ISCSI_KEY_WHEN_SET) || o->value[id] != standard;
}

int iscsi_key_propose(unsigned id, const struct iscsi_offer *o, struct text_out *out)
{
	const struct iscsi_key *k = &iscsi_keys[id];
	uint32_t v = ours_of(id, o);
	if (k->kind != ISCSI_KIND_LIST)
		return say_value(out, k, v, NULL);
	char list[64] = "";
	for (size_t at = 0; v && at < sizeof list; v >>= 8)
		at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", at ? "," : "",
				       k->values[(v & 0xff) - 1]);
	return say(out, k, list, NULL);
}

// True if the offer ours allows the answer v.
static bool is_allowed(const struct iscsi_key *k, uint32_t v, uint32_t ours)
{
	return k->kind == ISCSI_KIND_DECLARE || combine(k, v, ours) == v;
}

static int accept_list(unsigned id, const char *value, const struct iscsi_offer *o,
		       struct iscsi_params *p, struct err *e)
{
	const struct iscsi_key *k = &iscsi_keys[id];
	int i = index_of(k, value, strlen(value));
	if (i < 0 || !is_in_list(ours_of(id, o), (unsigned)i))
		return err_set(e, -EPROTO, "%s: peer chose %.64s, which was not offered", k->name,
			       value);
	iscsi_key_store(id, p, (uint32_t)i);
	return 0;
}

int iscsi_key_accept(unsigned id, const char *value, const struct iscsi_offer *o,
		     struct iscsi_params *p, struct err *e)
{
	const struct iscsi_key *k = &iscsi_keys[id];
	uint32_t v;
	if (k->kind == ISCSI_KIND_DECLARE)
		return value ? declare(id, value, p, e) : 0;
	if (!value || is_reserved_answer(value)) {
		// Keeps the standard value, limited to what we offered.
		if (k->kind != ISCSI_KIND_LIST)
			iscsi_key_store(id, p, combine(k, k->standard, ours_of(id, o)));
		return 0;
	}
	if (k->kind == ISCSI_KIND_LIST)
		return accept_list(id, value, o, p, e);
	if (parse(k, value, &v) || !is_allowed(k, v, ours_of(id, o)))
		return err_set(e, -EPROTO, "%s: invalid answer %.64s", k->name, value);
	iscsi_key_store(id, p, v);
	return 0;
}

static int settle_list(unsigned id, const struct iscsi_params *p, const struct iscsi_offer *o,
		       struct err *e)
{
	const struct iscsi_key *k = &iscsi_keys[id];
	uint32_t v = iscsi_key_load(id, p);
	if (k->kind != ISCSI_KIND_LIST || k->dest == ISCSI_NO_DEST ||
	    k->flags & ISCSI_KEY_WHEN_SET || is_in_list(ours_of(id, o), v))
		return 0;
	return err_set(e, -EPROTO, "%s: peer requires %s, which is not enabled here", k->name,
		       k->values[v]);
}

int iscsi_params_settle(struct iscsi_params *p, const struct iscsi_offer *o, unsigned role_by,
			struct err *e)
{
	for (unsigned id = 0; id < ISCSI_KEY_COUNT; id++) {
		int rc = settle_list(id, p, o, e);
		if (rc)
			return rc;
	}
	p->first_burst = min32(p->first_burst, p->max_burst);
	if (!o->is_rdma) {
		p->max_send_data =
			min32(p->max_send_data, o->value[ISCSI_KEY_MAX_XMIT_DATA_SEGMENT_LENGTH]);
		return 0;
	}
	if (!p->rdma_extensions && !p->is_discovery)
		return err_set(e, -EPROTO, "RDMAExtensions: not negotiated over RDMA");
	bool is_target = role_by == ISCSI_BY_TARGET;
	p->max_recv_data = is_target ? p->target_recv_data : p->initiator_recv_data;
	p->max_send_data = is_target ? p->initiator_recv_data : p->target_recv_data;
	if (is_target && !p->is_discovery)
		p->max_send_data = min32(p->max_send_data, ISER_FFP_DATA_MAX);
	return 0;
}
