// SPDX-License-Identifier: BSD-2-Clause
// The copy manager's engine, see job.h. One chunk is read, then written; after some
// chunks the worker gets a turn for its other work.
#include "target/scsi/copy/job.h"

#include <string.h>

#include "target/scsi/copy/turn.h"
#include "target/scsi/handler.h"
#include "target/scsi/lu_part.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/sbc/limits.h"
#include "transport/wire/be.h"

#define COPY_ZEROES   (64u << 20) // bytes zeroed by one WRITE SAME
#define CHUNKS_A_TURN 1

enum state { IDLE, READING, READ, WRITING, WRITTEN };
enum { READ_16 = 0x88, WRITE_16 = 0x8a, WRITE_SAME_16 = 0x93, NDOB = 0x01 };

static void job_run(struct copy_job *j);

// Fills the data-out of a WRITE from the bounce buffer, unless it is that buffer; WRITE SAME
// fetches nothing.
static void child_get_data(struct task *t)
{
	struct copy_job *j = container_of(t, struct copy_job, child);
	const uint8_t *from = j->bounce->addr;
	for (uint32_t i = 0; i < t->nsg && t->sg[0].buf != j->bounce; i++) {
		buf_copy_for(t->nexus->worker, &t->nexus->copied, t->sg[i].addr, from,
			     t->sg[i].len);
		from += t->sg[i].len;
	}
	task_data_ready(t, 0);
}

// The disk's own memory must be released before the write, or a freeze of both ranges could never
// be granted: so the data is copied now.
static void take_data(struct copy_job *j)
{
	struct task *t = &j->child;
	uint32_t left = t->data_in < j->chunk ? t->data_in : j->chunk;
	uint8_t *to = j->bounce->addr;
	for (uint32_t i = 0; i < t->nsg && left && t->sg[0].buf != j->bounce; i++) {
		uint32_t n = t->sg[i].len < left ? t->sg[i].len : left;
		buf_copy_for(t->nexus->worker, &t->nexus->copied, to, t->sg[i].addr, n);
		to += n;
		left -= n;
	}
}

static void child_done(struct task *t)
{
	struct copy_job *j = container_of(t, struct copy_job, child);
	j->child_status = t->is_aborted ? STATUS_TASK_ABORTED : t->status;
	j->child_sense_len = t->sense_len;
	memcpy(j->child_sense, t->sense, t->sense_len);
	if (j->state == READING && j->child_status == STATUS_GOOD)
		take_data(j);
	task_release(t);
	j->state = j->state == READING ? READ : WRITTEN;
	if (!j->is_running)
		job_run(j);
}

static const struct task_ops child_ops = { .get_data = child_get_data, .done = child_done };

// The paths stay while the job runs, even if a new LUN map removes them.
static void hold_paths(const struct copy_job *j)
{
	for (uint32_t i = 0; i < j->npieces; i++) {
		j->pieces[i].to->held++;
		if (j->pieces[i].from)
			j->pieces[i].from->held++;
	}
}

static void put_paths(const struct copy_job *j)
{
	for (uint32_t i = 0; i < j->npieces; i++) {
		if (j->pieces[i].from)
			nexus_lun_put(j->pieces[i].from);
		nexus_lun_put(j->pieces[i].to);
	}
}

static void child_submit(struct copy_job *j, uint8_t opcode, const struct nexus_lun *nl,
			 uint64_t at)
{
	struct task *t = &j->child;
	if (nexus_find_lun(nl->nexus, nl->number) != nl) {
		// The session has lost it; another LU may have the number now.
		j->child_status = STATUS_TASK_ABORTED;
		j->child_sense_len = 0;
		j->state = j->state == READING ? READ : WRITTEN;
		return;
	}
	uint32_t shift = nl->lu->block_shift;
	memset(j->cdb, 0, sizeof j->cdb);
	j->cdb[0] = opcode;
	j->cdb[1] = opcode == WRITE_SAME_16 ? NDOB : 0;
	put_be64(j->cdb + 2, at >> shift);
	put_be32(j->cdb + 10, j->chunk >> shift);
	task_init(t, &child_ops, nl->nexus);
	t->lun = nl->number;
	t->cdb = j->cdb;
	t->cdb_len = sizeof j->cdb;
	t->attr = TASK_HEAD_OF_QUEUE; // its parent may be ORDERED
	t->is_internal = true;
	t->lent = j->bounce;
	t->expected_in = opcode == READ_16 ? j->chunk : 0;
	t->expected_out = opcode == WRITE_16 ? j->chunk : 0;
	nl->lu->server->submit(t);
}

