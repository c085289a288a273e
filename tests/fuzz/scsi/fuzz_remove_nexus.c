// SPDX-License-Identifier: BSD-2-Clause
// The parameter list of REMOVE I_T NEXUS: what is taken is in bounds, and in the form in which
// nexuses have their names.
#include <stdlib.h>
#include <string.h>

#include "target/scsi/reservations/transport_id.h"
#include "target/scsi/sense.h"
#include "target/scsi/spc/remove_nexus.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_name(const struct nexus_name *n)
{
	struct pr_tid tid;
	size_t used;
	must(n->transport_id_len <= PR_TID_MAX);
	must(!pr_tid_parse(&tid, n->transport_id, n->transport_id_len, &used));
	must(used == n->transport_id_len && tid.len == used);
	must(!memcmp(tid.bytes, n->transport_id, used));
	must(!tid.name_len || tid.has_isid);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct nexus_list list;
	int field;
	if (size > 65536)
		return 0;
	uint8_t *exact = malloc(size ? size : 1);
	memcpy(exact, data, size);
	uint32_t code = nexus_list_parse(&list, exact, (uint32_t)size, &field);
	must(!code || code == SENSE_PARAM_LIST_LENGTH || code == SENSE_INVALID_FIELD_PARAM);
	must(field < (int)size && (field < 0) == (code != SENSE_INVALID_FIELD_PARAM));
	must(list.count <= NEXUS_REMOVALS_MAX);
	for (unsigned i = 0; i < list.count; i++) {
		must(list.at[i] < size);
		check_name(&list.names[i]);
	}
	free(exact);
	return 0;
}
