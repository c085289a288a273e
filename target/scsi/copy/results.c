// SPDX-License-Identifier: BSD-2-Clause
// Results of copies, see results.h.
#include "target/scsi/copy/results.h"

#include <errno.h>
#include <stdlib.h>

#include "target/scsi/copy/rod_token.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/nexus.h"

#define RESULTS_MAX 64

struct third_party {
	pthread_mutex_t lock;
	struct list results; // struct copy_result, the oldest first
	unsigned nresults;
};

static bool is_odx_kind(uint8_t kind)
{
	return kind != COPY_EXTENDED;
}

static struct copy_result *result_find(struct third_party *tp, uint64_t nexus_id, bool is_odx,
				       uint32_t list_id)
{
	list_for_each (it, &tp->results) {
		struct copy_result *r = list_entry(it, struct copy_result, link);
		if (r->nexus_id == nexus_id && r->list_id == list_id &&
		    is_odx_kind(r->kind) == is_odx)
			return r;
	}
	return NULL;
}

static void result_drop(struct third_party *tp, struct copy_result *r)
{
	list_remove(&r->link);
	free(r);
	tp->nresults--;
}

void copy_result_keep(struct lu *lu, const struct copy_result *r)
{
	struct third_party *tp = lu->third_party;
	struct copy_result *kept = malloc(sizeof *kept);
	if (!kept)
		return;
	*kept = *r;
	kept->link = (struct list){ 0 };
	pthread_mutex_lock(&tp->lock);
	struct copy_result *old = result_find(tp, r->nexus_id, is_odx_kind(r->kind), r->list_id);
	if (old)
		result_drop(tp, old);
	else if (tp->nresults == RESULTS_MAX)
		result_drop(tp, list_entry(list_first(&tp->results), struct copy_result, link));
	list_push_back(&tp->results, &kept->link);
	tp->nresults++;
	pthread_mutex_unlock(&tp->lock);
}

bool copy_result_find(struct lu *lu, const struct task *t, bool is_odx, uint32_t list_id,
		      struct copy_result *ret)
{
	struct third_party *tp = lu->third_party;
	pthread_mutex_lock(&tp->lock);
	const struct copy_result *r = result_find(tp, t->nexus->id, is_odx, list_id);
	if (r)
		*ret = *r;
	pthread_mutex_unlock(&tp->lock);
	return r;
}

void copy_result_drop(struct lu *lu, const struct copy_result *r)
{
	struct third_party *tp = lu->third_party;
	pthread_mutex_lock(&tp->lock);
	struct copy_result *kept = result_find(tp, r->nexus_id, is_odx_kind(r->kind), r->list_id);
	if (kept)
		result_drop(tp, kept);
	pthread_mutex_unlock(&tp->lock);
}

static int attach(struct lu *lu, struct err *e)
{
	struct third_party *tp = calloc(1, sizeof *tp);
	if (!tp)
		return err_set(e, -ENOMEM, "%s: copy manager: out of memory", lu->name);
	pthread_mutex_init(&tp->lock, NULL);
	list_init(&tp->results);
	lu->third_party = tp;
	return 0;
}

static void detach(struct lu *lu)
{
	struct third_party *tp = lu->third_party;
	if (!tp)
		return;
	rod_tokens_drop(lu);
	while (!list_empty(&tp->results))
		result_drop(tp, list_entry(list_first(&tp->results), struct copy_result, link));
	pthread_mutex_destroy(&tp->lock);
	free(tp);
	lu->third_party = NULL;
}

const struct lu_part third_party_part = { .attach = attach, .detach = detach };