static uint32_t at_most(uint64_t length, uint64_t limit)
{
	return (uint32_t)(length < limit ? length : limit);
}

static uint32_t chunk_of(const struct copy_job *j, const struct copy_piece *p)
{
	uint64_t left = p->length - j->at, limit = COPY_CHUNK;
	if (!p->from) {
		limit = sbc_limits_of(p->to->lu).max_write_same << p->to->lu->block_shift;
		return at_most(left, limit < COPY_ZEROES ? limit : COPY_ZEROES);
	}
	uint64_t reads = (uint64_t)lu_max_transfer(p->from->lu) << p->from->lu->block_shift;
	uint64_t writes = (uint64_t)lu_max_transfer(p->to->lu) << p->to->lu->block_shift;
	if (reads && reads < limit)
		limit = reads;
	if (writes && writes < limit)
		limit = writes;
	// Whole blocks of the larger size: block sizes are powers of two.
	uint64_t block = p->from->lu->block_size > p->to->lu->block_size ? p->from->lu->block_size
									 : p->to->lu->block_size;
	limit -= limit % block;
	return at_most(left, limit ? limit : block);
}

static void start_chunk(struct copy_job *j)
{
	const struct copy_piece *p = &j->pieces[j->pieces_done];
	j->chunk = chunk_of(j, p);
	if (p->from) {
		j->state = READING;
		child_submit(j, READ_16, p->from, p->from_at + j->at);
	} else {
		j->state = WRITING;
		child_submit(j, WRITE_SAME_16, p->to, p->to_at + j->at);
	}
}

static void start_write(struct copy_job *j)
{
	const struct copy_piece *p = &j->pieces[j->pieces_done];
	j->state = WRITING;
	child_submit(j, WRITE_16, p->to, p->to_at + j->at);
}

static void count_chunk(struct copy_job *j)
{
	const struct copy_piece *p = &j->pieces[j->pieces_done];
	j->bytes_done += j->chunk;
	j->at += j->chunk;
	j->state = IDLE;
	if (j->at == p->length) {
		j->pieces_done++;
		j->at = 0;
	}
}

static void skip_empty(struct copy_job *j)
{
	while (j->pieces_done < j->npieces && !j->pieces[j->pieces_done].length)
		j->pieces_done++;
}

// Continues until a child is in flight, the turn is over (-1) or the job has ended (its end).
static int job_advance(struct copy_job *j)
{
	for (unsigned turns = 0;;) {
		if (j->state == READING || j->state == WRITING)
			return -1;
		if (j->parent->is_aborted)
			return COPY_ABORTED;
		if (j->state != IDLE && j->child_status != STATUS_GOOD) {
			j->child_reads = j->state == READ;
			return COPY_FAILED;
		}
		if (j->state == READ) {
			if (j->is_valid && !j->is_valid(j))
				return COPY_INVALID;
			start_write(j);
			continue;
		}
		if (j->state == WRITTEN)
			count_chunk(j);
		skip_empty(j);
		if (j->pieces_done == j->npieces)
			return COPY_DONE;
		if (turns++ == CHUNKS_A_TURN) {
			worker_post(task_worker(j->parent), &j->resume);
			return -1;
		}
		start_chunk(j);
	}
}

static void job_run(struct copy_job *j)
{
	j->is_running = true;
	int end = job_advance(j);
	j->is_running = false;
	if (end < 0)
		return;
	progress_end(&j->progress);
	put_paths(j);
	copy_turn_over(j->parent);
	j->done(j, (enum copy_end)end);
}

static void job_resumed(struct msg *m)
{
	job_run(container_of(m, struct copy_job, resume));
}

static void progress_tell(struct copy_job *j)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < j->npieces; i++)
		total += j->pieces[i].length;
	const struct lu *lu = j->npieces ? j->pieces[0].to->lu : j->parent->lu;
	progress_begin(&j->progress, "COPY", lu, total, &j->bytes_done);
}

void copy_job_start(struct copy_job *j)
{
	j->pieces_done = 0;
	j->bytes_done = j->at = 0;
	j->state = IDLE;
	j->bounce = j->parent->sg[0].buf;
	j->resume.fn = job_resumed;
	hold_paths(j);
	progress_tell(j);
	job_run(j);
}

bool copy_range_fits(const struct lu *lu, uint64_t at, uint64_t length)
{
	uint64_t size = lu_capacity(lu) << lu->block_shift;
	return at <= size && length <= size - at && !((at | length) & (lu->block_size - 1));
}
