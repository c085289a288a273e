// SPDX-License-Identifier: BSD-2-Clause
// Counters of disks (storage objects), summed over all paths.
#include "target/metrics/metrics.h"
#include "target/scsi/medium.h"

// clang-format off
static const struct family read_bytes = { "farblock_lun_read_bytes", "counter", "bytes",
	"Bytes read by initiators." };
static const struct family written_bytes = { "farblock_lun_written_bytes", "counter", "bytes",
	"Bytes written by initiators." };
static const struct family commands = { "farblock_lun_commands", "counter", NULL,
	"SCSI commands completed." };
static const struct family errors = { "farblock_lun_errors", "counter", NULL,
	"Commands that ended with CHECK CONDITION, not counting unit attentions." };
static const struct family durations = { "farblock_lun_command_duration_seconds", "histogram",
	"seconds", "Time from the arrival of a command to its completion." };
static const struct family storage = { "farblock_lun_storage_seconds", "counter", "seconds",
	"Time that commands spent in the file or device; part of their duration." };
static const struct family ended = { "farblock_lun_ended_writes", "gauge", NULL,
	"Commands of sessions that have ended and may still change the disk; others wait." };
static const struct family size_bytes = { "farblock_lun_size_bytes", "gauge", "bytes",
	"Capacity." };
static const struct family up = { "farblock_lun_up", "gauge", NULL,
	"1 if the disk is available, 0 if its file or device is missing." };
static const struct family progress = { "farblock_operation_progress_ratio", "gauge", "ratio",
	"Progress of a long operation, 0 to 1." };
// clang-format on

static const char *const ops[LU_OP_MAX] = {
	[LU_OP_READ] = "read",
	[LU_OP_WRITE] = "write",
	[LU_OP_OTHER] = "other",
};

// One sample per disk.
static void each(FILE *out, const struct snapshot *s, const struct family *f,
		 uint64_t (*get)(const struct snapshot_disk *d))
{
	metric_family(out, f);
	for (unsigned i = 0; i < s->disk_count; i++) {
		const struct label labels[] = {
			{"backstore", s->disks[i].path },
			{ 0	    },
		};
		metric_number(out, f, labels, get(&s->disks[i]));
	}
}

static uint64_t get_read(const struct snapshot_disk *d)
{
	return d->counters.op[LU_OP_READ].bytes;
}

static uint64_t get_written(const struct snapshot_disk *d)
{
	return d->counters.op[LU_OP_WRITE].bytes;
}

static uint64_t get_errors(const struct snapshot_disk *d)
{
	return d->counters.errors;
}

static uint64_t get_ended(const struct snapshot_disk *d)
{
	return d->ended_writes;
}

static uint64_t get_size(const struct snapshot_disk *d)
{
	return d->size;
}

static uint64_t get_up(const struct snapshot_disk *d)
{
	return d->is_up;
}

// One sample per disk and kind of command.
static void each_op(FILE *out, const struct snapshot *s, const struct family *f,
		    void (*put)(FILE *out, const struct label *labels,
				const struct lu_op_counters *k))
{
	metric_family(out, f);
	for (unsigned i = 0; i < s->disk_count; i++)
		for (int op = 0; op < LU_OP_MAX; op++) {
			const struct label labels[] = {
				{"backstore", s->disks[i].path },
				{ "op",		ops[op] },
				{ 0},
			};
			put(out, labels, &s->disks[i].counters.op[op]);
		}
}

static void put_commands(FILE *out, const struct label *labels, const struct lu_op_counters *k)
{
	metric_number(out, &commands, labels, k->commands);
}

// A disk that was never used has no histogram: most of thousands of disks are not.
static void put_durations(FILE *out, const struct label *labels, const struct lu_op_counters *k)
{
	if (k->commands)
		metric_histogram(out, &durations, labels, k->latency, LU_LATENCY_BUCKETS,
				 k->latency_sum_us);
}

static void put_progress(FILE *out, const char *disk, const char *operation, uint64_t permyriad)
{
	const struct label labels[] = {
		{"backstore", disk },
		{ "operation",	       operation },
		{ 0},
	};
	metric_fraction(out, &progress, labels, permyriad, 10000);
}

static void progresses(FILE *out, const struct snapshot *s)
{
	metric_family(out, &progress);
	for (unsigned i = 0; i < s->disk_count; i++) {
		uint32_t state = s->disks[i].sanitize;
		if (state != SANITIZE_IDLE && state != SANITIZE_FAILED)
			put_progress(out, s->disks[i].path, "sanitize",
				     (state - 1) * UINT64_C(10000) / 65536);
	}
	for (unsigned i = 0; i < s->progress_count; i++) {
		const struct progress_info *p = &s->progress[i];
		char path[SNAPSHOT_NAME], operation[40];
		// Numbers distinguish several copies to one disk.
		snprintf(path, sizeof path, "/backstores/%s", p->storage_object);
		snprintf(operation, sizeof operation, "copy%u", i);
		put_progress(out, path, operation,
			     p->total ? (uint64_t)((double)p->done * 10000 / (double)p->total) : 0);
	}
}

static void storage_times(FILE *out, const struct snapshot *s)
{
	metric_family(out, &storage);
	for (unsigned i = 0; i < s->disk_count; i++) {
		const struct label labels[] = {
			{"backstore", s->disks[i].path },
			{ 0	    },
		};
		metric_fraction(out, &storage, labels, s->disks[i].counters.storage_ns, 1000000000);
	}
}

void metrics_disks(FILE *out, const struct snapshot *s)
{
	each(out, s, &up, get_up);
	each(out, s, &ended, get_ended);
	each(out, s, &size_bytes, get_size);
	each(out, s, &read_bytes, get_read);
	each(out, s, &written_bytes, get_written);
	each(out, s, &errors, get_errors);
	each_op(out, s, &commands, put_commands);
	each_op(out, s, &durations, put_durations);
	storage_times(out, s);
	progresses(out, s);
}
