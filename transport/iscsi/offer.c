// SPDX-License-Identifier: BSD-2-Clause
// The values that a side accepts, set and shown by key name.
#include "transport/iscsi/keys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void iscsi_offer_init(struct iscsi_offer *o)
{
	o->is_rdma = false;
	for (unsigned id = 0; id < ISCSI_KEY_COUNT; id++)
		o->value[id] = iscsi_keys[id].ours;
}

static int find_config(const char *name)
{
	for (int id = 0; id < ISCSI_KEY_COUNT; id++)
		if (iscsi_keys[id].flags & ISCSI_KEY_CONFIG && !strcmp(iscsi_keys[id].name, name))
			return id;
	return -1;
}

static bool is_boolean(const struct iscsi_key *k)
{
	return k->kind == ISCSI_KIND_AND || k->kind == ISCSI_KIND_OR;
}

static void describe(const struct iscsi_key *k, char *ret, size_t size)
{
	if (k->kind == ISCSI_KIND_LIST) {
		size_t at = 0;
		for (const char *const *v = k->values; *v && at < size; v++)
			at += (size_t)snprintf(ret + at, size - at, "%s%s", at ? "," : "", *v);
	} else if (is_boolean(k)) {
		snprintf(ret, size, k->ours_lo ? "only Yes" : "Yes or No");
	} else if (k->ours_lo == k->ours_hi) {
		snprintf(ret, size, "only %u", k->ours_lo);
	} else {
		snprintf(ret, size, "%u to %u", k->ours_lo, k->ours_hi);
	}
}

static int parse_list(const struct iscsi_key *k, const char *value, uint32_t *ret)
{
	const char *item;
	size_t len;
	unsigned count = 0, seen = 0;
	*ret = 0;
	while (text_list_next(&value, &item, &len)) {
		unsigned i = 0;
		while (k->values[i] &&
		       (strlen(k->values[i]) != len || strncasecmp(k->values[i], item, len)))
			i++;
		if (!k->values[i] || seen & (1u << i) || count == 4)
			return -EINVAL;
		seen |= 1u << i;
		*ret |= (i + 1) << (8 * count++);
	}
	return 0;
}

static int parse(const struct iscsi_key *k, const char *value, uint32_t *ret)
{
	uint64_t n;
	if (k->kind == ISCSI_KIND_LIST)
		return parse_list(k, value, ret);
	if (is_boolean(k)) {
		if (strcasecmp(value, "Yes") && strcasecmp(value, "No"))
			return -EINVAL;
		n = !strcasecmp(value, "Yes");
		if (n < k->ours_lo)
			return -ERANGE;
	} else {
		int rc = text_number(value, k->ours_lo, k->ours_hi, &n);
		if (rc)
			return rc;
	}
	*ret = (uint32_t)n;
	return 0;
}

// The protocol has no markers any more, but files written for other targets still contain them.
static int set_obsolete(const char *name, const char *value, struct err *e)
{
	int id = iscsi_key_find(name, strlen(name));
	if (id < 0 || iscsi_keys[id].kind != ISCSI_KIND_OBSOLETE)
		return err_set(e, -ENOENT, "%.64s: no such parameter", name);
	if (strcasecmp(value, iscsi_keys[id].values[0]))
		return err_set(e, -EINVAL, "%s: %.64s is obsolete (only %s)", name, value,
			       iscsi_keys[id].values[0]);
	return 0;
}

int iscsi_offer_set(struct iscsi_offer *o, const char *name, const char *value, struct err *e)
{
	int id = find_config(name);
	if (id < 0)
		return set_obsolete(name, value, e);
	uint32_t parsed;
	int rc = parse(&iscsi_keys[id], value, &parsed);
	if (rc) {
		char range[64];
		describe(&iscsi_keys[id], range, sizeof range);
		return err_set(e, rc, "%s: invalid value '%.64s' (%s)", name, value, range);
	}
	o->value[id] = parsed;
	return 0;
}

static int format(unsigned id, uint32_t value, char *ret, size_t size)
{
	const struct iscsi_key *k = &iscsi_keys[id];
	size_t at = 0;
	if (k->kind != ISCSI_KIND_LIST) {
		int n = is_boolean(k) ? snprintf(ret, size, "%s", value ? "Yes" : "No")
				      : snprintf(ret, size, "%u", value);
		return n < 0 || (size_t)n >= size ? -ENOSPC : 0;
	}
	for (; value; value >>= 8) {
		int n = snprintf(ret + at, size - at, "%s%s", at ? "," : "",
				 k->values[(value & 0xff) - 1]);
		if (n < 0 || (size_t)n >= size - at)
			return -ENOSPC;
		at += (size_t)n;
	}
	return 0;
}

int iscsi_offer_get(const struct iscsi_offer *o, const char *name, char *ret, size_t size)
{
	int id = find_config(name);
	return id < 0 ? -ENOENT : format((unsigned)id, o->value[id], ret, size);
}

bool iscsi_offer_next(unsigned *at, struct iscsi_offer_row *ret)
{
	while (*at < ISCSI_KEY_COUNT && !(iscsi_keys[*at].flags & ISCSI_KEY_CONFIG))
		++*at;
	if (*at >= ISCSI_KEY_COUNT)
		return false;
	const struct iscsi_key *k = &iscsi_keys[*at];
	ret->name = k->name;
	ret->type = k->kind == ISCSI_KIND_LIST ? "list" : is_boolean(k) ? "boolean" : "number";
	ret->help = k->help;
	describe(k, ret->range, sizeof ret->range);
	format(*at, k->ours, ret->def, sizeof ret->def);
	++*at;
	return true;
}
