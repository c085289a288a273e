// SPDX-License-Identifier: BSD-2-Clause
// IBA volume 1, 16.3: an attribute is a row.
#include "transport/srp/dm_mad.h"

#include <string.h>

#include "transport/srp/iu.h"
#include "transport/wire/be.h"

enum {
	RESPONSE_TIME = 20,   // 4 s
	SERVICES = 1,	      // of a controller
	SERVICES_A_REPLY = 4, // that have room in it
	SEND_DEPTH = 128,
	READ_DEPTH = 16,
	RDMA_SIZE = 1 << 24,
};

static enum dm_status class_port_info(const struct srp_io_unit *u, uint32_t modifier, uint8_t *data)
{
	struct dm_class_port_info *i = (struct dm_class_port_info *)data;

	if (modifier)
		return DM_BAD_FIELD;
	i->base_version = DM_BASE_VERSION;
	i->class_version = DM_CLASS_VERSION;
	i->response_time = RESPONSE_TIME;
	return DM_OK;
}

static unsigned slot_state(const struct srp_io_unit *u, unsigned slot)
{
	return slot < u->count ? DM_SLOT_PRESENT : DM_SLOT_NONE;
}

static enum dm_status io_unit_info(const struct srp_io_unit *u, uint32_t modifier, uint8_t *data)
{
	struct dm_io_unit_info *i = (struct dm_io_unit_info *)data;

	if (modifier)
		return DM_BAD_FIELD;
	put_be16(i->change_id, u->change_id);
	i->max_controllers = (uint8_t)u->count;
	for (unsigned n = 0; n < sizeof i->slots; n++)
		i->slots[n] = (uint8_t)(slot_state(u, 2 * n) << 4 | slot_state(u, 2 * n + 1));
	return DM_OK;
}

// Slots are numbered from 1.
static enum dm_status find_slot(const struct srp_io_unit *u, uint32_t slot,
				const struct srp_controller **ret)
{
	if (slot < 1 || slot > DM_SLOTS_MAX)
		return DM_BAD_FIELD;
	if (slot > u->count)
		return DM_NO_CONTROLLER;
	*ret = &u->controllers[slot - 1];
	return DM_OK;
}

static enum dm_status controller_profile(const struct srp_io_unit *u, uint32_t modifier,
					 uint8_t *data)
{
	struct dm_controller_profile *p = (struct dm_controller_profile *)data;
	const struct srp_controller *c;
	enum dm_status s = find_slot(u, modifier, &c);

	if (s)
		return s;
	memcpy(p->guid, c->ioc_guid, sizeof p->guid);
	put_be16(p->io_class, DM_SRP_IO_CLASS);
	put_be16(p->io_subclass, DM_SRP_IO_SUBCLASS);
	put_be16(p->protocol, DM_SRP_PROTOCOL);
	put_be16(p->protocol_version, DM_SRP_PROTOCOL_VERSION);
	put_be16(p->connections, UINT16_MAX);
	put_be16(p->initiators, UINT16_MAX);
	put_be16(p->send_depth, SEND_DEPTH);
	p->read_depth = READ_DEPTH;
	put_be32(p->send_size, SRP_IT_IU_MAX);
	put_be32(p->rdma_size, RDMA_SIZE);
	p->operations = DM_SEND_TO | DM_SEND_FROM | DM_READ_FROM | DM_WRITE_FROM;
	p->services = SERVICES;
	memcpy(p->id, c->name, strnlen(c->name, sizeof p->id - 1));
	return DM_OK;
}

static void service_name(uint8_t out[DM_NAME_LEN], const uint8_t id_ext[8])
{
	static const char prefix[] = "SRP.T10:", digits[] = "0123456789abcdef";

	memcpy(out, prefix, sizeof prefix - 1);
	out += sizeof prefix - 1;
	for (unsigned i = 0; i < 8; i++) {
		*out++ = (uint8_t)digits[id_ext[i] >> 4];
		*out++ = (uint8_t)digits[id_ext[i] & 15];
	}
}

static enum dm_status service_entries(const struct srp_io_unit *u, uint32_t modifier, uint8_t *data)
{
	struct dm_service *entry = (struct dm_service *)data;
	uint32_t first = modifier & 0xff, last = modifier >> 8 & 0xff;
	const struct srp_controller *c;
	enum dm_status s = find_slot(u, modifier >> 16, &c);

	if (s)
		return s;
	if (first > last || last >= SERVICES || last - first >= SERVICES_A_REPLY)
		return DM_BAD_FIELD;
	for (uint32_t i = first; i <= last; i++, entry++) {
		service_name(entry->name, c->id_ext);
		put_be64(entry->id, c->service_id);
	}
	return DM_OK;
}

static const struct attribute {
	enum dm_attribute attribute;
	bool can_set; // accepted without effect: there are no traps to be sent
	enum dm_status (*get)(const struct srp_io_unit *u, uint32_t modifier, uint8_t *data);
} attributes[] = {
	{DM_CLASS_PORT_INFO,     true,  class_port_info   },
	{ DM_IO_UNIT_INFO,	   false, io_unit_info      },
	{ DM_CONTROLLER_PROFILE, false, controller_profile},
	{ DM_SERVICE_ENTRIES,    false, service_entries   },
};

static enum dm_status answer(const struct srp_io_unit *u, const struct dm_mad *m, uint8_t *data)
{
	if (m->base_version != DM_BASE_VERSION || m->class_version != DM_CLASS_VERSION)
		return DM_BAD_VERSION;
	if (m->method != DM_GET && m->method != DM_SET)
		return DM_BAD_METHOD;
	for (unsigned i = 0; i < sizeof attributes / sizeof *attributes; i++) {
		const struct attribute *a = &attributes[i];
		if (a->attribute == get_be16(m->attribute))
			return m->method == DM_GET || a->can_set
				       ? a->get(u, get_be32(m->modifier), data)
				       : DM_BAD_ATTRIBUTE;
	}
	return DM_BAD_ATTRIBUTE;
}

// Methods without a response are none that this class takes.
static bool is_request(const struct dm_mad *m)
{
	return m->mgmt_class == DM_CLASS && !(m->method & DM_RESPONSE) && m->method != DM_SEND &&
	       m->method != DM_TRAP && m->method != DM_TRAP_REPRESS;
}

bool srp_dm_answer(const struct srp_io_unit *u, const void *mad, size_t len, struct dm_mad *reply)
{
	struct dm_mad m;

	if (len != sizeof m)
		return false;
	memcpy(&m, mad, sizeof m);
	if (!is_request(&m))
		return false;
	*reply = (struct dm_mad){
		.base_version = DM_BASE_VERSION,
		.mgmt_class = DM_CLASS,
		.class_version = DM_CLASS_VERSION,
		.method = m.method == DM_SET ? DM_GET | DM_RESPONSE : m.method | DM_RESPONSE,
	};
	memcpy(reply->tid, m.tid, sizeof m.tid);
	memcpy(reply->attribute, m.attribute, sizeof m.attribute);
	memcpy(reply->modifier, m.modifier, sizeof m.modifier);
	put_be16(reply->status, answer(u, &m, reply->data));
	return true;
}
