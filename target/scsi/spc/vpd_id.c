// SPDX-License-Identifier: BSD-2-Clause
// Device Identification and SCSI Ports (SPC-4 7.8.6, 7.8.15). The logical unit's names are
// the same over every path, transport and restart. Task's worker.
#include <string.h>

#include "target/scsi/alua/access.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/spc/inquiry.h"
#include "target/scsi/task.h"
#include "transport/wire/be.h"

enum {
	CODE_BINARY = 1,
	CODE_ASCII = 2,
	CODE_UTF8 = 3,
	PIV = 0x80,
	ASSOC_LU = 0x00,
	ASSOC_PORT = 0x10,
	ASSOC_TARGET = 0x20,
	TYPE_T10 = 1,
	TYPE_NAA = 3,
	TYPE_RELATIVE_PORT = 4,
	TYPE_PORT_GROUP = 5,
	TYPE_NAME = 8,
	NAME_MAX_LEN = 256,
	PORT_HEADER = 12,
};

// Each adds one designator at out and returns its length, header included.
static unsigned add_header(uint8_t *out, uint8_t code_set, uint8_t kind, unsigned len)
{
	out[0] = code_set;
	out[1] = kind;
	out[2] = 0;
	out[3] = (uint8_t)len;
	return 4 + len;
}

static unsigned add_naa(uint8_t *out, const struct lu *lu)
{
	memcpy(out + 4, lu->naa, 16);
	return add_header(out, CODE_BINARY, ASSOC_LU | TYPE_NAA, 16);
}

// Vendor and what makes it unique: product and serial (SPC-4 7.8.6.4).
static unsigned add_t10(uint8_t *out, const struct lu *lu)
{
	size_t serial = strlen(lu->unit_serial);
	inquiry_text(out + 4, lu->attr.vendor, 8);
	inquiry_product(out + 12, lu);
	memcpy(out + 28, lu->unit_serial, serial);
	return add_header(out, CODE_ASCII, ASSOC_LU | TYPE_T10, 24 + (unsigned)serial);
}

static uint8_t of_protocol(uint8_t protocol, uint8_t code_set)
{
	return (uint8_t)(protocol << 4 | code_set);
}

static unsigned add_number(uint8_t protocol, uint8_t *out, uint8_t type, uint16_t number)
{
	put_be16(out + 4, 0);
	put_be16(out + 6, number);
	return add_header(out, of_protocol(protocol, CODE_BINARY),
			  (uint8_t)(PIV | ASSOC_PORT | type), 4);
}

// SCSI name string: UTF-8, at least one NUL, padded to a multiple of four. Names longer than the
// field are omitted, since a truncated name identifies another device.
static unsigned add_name(uint8_t protocol, uint8_t *out, uint8_t assoc, const char *name)
{
	size_t len = strlen(name);
	unsigned padded = (unsigned)((len + 4) & ~(size_t)3);
	if (!len || padded >= NAME_MAX_LEN)
		return 0;
	memset(out + 4, 0, padded);
	memcpy(out + 4, name, len);
	return add_header(out, of_protocol(protocol, CODE_UTF8), (uint8_t)(PIV | assoc | TYPE_NAME),
			  padded);
}

unsigned vpd_device_id(const struct task *t, uint8_t *out)
{
	const struct nexus_info *info = &t->nexus->info;
	uint8_t protocol = (uint8_t)info->protocol;
	unsigned n = 4;
	n += add_naa(out + n, t->lu);
	n += add_t10(out + n, t->lu);
	n += add_number(protocol, out + n, TYPE_RELATIVE_PORT, info->relative_port);
	n += add_number(protocol, out + n, TYPE_PORT_GROUP, t->nl->alua_group);
	n += add_name(protocol, out + n, ASSOC_PORT, info->target_port);
	n += add_name(protocol, out + n, ASSOC_TARGET, info->target_name);
	return n;
}

// A SCSI port identification descriptor at n, without an initiator port. Returns the position of
// the next one: n if there is no room.
static unsigned add_port(uint8_t *out, unsigned n, uint16_t relative_port, uint8_t protocol,
			 const char *name)
{
	if (n + PORT_HEADER + 4 + NAME_MAX_LEN > VPD_PORTS_MAX)
		return n;
	put_be16(out + n + 2, relative_port);
	unsigned len = add_name(protocol, out + n + PORT_HEADER, ASSOC_PORT, name);
	put_be16(out + n + 10, (uint16_t)len);
	return n + PORT_HEADER + len;
}

// All ports that lead to the logical unit, as REPORT TARGET PORT GROUPS has them: those of the
// SCSI target device, and those of others that share the unit. The port of this path is listed even
// if it is not registered.
unsigned vpd_scsi_ports(const struct task *t, uint8_t *out)
{
	const struct nexus_info *info = &t->nexus->info;
	const struct alua *a = t->lu->alua;
	uint8_t protocol = (uint8_t)info->protocol;
	bool has_own = false;
	unsigned n = 4;
	pthread_mutex_lock(&t->lu->lock);
	for (uint32_t i = 0; i < a->nports; i++) {
		const struct alua_port *p = &a->ports[i];
		if (!has_own && p->relative_port > info->relative_port)
			n = add_port(out, n, info->relative_port, protocol, info->target_port);
		has_own = has_own || p->relative_port >= info->relative_port;
		n = add_port(out, n, p->relative_port, p->protocol, p->name);
	}
	pthread_mutex_unlock(&t->lu->lock);
	return has_own ? n : add_port(out, n, info->relative_port, protocol, info->target_port);
}
