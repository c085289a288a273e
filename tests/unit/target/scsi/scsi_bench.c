// SPDX-License-Identifier: BSD-2-Clause
// See scsi_bench.h. The test's thread is no worker: everything goes by worker_call() or by
// message, results come back through semaphores.
#include "target/scsi/scsi_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/offload.h"
#include "target/scsi/lu_attr.h"
#include "target/scsi/lun_map.h"
#include "target/scsi/reservations/transport_id.h"
#include "target/scsi/server/device_server.h"

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "bench: %s\n", what);
	abort();
}

static struct worker *start_worker(const char *name, bool is_control)
{
	struct worker_options o = { .name = name, .cpu = -1, .is_control = is_control };
	o.pool_bytes = 64u << 20;
	struct worker *w;
	struct err e;
	must(worker_new(&w, &o, &e) == 0 && worker_start(w, &e) == 0, "no worker");
	return w;
}

struct lu_making {
	struct bench *b;
	const char *name, *serial;
	const struct bench_options *o;
	struct lu *lu;
};

static void options_set(struct lu_attr *attr, const char *const *texts)
{
	for (; texts && *texts; texts++) {
		char name[64];
		const char *eq = strchr(*texts, '=');
		snprintf(name, sizeof name, "%.*s", (int)(eq - *texts), *texts);
		const struct attr_row *row = attr_find(lu_attr_rows, name);
		struct err e;
		must(row && attr_set(row, attr, eq + 1, &e) == 0, *texts);
	}
}

static void lu_make(void *arg)
{
	struct lu_making *m = arg;
	const struct bench_options *o = m->o;
	struct err e = { 0 };
	const struct backstore_type *type = o->type ? o->type : backstore_type_find("ramdisk");
	struct bs_config config;
	backstore_config_init(&config, type);
	config.name = m->name;
	config.dev = o->dev;
	config.size = o->size ? o->size : 1 << 20;
	config.block_size = o->block_size ? o->block_size : 512;
	config.nullio = o->nullio;
	config.write_back = o->write_back;
	struct backstore *bs;
	if (backstore_open(&bs, type, &config, &e) < 0)
		must(false, e.text);
	struct lu_attr attr = { 0 };
	attr_defaults(lu_attr_rows, &attr);
	attr.block_size = config.block_size;
	options_set(&attr, o->attrs);
	if (lu_new(&m->lu, &device_server, m->name, bs, m->serial, &attr, o->state_dir, &e) < 0)
		must(false, e.text);
}

struct lu *bench_lu(struct bench *b, const char *name, const char *serial,
		    const struct bench_options *o)
{
	struct lu_making m = { .b = b, .name = name, .serial = serial, .o = o };
	worker_call(b->control, lu_make, &m);
	return m.lu;
}

static void lu_closed(void *arg)
{
	sem_post(&((struct bench *)arg)->closed);
}

struct nexus_making {
	struct bench *b;
	unsigned i;
};

static void make_srp(const struct nexus_making *m)
{
	uint8_t id[16] = { 0xfe, 0x80, [15] = (uint8_t)(m->i + 1) };
	char initiator[64], port[64];
	snprintf(initiator, sizeof initiator, "ib.fe80%028x", m->i + 1);
	snprintf(port, sizeof port, "eui.fe80%028x", m->i + 1);
	struct nexus_info info = {
		.protocol = SCSI_PROTOCOL_SRP,
		.initiator_port = port,
		.initiator_name = initiator,
		.target_name = "ib.fe800000000000000000000000000001",
		.target_port = "eui.fe800000000000000000000000000001",
		.relative_port = 1,
	};
	info.transport_id_len = pr_tid_put_srp(info.transport_id, id);
	must(nexus_new(&m->b->nexuses[m->i], &info, NULL, m->b, m->b->map) == 0, "no nexus");
}

