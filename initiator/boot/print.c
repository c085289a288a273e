// SPDX-License-Identifier: BSD-2-Clause
// An iBFT as text: records as iscsistart -f and iscsiadm print them, and JSON. Neither has a
// secret.
#include <json-c/json.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

#include "core/json/json.h"
#include "initiator/boot/ibft.h"

enum { VALUE_MAX = 256 };

// What a line is printed from.
struct subject {
	const struct ibft *ibft;
	const struct ibft_target *target;
	const struct ibft_nic *nic; // NULL: unknown
	const char *transport;
	ibft_interface_fn *interface;
};

// ---- values: empty if the table lacks them ----

typedef void value_fn(const struct subject *s, char ret[VALUE_MAX]);

static void number(char ret[VALUE_MAX], uint64_t n)
{
	snprintf(ret, VALUE_MAX, "%llu", (unsigned long long)n);
}

static void put(char ret[VALUE_MAX], const char *text)
{
	snprintf(ret, VALUE_MAX, "%s", text);
}

static void initiator_name(const struct subject *s, char ret[VALUE_MAX])
{
	put(ret, s->ibft->initiator.name);
}

static void transport(const struct subject *s, char ret[VALUE_MAX])
{
	put(ret, s->transport);
}

static void mac(const struct subject *s, char ret[VALUE_MAX])
{
	const uint8_t *m = s->nic->mac;
	if (s->nic->has_mac)
		snprintf(ret, VALUE_MAX, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3],
			 m[4], m[5]);
}

static void proto(const struct subject *s, char ret[VALUE_MAX])
{
	put(ret, ibft_is_dhcp(s->nic) ? "DHCP" : "STATIC");
}

#define ADDRESS(name, of)                                                                          \
	static void name(const struct subject *s, char ret[VALUE_MAX])                             \
	{                                                                                          \
		ibft_address_text(&(of), ret);                                                     \
	}
ADDRESS(nic_ip, s->nic->ip)
ADDRESS(gateway, s->nic->gateway)
ADDRESS(dns, s->nic->dns)
ADDRESS(dns2, s->nic->dns2)
ADDRESS(target_ip, s->target->ip)

static void prefix(const struct subject *s, char ret[VALUE_MAX])
{
	if (ibft_prefix(s->nic))
		number(ret, ibft_prefix(s->nic));
}

static void mask(const struct subject *s, char ret[VALUE_MAX])
{
	unsigned n = ibft_prefix(s->nic);
	uint32_t m = n ? UINT32_MAX << (32 - (n < 32 ? n : 32)) : 0;
	if (n && s->nic->ip.family == AF_INET)
		snprintf(ret, VALUE_MAX, "%u.%u.%u.%u", m >> 24, m >> 16 & 255, m >> 8 & 255,
			 m & 255);
}

static void vlan(const struct subject *s, char ret[VALUE_MAX])
{
	number(ret, s->nic->vlan);
}

static void interface(const struct subject *s, char ret[VALUE_MAX])
{
	if (s->interface)
		s->interface(s->nic, ret, IF_NAMESIZE);
}

static void target_name(const struct subject *s, char ret[VALUE_MAX])
{
	put(ret, s->target->name);
}

static void port(const struct subject *s, char ret[VALUE_MAX])
{
	number(ret, s->target->port ? s->target->port : IBFT_PORT);
}

static void user(const struct subject *s, char ret[VALUE_MAX])
{
	put(ret, s->target->user);
}

static void mutual_user(const struct subject *s, char ret[VALUE_MAX])
{
	put(ret, s->target->mutual_user);
}

static void boot_lun(const struct subject *s, char ret[VALUE_MAX])
{
	put(ret, s->target->lun_text);
}

// ---- lines ----

// clang-format off
static const struct line {
	const char *name;
	value_fn *value;
	bool is_of_nic;
	const char *json; // NULL: not in JSON
} lines[] = {
	{"iface.initiatorname", initiator_name, false, "initiator"},
	{"iface.transport_name", transport},
	{"iface.hwaddress", mac, true, "mac"},
	{"iface.bootproto", proto, true, "bootproto"},
	{"iface.ipaddress", nic_ip, true, "address"},
	{"iface.prefix_len", prefix, true, "prefix"},
	{"iface.subnet_mask", mask, true},
	{"iface.gateway", gateway, true, "gateway"},
	{"iface.primary_dns", dns, true, "primary_dns"},
	{"iface.secondary_dns", dns2, true, "secondary_dns"},
	{"iface.vlan_id", vlan, true, "vlan"},
	{"iface.net_ifacename", interface, true, "interface"},
	{"node.name", target_name, false, "target"},
	{"node.conn[0].address", target_ip, false, "portal_address"},
	{"node.conn[0].port", port, false, "portal_port"},
	{"node.session.auth.username", user, false, "chap_user"},
	{"node.session.auth.username_in", mutual_user, false, "chap_mutual_user"},
	{"node.boot_lun", boot_lun},
};
// clang-format on
enum { LINES = sizeof lines / sizeof *lines };

// Whether there is a value; it has no control characters, which would make lines of their own.
static bool value_of(const struct line *l, const struct subject *s, char ret[VALUE_MAX])
{
	ret[0] = 0;
	if (!l->is_of_nic || s->nic)
		l->value(s, ret);
	for (char *p = ret; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	return ret[0];
}

static bool is_shown(const struct ibft_target *t)
{
	return t->object.flags & IBFT_IS_VALID;
}

unsigned ibft_print(const struct ibft *i, const char *name, ibft_interface_fn *named, FILE *out)
{
	char value[VALUE_MAX];
	unsigned count = 0;
	for (unsigned t = 0; t < i->target_count; t++) {
		struct subject s = { i, &i->targets[t], ibft_nic_of(i, &i->targets[t]), name,
				     named };
		if (!is_shown(s.target))
			continue;
		count++;
		fprintf(out, "# BEGIN RECORD farblock-" FARBLOCK_VERSION "\n");
		for (unsigned n = 0; n < LINES; n++)
			if (value_of(&lines[n], &s, value))
				fprintf(out, "%s = %s\n", lines[n].name, value);
		fprintf(out, "# END RECORD\n");
	}
	return count;
}

static struct json_object *json_of(const struct subject *s)
{
	char value[VALUE_MAX];
	struct json_object *o = json_object_new_object();
	json_put_number(o, "number", s->target->object.number);
	for (unsigned n = 0; n < LINES; n++)
		if (lines[n].json && value_of(&lines[n], s, value))
			json_put_text(o, lines[n].json, value);
	if (s->target->has_lun)
		json_put_number(o, "lun", s->target->lun);
	json_object_object_add(o, "selected",
			       json_object_new_boolean(s->target->object.flags & IBFT_IS_SELECTED));
	if (s->target->object.fault.code)
		json_put_text(o, "error", s->target->object.fault.text);
	return o;
}

struct json_object *ibft_json(const struct ibft *i, ibft_interface_fn *named)
{
	struct json_object *list = json_object_new_array();
	for (unsigned t = 0; t < i->target_count && list; t++) {
		struct subject s = { i, &i->targets[t], ibft_nic_of(i, &i->targets[t]), NULL,
				     named };
		if (is_shown(s.target))
			json_object_array_add(list, json_of(&s));
	}
	return list;
}
