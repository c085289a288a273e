// SPDX-License-Identifier: BSD-2-Clause
// REMOVE I_T NEXUS (SPC-4 6.29): ends other nexuses of the same initiator, such as that of a lost
// path, so that what it had sent cannot change the medium later. Task's worker.
//
// The standard asks for an I_T nexus loss of one logical unit only. Here the whole nexus ends, with
// its connections, and the command ends when no command of the nexus is in the storage any more:
// the initiator may then write the same blocks by another path. VPD page F0h says so.
//
// The standard also refuses nexuses of transports without the I_T NEXUS RESET function, of which
// SRP is one. They are removed here: what ends is the RDMA channels, and an initiator whose path by
// SRP is lost has no other way to end it from another protocol's path.
#include "target/scsi/spc/remove_nexus.h"

#include <string.h>

#include "target/scsi/handler.h"
#include "target/scsi/nexus.h"
#include "target/scsi/reservations/transport_id.h"
#include "target/scsi/spc/commands.h"
#include "transport/wire/be.h"

#define HEADER	   4u
#define DESCRIPTOR 4u // without its TransportID
// Any padding of a TransportID is fine, within reason.
#define LIST_MAX (HEADER + NEXUS_REMOVALS_MAX * (DESCRIPTOR + 2u * PR_TID_MAX))

// A device has several ports: only the name of one says which nexus is meant.
static bool take_name(struct nexus_name *to, const uint8_t *tid, uint16_t len)
{
	struct pr_tid parsed;
	size_t used;
	if (pr_tid_parse(&parsed, tid, len, &used) || used != len ||
	    (parsed.name_len && !parsed.has_isid))
		return false;
	memcpy(to->transport_id, parsed.bytes, parsed.len);
	to->transport_id_len = parsed.len;
	return true;
}

static uint32_t invalid(int *ret_field, uint32_t field)
{
	*ret_field = (int)field;
	return SENSE_INVALID_FIELD_PARAM;
}

uint32_t nexus_list_parse(struct nexus_list *ret, const uint8_t *p, uint32_t len, int *ret_field)
{
	*ret = (struct nexus_list){ 0 };
	*ret_field = -1;
	if (len < HEADER || get_be16(p + 2) > len - HEADER)
		return SENSE_PARAM_LIST_LENGTH;
	uint32_t end = HEADER + get_be16(p + 2), at = HEADER;
	while (at < end) {
		uint32_t left = end - at;
		uint16_t tid_len = left < DESCRIPTOR ? 0 : get_be16(p + at + 2);
		if (left < DESCRIPTOR || tid_len > left - DESCRIPTOR)
			return SENSE_PARAM_LIST_LENGTH;
		if (ret->count == NEXUS_REMOVALS_MAX)
			return invalid(ret_field, 2);
		struct nexus_name *name = &ret->names[ret->count];
		name->relative_port = get_be16(p + at);
		at += DESCRIPTOR;
		if (!take_name(name, p + at, tid_len))
			return invalid(ret_field, at);
		ret->at[ret->count++] = (uint16_t)at;
		at += tid_len;
	}
	return 0;
}

static void removed(void *arg, int bad)
{
	struct task *t = arg;
	const struct nexus_list *list = t->scratch;
	t->state = TASK_RUNNING;
	t->home_result = NULL;
	if (bad >= 0)
		task_invalid_param(t, list->at[bad], -1);
	else
		task_good(t);
}

static void fetched(struct task *t)
{
	struct nexus *n = t->nexus;
	int field;
	struct nexus_list *list = task_scratch(t, sizeof *list);
	if (!list)
		return;
	uint32_t code = nexus_list_parse(list, task_params(t), get_be32(t->cdb + 6), &field);
	if (code) {
		task_check_param(t, code, field);
		return;
	}
	t->home_result = n->ops->remove(n, list->names, list->count, removed, t);
	if (t->home_result)
		t->state = TASK_WAITS_REMOVAL;
	else
		task_finish(t, STATUS_BUSY);
}

void remove_nexus_run(struct task *t)
{
	uint32_t len = get_be32(t->cdb + 6);
	if (!t->nexus->ops->remove)
		task_check(t, SENSE_INVALID_OPCODE, NULL);
	else if (!len)
		task_good(t);
	else if (len < HEADER || len > LIST_MAX)
		task_check(t, SENSE_PARAM_LIST_LENGTH, NULL);
	else
		task_fetch_params(t, len, fetched);
}
