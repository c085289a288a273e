// SPDX-License-Identifier: BSD-2-Clause
// A whole connection to a portal with a RAM disk behind it: bytes through login into commands.
// Byte 0: how it begins (nothing said yet, or logged in, with digests of both kinds off). Then
// records of a control byte, a header and as many bytes as that tells of (or as are left). The
// control byte has a number or a LUN that fits filled in, so that commands are reached.
#include "portal_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RAW, NORMAL, UNSOLICITED, DISCOVERY, BEGINNINGS };
enum { FIX_SN = 1, FIX_LUN = 2, FIX_ITT = 4 };

static size_t login(uint8_t how, uint8_t *out)
{
	static const char normal[] = "InitiatorName=" NAME "i\0TargetName=" NAME "\0";
	static const char unsolicited[] = "InitiatorName=" NAME "i\0TargetName=" NAME "\0"
					  "InitialR2T=No\0FirstBurstLength=4096\0"
					  "MaxBurstLength=4096\0MaxOutstandingR2T=4\0"
					  "iSCSIProtocolLevel=2\0";
	static const char discovery[] = "InitiatorName=" NAME "i\0SessionType=Discovery\0";
	static const struct words texts[] = {
		[NORMAL] = {normal,	     sizeof normal - 1     },
		[UNSOLICITED] = { unsolicited, sizeof unsolicited - 1},
		[DISCOVERY] = { discovery,   sizeof discovery - 1	},
	};
	size_t len = login_pdu(out, &texts[how]);
	return len + (-len & 3);
}

static void fix(uint8_t *h, uint8_t how, uint32_t *cmd_sn)
{
	uint8_t opcode = h[0] & 0x3f;
	if (how & FIX_SN && opcode != 5 && opcode != 0x10) {
		put_be32(h + 24, *cmd_sn);
		*cmd_sn += !(h[0] & 0x40);
	}
	if (how & FIX_LUN)
		memset(h + 8, 0, 8);
	if (how & FIX_ITT)
		put_be32(h + 16, h[19] & 15);
}

static size_t records(const uint8_t *in, size_t size, uint8_t *out)
{
	uint32_t cmd_sn = 0;
	size_t n = 0;
	while (size > ISCSI_BHS_LEN) {
		const uint8_t *h = in + 1;
		size_t more = h[4] * 4u + (size_t)get_be24(h + 5), rest = size - 1 - ISCSI_BHS_LEN;
		more = more < rest ? more : rest;
		memcpy(out + n, h, ISCSI_BHS_LEN + more);
		fix(out + n, in[0], &cmd_sn);
		n += ISCSI_BHS_LEN + more;
		memset(out + n, 0, 3);
		n += -more & 3;
		in += 1 + ISCSI_BHS_LEN + more;
		size -= 1 + ISCSI_BHS_LEN + more;
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	start();
	if (size < 2 || size > 32768)
		return 0;
	uint8_t how = data[0] % BEGINNINGS, *wire = malloc(size * 2 + 1024);
	size_t n = how == RAW ? 0 : login(how, wire);
	if (how == RAW) {
		memcpy(wire, data + 1, size - 1);
		n = size - 1;
	} else {
		n += records(data + 1, size - 1, wire + n);
	}
	converse(wire, n);
	free(wire);
	return 0;
}
