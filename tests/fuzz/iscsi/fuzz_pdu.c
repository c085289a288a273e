// SPDX-License-Identifier: BSD-2-Clause
// Header checks and AHS. First byte: role and phase; then a header, then AHS.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "transport/iscsi/pdu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct iscsi_pdu pdu;
	struct iscsi_ahs_info info;
	struct err e;
	if (size < 1 + ISCSI_BHS_LEN)
		return 0;
	enum iscsi_role role = data[0] & 1 ? ISCSI_ROLE_INITIATOR : ISCSI_ROLE_TARGET;
	enum iscsi_phase phase = (enum iscsi_phase)((data[0] >> 1) % 3);
	int rc = iscsi_pdu_check(role, phase, data + 1, 65536, &pdu, &e);
	if ((rc >= 0 && pdu.data_len > 65536) || (rc > 0 && role == ISCSI_ROLE_INITIATOR) ||
	    (pdu.data_len + pdu.pad_len) % 4)
		abort();
	const uint8_t *ahs = data + 1 + ISCSI_BHS_LEN;
	size_t len = size - 1 - ISCSI_BHS_LEN;
	if (iscsi_ahs_parse(ahs, len, &info, &e) == 0 && info.cdb_ext &&
	    (info.cdb_ext < ahs || info.cdb_ext_len > len ||
	     info.cdb_ext + info.cdb_ext_len > ahs + len ||
	     info.cdb_ext_len + ISCSI_CDB_LEN > ISCSI_CDB_MAX))
		abort();
	return 0;
}