static void nexus_make(void *arg)
{
	struct nexus_making *m = arg;
	if (m->b->is_srp) {
		make_srp(m);
		return;
	}
	char initiator[64], port[96];
	snprintf(initiator, sizeof initiator, "iqn.2026-01.test:initiator%u", m->i);
	snprintf(port, sizeof port, "%s,i,0x00023d00000%u", initiator, m->i);
	struct nexus_info info = {
		.protocol = SCSI_PROTOCOL_ISCSI,
		.initiator_port = port,
		.initiator_name = initiator,
		.target_name = "iqn.2026-01.test:target",
		.target_port = "iqn.2026-01.test:target,t,0x0001",
		.relative_port = 1,
	};
	size_t n = strlen(port) + 1;
	info.transport_id[0] = 0x45; // format 1, iSCSI
	n = (n + 3) & ~(size_t)3;
	info.transport_id[3] = (uint8_t)n;
	memcpy(info.transport_id + 4, port, strlen(port));
	info.transport_id_len = (uint32_t)(4 + n);
	must(nexus_new(&m->b->nexuses[m->i], &info, NULL, m->b, m->b->map) == 0, "no nexus");
}

static struct worker *worker_of(struct bench *b, unsigned nexus)
{
	return b->workers[nexus % b->nworkers];
}

static void drain_ua(struct bench *b, unsigned nexus, uint32_t lun)
{
	static struct bench_cmd c;
	do {
		memset(&c, 0, offsetof(struct bench_cmd, data));
		c.cdb_len = 6;
		c.lun = lun;
		bench_start(b, nexus, &c);
		bench_wait(&c);
	} while (c.code >> 16 == SK_UNIT_ATTENTION);
}

void bench_init(struct bench *b, const struct bench_options *o)
{
	static const struct bench_options none;
	if (!o)
		o = &none;
	memset(b, 0, sizeof *b);
	sem_init(&b->closed, 0, 0);
	b->is_srp = o->is_srp;
	b->nworkers = o->workers ? o->workers : 1;
	b->nnexuses = o->nexuses ? o->nexuses : 1;
	must(b->nworkers <= BENCH_WORKERS && b->nnexuses <= BENCH_NEXUSES, "too many");
	b->control = start_worker("control", true);
	for (unsigned i = 0; i < b->nworkers; i++)
		b->workers[i] = start_worker("data", false);
	b->lu = bench_lu(b, "disk", "8d4ca6c4-55b6-4b7c-9f3f-0a1b2c3d4e5f", o);
	lu_set_closed(b->lu, b->control, lu_closed, b);
	b->map = lun_map_new(1);
	b->map->entries[0] = (struct lun_entry){ .number = (uint16_t)o->lun, .lu = lu_get(b->lu) };
	for (unsigned i = 0; i < b->nnexuses; i++) {
		struct nexus_making m = { .b = b, .i = i };
		worker_call(worker_of(b, i), nexus_make, &m);
		if (!o->keeps_ua)
			drain_ua(b, i, o->lun);
	}
}

static void nexus_unmake(void *arg)
{
	nexus_free(arg);
}

void bench_nexus_free(struct bench *b, unsigned nexus)
{
	if (!b->nexuses[nexus])
		return;
	worker_call(worker_of(b, nexus), nexus_unmake, b->nexuses[nexus]);
	b->nexuses[nexus] = NULL;
}

void bench_done(struct bench *b)
{
	for (unsigned i = 0; i < b->nnexuses; i++)
		bench_nexus_free(b, i);
	lun_map_put(b->map);
	lu_put(b->lu);
	while (sem_wait(&b->closed) < 0)
		; // EINTR: a fuzzer's alarm
	// Its threads may still be about to wake the worker that they have posted to.
	offload_shutdown();
	for (unsigned i = 0; i < b->nworkers; i++)
		worker_free(b->workers[i]);
	worker_free(b->control);
	sem_destroy(&b->closed);
}

void bench_on_nexus(struct bench *b, unsigned nexus, void (*fn)(void *arg), void *arg)
{
	worker_call(worker_of(b, nexus), fn, arg);
}

void bench_on_control(struct bench *b, void (*fn)(void *arg), void *arg)
{
	worker_call(b->control, fn, arg);
}

void bench_relogin(struct bench *b, unsigned nexus)
{
	bench_nexus_free(b, nexus);
	struct nexus_making m = { .b = b, .i = nexus };
	worker_call(worker_of(b, nexus), nexus_make, &m);
}

struct attr_setting {
	struct bench *b;
	const char *name, *text;
	int result;
};

static void attr_apply(void *arg)
{
	struct attr_setting *s = arg;
	struct err e;
	s->result = lu_attr_apply(s->b->lu, attr_find(lu_attr_rows, s->name), s->text, &e);
}

