// SPDX-License-Identifier: BSD-2-Clause
// I_T nexuses by the names of their ports, and their TransportIDs. Pure functions but for
// scsi_session_nexus(). RFC 7143 4.4.2, SPC-5 7.6.4.
#include <string.h>

#include "initiator/scsi_protocol.h"
#include "transport/wire/be.h"

void scsi_session_nexus(const struct scsi_session *s, struct scsi_nexus *ret)
{
	s->protocol.nexus(s, ret);
}

bool scsi_nexus_is_same(const struct scsi_nexus *a, const struct scsi_nexus *b)
{
	return a->protocol == b->protocol && !strcmp(a->initiator, b->initiator) &&
	       !strcmp(a->target, b->target);
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;
	return at ? (int)(at - digits) : -1;
}

// FORMAT CODE 00b; 24 bytes, the port identifier at byte 8 [SPC-5 7.6.4.5].
static uint32_t srp_id(const char *port, uint8_t *ret, uint32_t size)
{
	enum { LEN = 24, AT = 8, ID = 16 };
	if (size < LEN || strlen(port) != 2 * ID)
		return 0;
	memset(ret, 0, LEN);
	ret[0] = SCSI_NEXUS_SRP;
	for (unsigned i = 0; i < ID; i++) {
		int hi = hex_digit(port[2 * i]), lo = hex_digit(port[2 * i + 1]);
		if (hi < 0 || lo < 0)
			return 0;
		ret[AT + i] = (uint8_t)(hi << 4 | lo);
	}
	return LEN;
}

// FORMAT CODE 01b: the port's name, padded with zeros to a multiple of 4, at least 20 bytes after
// the header [SPC-5 7.6.4.6].
static uint32_t iscsi_id(const char *port, uint8_t *ret, uint32_t size)
{
	uint32_t len = (uint32_t)strlen(port) + 1, room = len < 20 ? 20 : (len + 3) & ~3u;
	if (size < 4 + room)
		return 0;
	memset(ret, 0, 4 + room);
	ret[0] = 0x40 | SCSI_NEXUS_ISCSI;
	put_be16(ret + 2, (uint16_t)room);
	memcpy(ret + 4, port, len);
	return 4 + room;
}

uint32_t scsi_nexus_transport_id(const struct scsi_nexus *n, uint8_t *ret, uint32_t size)
{
	if (n->protocol == SCSI_NEXUS_ISCSI)
		return iscsi_id(n->initiator, ret, size);
	return n->protocol == SCSI_NEXUS_SRP ? srp_id(n->initiator, ret, size) : 0;
}
