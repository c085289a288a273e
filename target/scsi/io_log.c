// SPDX-License-Identifier: BSD-2-Clause
// Failures of the storage, aggregated. A part of a logical unit: any worker adds failures, under a
// mutex taken only after a failure; the control thread logs the counts.
#include "target/scsi/io_log.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "core/log.h"
#include "target/scsi/lu_part.h"

#define OPS  (BS_OP_MAX + 1) // the last: a SCSI command passed through
#define KEPT 16		     // distinct operations and causes
_Static_assert(OPS <= 8, "a byte has a bit for each");

struct failure {
	unsigned op;
	int res;
	uint64_t since_ns; // the line, or the last count
	uint64_t more, offset, length;
	bool was_met; // since the last sweep
};

struct io_log {
	pthread_mutex_t lock;
	struct failure failures[KEPT];
	unsigned count;
	uint64_t others;	// beyond the table's size
	uint8_t failed, worked; // since the last sweep, one bit per operation
};

static const char *const op_names[OPS] = {
	[BS_READ] = "read",
	[BS_WRITE] = "write",
	[BS_FLUSH] = "flush",
	[BS_UNMAP] = "unmap",
	[BS_WRITE_ZEROES] = "write of zeroes",
	[BS_EXTENT] = "read of the allocation",
	[BS_OP_MAX] = "SCSI command",
};

// " of LBA 8 to 15", " of LBA 8"; empty without a range.
static void range_text(const struct lu *lu, const struct failure *f, char *out, size_t size)
{
	*out = 0;
	if (f->op == BS_FLUSH || f->op == BS_OP_MAX || !f->length)
		return;
	uint64_t first = f->offset >> lu->block_shift;
	uint64_t last = (f->offset + f->length - 1) >> lu->block_shift;
	int n = snprintf(out, size, " of LBA %llu", (unsigned long long)first);
	if (last > first)
		snprintf(out + n, size - (size_t)n, " to %llu", (unsigned long long)last);
}

static void log_failure(const struct lu *lu, const struct failure *f)
{
	char range[64], cause[96];
	range_text(lu, f, range, sizeof range);
	log_warn("%s %s: %s%s: %s", lu->type->name, lu->name, op_names[f->op], range,
		 strerror_r(-f->res, cause, sizeof cause));
}

static void log_count(const struct lu *lu, const struct failure *f, uint64_t now)
{
	char range[64], cause[96];
	uint64_t s = (now - f->since_ns + 500000000) / 1000000000;
	range_text(lu, f, range, sizeof range);
	log_warn("%s %s: %s: %s: %llu more in the last %llu s%s%s", lu->type->name, lu->name,
		 op_names[f->op], strerror_r(-f->res, cause, sizeof cause),
		 (unsigned long long)f->more, (unsigned long long)(s ? s : 1),
		 *range ? ", the last one" : "", range);
}

static void log_others(const struct lu *lu, struct io_log *l)
{
	if (l->others)
		log_warn("%s %s: %llu more failures of other operations", lu->type->name, lu->name,
			 (unsigned long long)l->others);
	l->others = 0;
}

// Invalid requests, and operations that this storage does not support, are not failures.
static bool is_failure(int res)
{
	return res < 0 && res != -ERANGE && res != -EOPNOTSUPP;
}

static struct failure *failure_find(struct io_log *l, unsigned op, int res)
{
	for (unsigned i = 0; i < l->count; i++)
		if (l->failures[i].op == op && l->failures[i].res == res)
			return &l->failures[i];
	return NULL;
}

static void failure_add(struct lu *lu, const struct failure *f)
{
	struct io_log *l = lu->io_log;
	struct failure *old = failure_find(l, f->op, f->res);
	if (old) {
		old->more++;
		old->offset = f->offset;
		old->length = f->length;
		old->was_met = true;
	} else if (l->count == KEPT) {
		l->others++;
	} else {
		log_failure(lu, f);
		l->failures[l->count++] = *f;
	}
}

void io_log_result(struct lu *lu, unsigned op, uint64_t offset, uint64_t length, int res)
{
	struct io_log *l = lu->io_log;
	uint8_t bit = (uint8_t)(1 << op);
	bool is_failing = __atomic_load_n(&lu->failing_ops, __ATOMIC_RELAXED) & bit;
	if (res < 0 ? !is_failure(res) : !is_failing)
		return;
	if (!res) { // all that the sweep needs
		if (!(__atomic_load_n(&l->worked, __ATOMIC_RELAXED) & bit))
			__atomic_fetch_or(&l->worked, bit, __ATOMIC_RELAXED);
		return;
	}
	struct failure f = { op, res, clock_ns(), 0, offset, length, true };
	pthread_mutex_lock(&l->lock);
	failure_add(lu, &f);
	l->failed |= bit;
	__atomic_fetch_or(&lu->failing_ops, bit, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&l->lock);
}

// A cause that did not recur while others of its operation did is dropped: its recurrence is logged
// again.
static bool is_kept(const struct io_log *l, const struct failure *f, uint8_t recovered)
{
	uint8_t bit = (uint8_t)(1 << f->op);
	return !(recovered & bit) && (f->was_met || !(l->failed & bit));
}

static void say_counts(const struct lu *lu, struct io_log *l)
{
	uint64_t now = clock_ns();
	for (unsigned i = 0; i < l->count; i++) {
		struct failure *f = &l->failures[i];
		if (!f->more)
			continue;
		log_count(lu, f, now);
		f->since_ns = now;
		f->more = 0;
	}
	log_others(lu, l);
}

static void forget(struct io_log *l, uint8_t recovered)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < l->count; i++) {
		if (!is_kept(l, &l->failures[i], recovered))
			continue;
		l->failures[kept] = l->failures[i];
		l->failures[kept++].was_met = false;
	}
	l->count = kept;
}

static void sweep(struct lu *lu, struct io_log *l)
{
	uint8_t worked = __atomic_exchange_n(&l->worked, 0, __ATOMIC_RELAXED);
	uint8_t recovered = lu->failing_ops & worked & ~l->failed;
	say_counts(lu, l);
	forget(l, recovered);
	for (unsigned op = 0; op < OPS; op++)
		if (recovered & 1 << op)
			log_warn("%s %s: %s: recovered", lu->type->name, lu->name, op_names[op]);
	__atomic_fetch_and(&lu->failing_ops, (uint8_t)~recovered, __ATOMIC_RELAXED);
	l->failed = 0;
}

void io_log_sweep(struct lu *lu)
{
	struct io_log *l = lu->io_log;
	if (!__atomic_load_n(&lu->failing_ops, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&l->lock);
	sweep(lu, l);
	pthread_mutex_unlock(&l->lock);
}

static int attach(struct lu *lu, struct err *e)
{
	lu->io_log = calloc(1, sizeof *lu->io_log);
	if (!lu->io_log)
		return err_errno(e, -ENOMEM, "%s", lu->name);
	pthread_mutex_init(&lu->io_log->lock, NULL);
	return 0;
}

static void detach(struct lu *lu)
{
	say_counts(lu, lu->io_log);
	pthread_mutex_destroy(&lu->io_log->lock);
	free(lu->io_log);
}

const struct lu_part io_log_part = { .attach = attach, .detach = detach };
