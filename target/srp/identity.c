// SPDX-License-Identifier: BSD-2-Clause
#include "target/srp/identity.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/srp/srp.h"

#define GUID_LEN 8

void port_name(const uint8_t id[SRP_PORT_ID_LEN], char out[PORT_NAME_SIZE])
{
	int at = snprintf(out, PORT_NAME_SIZE, "ib.");
	for (int i = 0; i < SRP_PORT_ID_LEN; i++)
		at += snprintf(out + at, (size_t)(PORT_NAME_SIZE - at), "%02x", id[i]);
}

bool port_id(const char *name, uint8_t ret[SRP_PORT_ID_LEN])
{
	const char *digits = name + strlen("ib.");
	if (strlen(name) != PORT_NAME_SIZE - 1 || strncmp(name, "ib.", 3) ||
	    strspn(digits, "0123456789abcdef") != 2 * SRP_PORT_ID_LEN)
		return false;
	for (int i = 0; i < SRP_PORT_ID_LEN; i++) {
		const char pair[] = { digits[2 * i], digits[2 * i + 1], 0 };
		ret[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return true;
}

// The digits of the GUID in "ib." and 32 hex digits: the last 16.
static const char *guid_digits(const char *name)
{
	return name + strlen("ib.") + 2 * GUID_LEN;
}

static bool guid_of(const char *name, char ret[2 * GUID_LEN + 1])
{
	uint8_t id[SRP_PORT_ID_LEN];
	if (port_id(name, id)) {
		memcpy(ret, guid_digits(name), 2 * GUID_LEN + 1);
		return true;
	}
	for (int i = 0; i < 19; i++)
		if (i % 5 == 4 ? name[i] != ':' : !strchr("0123456789abcdef", name[i]) || !name[i])
			return false;
	for (int i = 0; i < 4; i++)
		memcpy(ret + 4 * i, name + 5 * i, 4);
	ret[2 * GUID_LEN] = 0;
	return !name[19];
}

bool srp_is_same_initiator(const char *a, const char *b)
{
	char guid_a[2 * GUID_LEN + 1], guid_b[2 * GUID_LEN + 1];
	return guid_of(a, guid_a) && guid_of(b, guid_b) && !strcmp(guid_a, guid_b);
}

void srp_port_name(const char *target, uint16_t tag, char out[FABRIC_PORT_SIZE])
{
	snprintf(out, FABRIC_PORT_SIZE, "eui.%s", target + strlen("ib."));
}

const struct view_target *target_of_port(const struct view *v, const uint8_t id[SRP_PORT_ID_LEN],
					 struct err *e)
{
	char name[PORT_NAME_SIZE];
	port_name(id, name);
	const struct view_target *t = view_find_target(v, name);
	unsigned count = t ? 1 : 0;
	if (!t && !memcmp(id, id + GUID_LEN, GUID_LEN)) {
		for (unsigned i = 0; i < v->target_count; i++) {
			if (strlen(v->targets[i]->name) != PORT_NAME_SIZE - 1 ||
			    strcmp(guid_digits(v->targets[i]->name), guid_digits(name)))
				continue;
			t = v->targets[i];
			count++;
		}
	}
	if (count == 1)
		return t;
	if (count)
		err_set(e, -ENOENT, "%u targets have this ioc_guid (give the id_ext of one)",
			count);
	else
		err_set(e, -ENOENT,
			"no such target (check id_ext and ioc_guid; info of a target prints them)");
	return NULL;
}

static const struct view_acl *acl_of_address(const struct view_tpg *tpg,
					     const struct tcp_addr *peer)
{
	char text[INET6_ADDRSTRLEN];
	bool is_v6 = peer->sa.sa_family == AF_INET6;
	const void *ip =
		is_v6 ? (const void *)&peer->in6.sin6_addr : (const void *)&peer->in4.sin_addr;
	if (!is_v6 && peer->sa.sa_family != AF_INET)
		return NULL;
	return inet_ntop(peer->sa.sa_family, ip, text, sizeof text) ? view_find_acl(tpg, text)
								    : NULL;
}

const struct view_acl *acl_of_port(const struct view_tpg *tpg, const char *initiator,
				   const struct tcp_addr *peer)
{
	const struct view_acl *acl = view_find_acl(tpg, initiator);
	char guid[sizeof "xxxx:xxxx:xxxx:xxxx"];
	if (!acl && strlen(initiator) == PORT_NAME_SIZE - 1) {
		const char *d = guid_digits(initiator);
		snprintf(guid, sizeof guid, "%.4s:%.4s:%.4s:%.4s", d, d + 4, d + 8, d + 12);
		acl = view_find_acl(tpg, guid);
	}
	return acl || !peer ? acl : acl_of_address(tpg, peer);
}
