// SPDX-License-Identifier: BSD-2-Clause
// Collecting, answering and accepting keys. First byte: flags of the offer; then a text.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "transport/iscsi/keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(const struct iscsi_params *p)
{
	if (p->first_burst > p->max_burst || p->max_burst < 512 || p->max_send_data < 512 ||
	    p->max_recv_data < 512 || !p->max_outstanding_r2t || !p->max_connections ||
	    p->task_reporting > ISCSI_TASK_REPORTING_FAST_ABORT || p->erl)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char answers[8192];
	struct iscsi_offer offer;
	struct iscsi_params answered, accepted;
	struct iscsi_key_set set;
	struct text_out out;
	struct err e;
	if (!size)
		return 0;
	iscsi_offer_init(&offer);
	offer.is_rdma = data[0] & 1;
	if (data[0] & 2)
		iscsi_offer_set(&offer, "HeaderDigest", "CRC32C", NULL);
	iscsi_params_init(&answered);
	iscsi_params_init(&accepted);
	text_out_init(&out, answers, sizeof answers);
	if (iscsi_keys_collect(data + 1, size - 1, &set, &out, &e))
		return 0;
	for (unsigned i = 0; i < set.count; i++) {
		unsigned id = set.order[i];
		iscsi_key_answer(id, set.value[id], &offer, &answered, &out, &e);
		if (iscsi_keys[id].kind != ISCSI_KIND_STRING &&
		    iscsi_keys[id].kind != ISCSI_KIND_OBSOLETE)
			iscsi_key_accept(id, set.value[id], &offer, &accepted, &e);
		iscsi_offer_set(&offer, iscsi_keys[id].name, set.value[id], &e);
	}
	iscsi_offer_init(&offer);
	if (!iscsi_params_settle(&answered, &offer, ISCSI_BY_TARGET, &e))
		judge(&answered);
	if (!iscsi_params_settle(&accepted, &offer, ISCSI_BY_INITIATOR, &e))
		judge(&accepted);
	return 0;
}