int bench_attr(struct bench *b, const char *name, const char *text)
{
	struct attr_setting s = { .b = b, .name = name, .text = text };
	worker_call(b->control, attr_apply, &s);
	return s.result;
}

struct map_setting {
	struct nexus *nexus;
	struct lun_map *map;
	sem_t finished;
};

static void map_in_force(void *arg)
{
	sem_post(&((struct map_setting *)arg)->finished);
}

static void map_set(void *arg)
{
	struct map_setting *s = arg;
	nexus_set_map(s->nexus, s->map, map_in_force, s);
}

void bench_set_map(struct bench *b, unsigned nexus, unsigned count, const uint16_t *numbers,
		   struct lu *const *lus)
{
	struct map_setting s = { .nexus = b->nexuses[nexus], .map = lun_map_new(count) };
	sem_init(&s.finished, 0, 0);
	for (unsigned i = 0; i < count; i++)
		s.map->entries[i] =
			(struct lun_entry){ .number = numbers[i], .lu = lu_get(lus[i]) };
	worker_call(worker_of(b, nexus), map_set, &s);
	while (sem_wait(&s.finished) < 0)
		; // EINTR: a fuzzer's alarm
	lun_map_put(s.map);
	sem_destroy(&s.finished);
}

// --- Commands ---

static void cmd_get_data(struct task *t)
{
	struct bench_cmd *c = container_of(t, struct bench_cmd, task);
	c->fetched = t->moved + t->fetch_len;
	if (c->holds_data) {
		sem_post(&c->asked);
		return;
	}
	uint32_t at = t->moved;
	for (uint32_t i = 0; i < t->nsg && !c->data_result; i++) {
		memcpy(t->sg[i].addr, (const uint8_t *)c->out + at, t->sg[i].len);
		at += t->sg[i].len;
	}
	task_data_ready(t, c->data_result);
}

static void take_data_in(struct bench_cmd *c)
{
	const struct task *t = &c->task;
	uint32_t at = t->moved, end = t->moved + t->data_in;
	must(end <= sizeof c->data, "data-in is too long for the bench");
	for (uint32_t i = 0; i < t->nsg && at < end; i++) {
		uint32_t n = t->sg[i].len < end - at ? t->sg[i].len : end - at;
		memcpy(c->data + at, t->sg[i].addr, n);
		at += n;
	}
	must(at == end, "sg is shorter than data_in");
	c->data_in = end;
}

static void part_sent(struct msg *m)
{
	struct bench_cmd *c = container_of(m, struct bench_cmd, msg);
	task_part_sent(&c->task, c->data_result);
}

static void cmd_put_part(struct task *t)
{
	struct bench_cmd *c = container_of(t, struct bench_cmd, task);
	c->pieces++;
	take_data_in(c);
	c->msg.fn = part_sent;
	if (c->holds_data)
		sem_post(&c->asked);
	else
		worker_post(t->nexus->worker, &c->msg);
}

static uint32_t sense_code(const struct bench_cmd *c)
{
	if (c->status != STATUS_CHECK_CONDITION)
		return 0;
	return (c->sense[0] & 0x7f) >= 0x72 ? SENSE(c->sense[1] & 0x0f, c->sense[2], c->sense[3])
					    : SENSE(c->sense[2] & 0x0f, c->sense[12], c->sense[13]);
}

static void cmd_done(struct task *t)
{
	static uint64_t orders;
	struct bench_cmd *c = container_of(t, struct bench_cmd, task);
	c->status = t->status;
	c->sense_len = t->sense_len;
	memcpy(c->sense, t->sense, SENSE_MAX);
	c->code = sense_code(c);
	c->is_aborted = t->is_aborted;
	c->sends_aborted = t->sends_aborted;
	c->wanted = t->wanted;
	c->data_in = 0;
	c->in_place = t->in_place;
	if (t->data_in)
		take_data_in(c);
	c->order = __atomic_add_fetch(&orders, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&c->is_done, true, __ATOMIC_RELEASE);
	if (!c->holds_release)
		task_release(t);
	sem_post(&c->done);
}

static const struct task_ops ops = { .get_data = cmd_get_data,
				     .put_part = cmd_put_part,
				     .done = cmd_done };

