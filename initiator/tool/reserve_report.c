// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator reserve report: keys, reservation, registrations and capabilities, as text or
// JSON. The program's thread. SPC-5 6.15. What follows the keys and the reservation is optional in
// the standard: a target without it is reported without it.
#include <errno.h>
#include <json-c/json.h>

#include "initiator/tool/reserve.h"

#define KEY_TEXT 24

struct report {
	struct tool *t;
	uint8_t *buf;
	json_object *json; // NULL: text
};

static int ask(struct tool *t, uint8_t action, uint8_t *buf, uint32_t *ret_len, struct err *e)
{
	struct scsi_args args = { .len = RESERVE_DATA_MAX, .flags = action };
	return tool_data_in(t->sync, t->lun, SCSI_PR_IN, &args, buf, RESERVE_DATA_MAX, ret_len, e);
}

static int ask_list(struct tool *t, uint8_t action, uint8_t *buf, struct pr_list *ret,
		    struct err *e)
{
	uint32_t n;
	int r = ask(t, action, buf, &n, e);
	if (!r && !pr_list_parse(ret, buf, n))
		r = err_set(e, -EPROTO, "PERSISTENT RESERVE IN: short answer: %u bytes", n);
	return r;
}

int reserve_state_read(struct tool *t, uint8_t *buf, struct reserve_state *ret, struct err *e)
{
	struct pr_list l;
	int r = ask_list(t, PR_READ_KEYS, buf, &l, e);
	if (r)
		return r;
	ret->generation = l.generation;
	ret->registrations = l.len / 8;
	r = ask_list(t, PR_READ_RESERVATION, buf, &l, e);
	if (!r)
		ret->is_held = pr_reservation_parse(&l, &ret->held);
	return r;
}

const char *reserve_held_text(const struct reserve_state *s, char ret[RESERVE_TEXT])
{
	if (!s->is_held)
		snprintf(ret, RESERVE_TEXT, "none");
	else
		snprintf(ret, RESERVE_TEXT, "%s, key 0x%lx", pr_type_name(s->held.type),
			 (unsigned long)s->held.key);
	return ret;
}

static json_object *json_key(uint64_t key)
{
	char text[KEY_TEXT];
	snprintf(text, sizeof text, "0x%lx", (unsigned long)key);
	return json_object_new_string(text);
}

static void add_flag(json_object *to, const char *key, const char *label, bool value)
{
	if (to)
		json_object_object_add(to, key, json_object_new_boolean(value));
	else
		printf("  %-50s %s\n", label, value ? "yes" : "no");
}

// --- keys and reservation ---

static void show_state(struct report *p, const struct reserve_state *s)
{
	char text[RESERVE_TEXT];
	if (!p->json) {
		printf("%-24s %u\n", "Generation", s->generation);
		printf("%-24s %s\n", "Reservation", reserve_held_text(s, text));
		return;
	}
	json_object *o = s->is_held ? json_object_new_object() : NULL;
	if (o) {
		json_object_object_add(o, "key", json_key(s->held.key));
		json_object_object_add(o, "type",
				       json_object_new_string(pr_type_name(s->held.type)));
	}
	json_object_object_add(p->json, "generation", json_object_new_int64(s->generation));
	json_object_object_add(p->json, "reservation", o);
}

static int show_keys(struct report *p, struct err *e)
{
	struct pr_list l;
	uint64_t key;
	int r = ask_list(p->t, PR_READ_KEYS, p->buf, &l, e);
	if (r)
		return r;
	json_object *list = p->json ? json_object_new_array() : NULL;
	if (!list && l.len < 8)
		printf("%-24s none\n", "Keys");
	for (uint32_t i = 0; pr_key_at(&l, i, &key); i++)
		if (list)
			json_object_array_add(list, json_key(key));
		else
			printf("%-24s 0x%lx\n", i ? "" : "Keys", (unsigned long)key);
	if (list)
		json_object_object_add(p->json, "keys", list);
	if (l.is_cut)
		tool_say("there are more keys than the answer has room for");
	return 0;
}

// --- registrations ---

static json_object *json_registration(const struct pr_registration *r)
{
	json_object *o = json_object_new_object();
	json_object_object_add(o, "key", json_key(r->key));
	json_object_object_add(o, "initiator", json_object_new_string(r->port));
	json_object_object_add(o, "holder", json_object_new_boolean(r->is_holder));
	json_object_object_add(o, "all_target_ports", json_object_new_boolean(r->has_all_ports));
	if (!r->has_all_ports)
		json_object_object_add(o, "target_port", json_object_new_int(r->relative_port));
	return o;
}

static void print_registration(const struct pr_registration *r)
{
	char port[32];
	snprintf(port, sizeof port, "port %u", r->relative_port);
	printf("%-24s key 0x%lx, target %s%s\n%-24s %s\n", "Registration", (unsigned long)r->key,
	       r->has_all_ports ? "all ports" : port, r->is_holder ? ", holds the reservation" : "",
	       "", r->port);
}

static void show_registrations(struct report *p)
{
	struct pr_list l;
	struct pr_registration one;
	struct err e;
	uint32_t at = 0;
	if (ask_list(p->t, PR_READ_FULL_STATUS, p->buf, &l, &e)) {
		tool_say("no full status: %s", e.text);
		return;
	}
	json_object *list = p->json ? json_object_new_array() : NULL;
	while (pr_registration_next(&l, &at, &one))
		if (list)
			json_object_array_add(list, json_registration(&one));
		else
			print_registration(&one);
	if (list)
		json_object_object_add(p->json, "registrations", list);
	if (l.is_cut || at < l.len)
		tool_say("the full status is cut off, or malformed, after %u bytes", at);
}

// --- capabilities ---

static void show_types(const struct pr_capabilities *c, json_object *to)
{
	json_object *list = to ? json_object_new_array() : NULL;
	for (uint8_t type = 1; type <= 8; type++) {
		if (!(c->types >> type & 1))
			continue;
		if (list)
			json_object_array_add(list, json_object_new_string(pr_type_name(type)));
		else
			printf("  %-50s %s\n", "type", pr_type_name(type));
	}
	if (list)
		json_object_object_add(to, "types", list);
}

static void show_capabilities(struct report *p)
{
	struct pr_capabilities c;
	struct err e;
	uint32_t n;
	int r = ask(p->t, PR_REPORT_CAPABILITIES, p->buf, &n, &e);
	if (r || !pr_capabilities_parse(&c, p->buf, n)) {
		tool_say("no capabilities: %s", r ? e.text : "short answer");
		return;
	}
	json_object *o = p->json ? json_object_new_object() : NULL;
	if (!o)
		printf("Capabilities\n");
	add_flag(o, "persists", "can persist over power loss", c.persists);
	add_flag(o, "is_persistent", "persists over power loss now", c.is_persistent);
	add_flag(o, "all_target_ports", "all target ports at once", c.all_ports);
	add_flag(o, "specified_initiator_ports", "can register other initiators' ports (SPEC_I_PT)",
		 c.specified_ports);
	add_flag(o, "compatible_reserve", "SPC-2 RESERVE allowed too (CRH)", c.compatible_reserve);
	add_flag(o, "replaces_lost", "REPLACE LOST RESERVATION", c.replaces_lost);
	if (c.has_types)
		show_types(&c, o);
	if (o)
		json_object_object_add(p->json, "capabilities", o);
}

int reserve_report(struct tool *t, uint8_t *buf, struct err *e)
{
	struct report p = { .t = t, .buf = buf };
	struct reserve_state s = { 0 };
	int r = reserve_state_read(t, buf, &s, e);
	if (r)
		return r;
	if (t->o.is_json)
		p.json = json_object_new_object();
	show_state(&p, &s);
	r = show_keys(&p, e);
	if (!r) {
		show_registrations(&p);
		show_capabilities(&p);
	}
	if (!r && p.json)
		printf("%s\n", json_object_to_json_string_ext(p.json, JSON_C_TO_STRING_PRETTY));
	json_object_put(p.json);
	return r;
}