static void cmd_submit(struct msg *m)
{
	struct bench_cmd *c = container_of(m, struct bench_cmd, msg);
	struct task *t = &c->task;
	task_init(t, &ops, c->bench->nexuses[c->nexus]);
	t->lun = c->lun;
	t->cdb = c->cdb;
	t->cdb_len = (uint16_t)(c->cdb_len < 16 ? 16 : c->cdb_len);
	t->attr = c->attr;
	t->expected_out = c->out_len;
	t->expected_in = c->expected_in;
	task_submit(t);
}

void bench_start(struct bench *b, unsigned nexus, struct bench_cmd *c)
{
	c->bench = b;
	c->nexus = nexus;
	c->is_done = false;
	c->fetched = c->pieces = 0;
	sem_init(&c->asked, 0, 0);
	sem_init(&c->done, 0, 0);
	c->msg.fn = cmd_submit;
	worker_post(worker_of(b, nexus), &c->msg);
}

void bench_wait(struct bench_cmd *c)
{
	while (sem_wait(&c->done) < 0)
		; // EINTR: a fuzzer's alarm
}

void bench_wait_asked(struct bench_cmd *c)
{
	while (sem_wait(&c->asked) < 0)
		; // EINTR: a fuzzer's alarm
}

static void data_send(void *arg)
{
	struct bench_cmd *c = arg;
	c->holds_data = false;
	if (c->is_done)
		return;
	if (c->expected_in)
		part_sent(&c->msg);
	else
		cmd_get_data(&c->task);
}

void bench_send_data(struct bench_cmd *c)
{
	bench_on_nexus(c->bench, c->nexus, data_send, c);
}

static void release(void *arg)
{
	task_release(arg);
}

void bench_release(struct bench_cmd *c)
{
	bench_on_nexus(c->bench, c->nexus, release, &c->task);
}

struct aborting {
	struct task *task;
	bool with_status;
};

static void cmd_abort(void *arg)
{
	struct aborting *a = arg;
	task_abort(a->task, a->with_status);
}

void bench_abort(struct bench_cmd *c, bool with_status)
{
	struct aborting a = { .task = &c->task, .with_status = with_status };
	bench_on_nexus(c->bench, c->nexus, cmd_abort, &a);
}

static void nothing(void *arg)
{
}

void bench_settle(struct bench *b)
{
	// Twice: what one worker posts to another while the first pass is under way.
	for (unsigned i = 0; i < 2 * b->nworkers; i++)
		worker_call(b->workers[i % b->nworkers], nothing, NULL);
	worker_call(b->control, nothing, NULL);
}

int bench_run(struct bench *b, unsigned nexus, struct bench_cmd *c, const uint8_t *cdb,
	      unsigned cdb_len, const void *out, uint32_t out_len, uint32_t expected_in)
{
	uint64_t lun = b->map->entries[0].number;
	memset(c, 0, offsetof(struct bench_cmd, data));
	must(cdb_len <= sizeof c->cdb, "long CDB");
	memcpy(c->cdb, cdb, cdb_len);
	c->cdb_len = cdb_len;
	c->lun = lun;
	c->out = out;
	c->out_len = out_len;
	c->expected_in = expected_in;
	bench_start(b, nexus, c);
	bench_wait(c);
	return c->status;
}

struct tmf_run {
	struct tmf tmf;
	sem_t done;
	enum tmf_result result;
};

static void tmf_finished(struct tmf *f, enum tmf_result result)
{
	struct tmf_run *r = container_of(f, struct tmf_run, tmf);
	r->result = result;
	sem_post(&r->done);
}

static void tmf_begin(void *arg)
{
	tmf_submit(arg);
}

enum tmf_result bench_tmf(struct bench *b, unsigned nexus, enum tmf_function fn, uint64_t lun)
{
	struct tmf_run r = {
		.tmf = {.nexus = b->nexuses[nexus],
			 .function = fn,
			 .lun = lun,
			 .done = tmf_finished}
	};
	sem_init(&r.done, 0, 0);
	bench_on_nexus(b, nexus, tmf_begin, &r.tmf);
	while (sem_wait(&r.done) < 0)
		; // EINTR: a fuzzer's alarm
	sem_destroy(&r.done);
	return r.result;
}
