// SPDX-License-Identifier: BSD-2-Clause
// The initiator's TCP mover against a scripted target: data both ways, status, and every way a
// hostile target may try to leave a command's memory.
#include "core/worker_util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "transport/iscsi/digest.h"
#include "transport/iscsi/dm_tcp_initiator.h"
#include "transport/wire/be.h"

enum { IN_MAX = 4 << 20, TASKS = 4 };

// The mover on a control worker, and its peer: a socket whose PDUs go to the test's script.
struct rig {
	struct worker *w;
	struct dmi *dm;
	struct iscsi_params params;
	struct dmi_task tasks[TASKS];
	int task_count;
	int res[TASKS], done_count, controls, windows;
	bool is_closed, ends_when_done;
	struct err why;
	struct msg start;

	int peer;
	struct watch watch;
	bool is_deaf; // the peer does not read
	uint8_t *in;
	size_t in_len;
	void (*script)(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len);
	uint8_t out[65536]; // data-out put together by the script
	uint32_t out_len, pdus;
	uint32_t stat_sn;
	int step;
};

static void rig_end(struct rig *r)
{
	struct err e;
	err_set(&e, -ESHUTDOWN, "end of test");
	r->dm->ops->close(r->dm, &e);
}

static void up_done(struct dmi *dm, struct dmi_task *t, int res)
{
	struct rig *r = dm->role;
	r->res[t - r->tasks] = res;
	if (++r->done_count == r->task_count && r->ends_when_done && res != -EPIPE)
		rig_end(r);
}

static int up_control(struct dmi *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		      const uint8_t *data, struct err *e)
{
	((struct rig *)dm->role)->controls++;
	return 0;
}

static void up_window(struct dmi *dm)
{
	((struct rig *)dm->role)->windows++;
}

static void up_closed(struct dmi *dm, const struct err *e)
{
	struct rig *r = dm->role;
	assert_false(r->is_closed);
	r->is_closed = true;
	r->why = *e;
	dm->ops->free(dm);
	watch_remove(r->w, &r->watch);
	worker_stop(r->w);
}

static const struct dmi_up up = {
	.done = up_done, .control = up_control, .window = up_window, .closed = up_closed
};

static void peer_rx(struct watch *wa, uint32_t events)
{
	struct rig *r = container_of(wa, struct rig, watch);
	ssize_t n;
	if (r->is_deaf)
		return;
	while ((n = read(r->peer, r->in + r->in_len, IN_MAX - r->in_len)) > 0) {
		r->in_len += (size_t)n;
		for (;;) {
			uint32_t len = r->in_len >= 48 ? get_be24(r->in + 5) : 0;
			size_t whole = 48 + ((len + 3) & ~3u);
			if (r->in_len < 48 || r->in_len < whole)
				break;
			r->pdus++;
			r->script(r, r->in, r->in + 48, len);
			if (r->is_closed)
				return;
			memmove(r->in, r->in + whole, r->in_len - whole);
			r->in_len -= whole;
		}
	}
}

static void say(struct rig *r, const void *bhs, const void *data, uint32_t len)
{
	uint8_t pdu[48 + 65536 + 4] = { 0 };
	size_t whole = 48 + ((len + 3) & ~3u);
	memcpy(pdu, bhs, 48);
	put_be24(pdu + 5, len);
	if (len)
		memcpy(pdu + 48, data, len);
	assert_int_equal(write(r->peer, pdu, whole), whole);
}

static void rig_start(struct msg *m)
{
	struct rig *r = container_of(m, struct rig, start);
	r->dm->sns = (struct dmi_sns){
		.cmd_sn = 1, .exp_cmd_sn = 1, .max_cmd_sn = 64, .exp_stat_sn = 1
	};
	r->dm->ops->full_feature(r->dm, &r->params);
	for (int i = 0; i < r->task_count; i++)
		r->dm->ops->command(r->dm, &r->tasks[i]);
}

static void rig_init(struct rig *r)
{
	memset(r, 0, sizeof *r);
	r->w = make_worker(true, 0);
	r->in = malloc(IN_MAX);
	iscsi_params_init(&r->params);
	r->params.max_recv_data = 65536;
	r->params.max_send_data = 512;
	r->params.max_burst = 4096;
	r->params.first_burst = 1024;
	r->params.max_outstanding_r2t = 2;
	r->params.initial_r2t = true;
	r->params.immediate_data = true;
	r->stat_sn = 1;
	r->ends_when_done = true;
}

static struct dmi_task *add(struct rig *r, struct sg *sg, uint32_t nsg, uint32_t len, bool is_write)
{
	struct dmi_task *t = &r->tasks[r->task_count++];
	t->sg = sg;
	t->nsg = nsg;
	t->len = len;
	t->is_write = is_write;
	t->is_read = !is_write;
	return t;
}

static void rig_run(struct rig *r)
{
	int fds[2];
	struct err e;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	r->peer = fds[1];
	fcntl(r->peer, F_SETFL, O_NONBLOCK);
	assert_int_equal(dm_tcp_initiator_new(&r->dm, r->w, fds[0], &up, r, &e), 0);
	r->watch.fn = peer_rx;
	r->watch.fd = -1;
	assert_int_equal(watch_add(r->w, &r->watch, r->peer, 0), 0);
	r->start.fn = rig_start;
	worker_post(r->w, &r->start);
	run_guarded(r->w);
	assert_true(r->is_closed);
	assert_int_equal(r->done_count, r->task_count);
}

static void rig_done(struct rig *r)
{
	close(r->peer);
	worker_free(r->w);
	free(r->in);
}

// --- what the target says ---

static void answer_head(struct rig *r, uint8_t *bhs, uint8_t opcode, uint8_t flags,
			const uint8_t *cmd)
{
	memset(bhs, 0, 48);
	bhs[0] = opcode;
	bhs[1] = flags;
	memcpy(bhs + 16, cmd + 16, 4);
	put_be32(bhs + 24, r->stat_sn);
	put_be32(bhs + 28, 2);
	put_be32(bhs + 32, 65);
}

static void data_in(struct rig *r, const uint8_t *cmd, uint8_t flags, uint32_t sn, uint32_t offset,
		    const void *data, uint32_t len)
{
	uint8_t bhs[48];
	answer_head(r, bhs, ISCSI_OP_DATA_IN, flags, cmd);
	put_be32(bhs + 20, ISCSI_TAG_NONE);
	put_be32(bhs + 36, sn);
	put_be32(bhs + 40, offset);
	say(r, bhs, data, len);
}

static void response(struct rig *r, const uint8_t *cmd, uint8_t flags, uint8_t status,
		     uint32_t residual, const void *sense, uint32_t len)
{
	uint8_t bhs[48];
	answer_head(r, bhs, ISCSI_OP_SCSI_RSP, ISCSI_F | flags, cmd);
	bhs[3] = status;
	put_be32(bhs + 44, residual);
	say(r, bhs, sense, len);
	r->stat_sn++;
}

static void r2t(struct rig *r, const uint8_t *cmd, uint32_t ttt, uint32_t sn, uint32_t offset,
		uint32_t len)
{
	uint8_t bhs[48];
	answer_head(r, bhs, ISCSI_OP_R2T, ISCSI_F, cmd);
	put_be32(bhs + 20, ttt);
	put_be32(bhs + 36, sn);
	put_be32(bhs + 40, offset);
	put_be32(bhs + 44, len);
	say(r, bhs, NULL, 0);
}

static void fill(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 7 + i / 251);
}

// --- data-in ---

static void script_read(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t all[1000];
	fill(all, sizeof all);
	assert_int_equal(bhs[1], ISCSI_F | ISCSI_CMD_R);
	assert_int_equal(get_be32(bhs + 20), 1000);
	data_in(r, bhs, 0, 0, 0, all, 600);
	data_in(r, bhs, ISCSI_F, 1, 600, all + 600, 400);
	response(r, bhs, 0, 0, 0, NULL, 0);
}

static void data_in_lands_across_the_pieces_of_the_callers_memory(void **state)
{
	struct rig r;
	uint8_t a[100], b[650], c[250], want[1000];
	struct sg sg[] = {
		{.addr = a,  .len = 100},
		   { .addr = b, .len = 650},
		      { .addr = c, .len = 250}
	};
	rig_init(&r);
	r.script = script_read;
	add(&r, sg, 3, 1000, false);
	rig_run(&r);
	fill(want, sizeof want);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.tasks[0].data_len, 1000);
	assert_memory_equal(a, want, 100);
	assert_memory_equal(b, want + 100, 650);
	assert_memory_equal(c, want + 750, 250);
	rig_done(&r);
}

static void script_collapsed(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t all[64];
	fill(all, sizeof all);
	data_in(r, bhs, ISCSI_F | ISCSI_DATA_S, 0, 0, all, sizeof all);
}

static void status_in_the_last_data_in_ends_the_command(void **state)
{
	struct rig r;
	uint8_t mem[64];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.script = script_collapsed;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.tasks[0].data_len, 64);
	assert_int_equal(r.tasks[0].residual_flags, 0);
	rig_done(&r);
}

static void script_short(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t all[64] = { 0 };
	data_in(r, bhs, ISCSI_F, 0, 0, all, 20);
	response(r, bhs, 0, 0, 0, NULL, 0);
}

static void missing_data_is_an_underflow_even_if_the_target_denies_it(void **state)
{
	struct rig r;
	uint8_t mem[64];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.script = script_short;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.tasks[0].data_len, 20);
	assert_int_equal(r.tasks[0].residual_flags, ISCSI_RSP_UNDERFLOW);
	assert_int_equal(r.tasks[0].residual, 44);
	rig_done(&r);
}

static void script_overclaimed(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t all[64] = { 0 };
	data_in(r, bhs, ISCSI_F, 0, 0, all, 64);
	response(r, bhs, ISCSI_RSP_UNDERFLOW, 0, 60, NULL, 0);
}

static void data_that_the_residual_takes_back_is_not_valid(void **state)
{
	struct rig r;
	uint8_t mem[64];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.script = script_overclaimed;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.tasks[0].data_len, 4);
	rig_done(&r);
}

static void script_sense(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t sense[20] = { 0, 18, 0x70, 0, 5 };
	response(r, bhs, ISCSI_RSP_UNDERFLOW, 2, 64, sense, sizeof sense);
}

static void sense_comes_with_check_condition(void **state)
{
	struct rig r;
	uint8_t mem[64];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.script = script_sense;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.tasks[0].status, 2);
	assert_int_equal(r.tasks[0].sense_len, 18);
	assert_int_equal(r.tasks[0].sense[2], 5);
	assert_int_equal(r.tasks[0].data_len, 0);
	rig_done(&r);
}

static void script_long_sense(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t sense[1002] = { 1000 >> 8, 1000 & 0xff, 0x70, 0, 5 };
	response(r, bhs, 0, 2, 0, sense, sizeof sense);
}

static void sense_longer_than_spc_allows_is_cut(void **state)
{
	struct rig r;
	uint8_t mem[64];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.script = script_long_sense;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.tasks[0].sense_len, DMI_SENSE_MAX);
	rig_done(&r);
}

// --- data-out ---

static void gather(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint32_t offset = (bhs[0] & 0x3f) == ISCSI_OP_DATA_OUT ? get_be32(bhs + 40) : 0;
	assert_true(offset + len <= sizeof r->out);
	assert_true(len <= r->params.max_send_data);
	memcpy(r->out + offset, data, len);
	r->out_len += len;
}

// Immediate data first, then two R2Ts at once, answered one behind the other.
static void script_write(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	static uint8_t cmd[48];
	gather(r, bhs, data, len);
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD) {
		memcpy(cmd, bhs, 48);
		assert_int_equal(bhs[1], ISCSI_F | ISCSI_CMD_W);
		assert_int_equal(len, 512);
		r2t(r, bhs, 7, 0, 512, 1200);
		r2t(r, bhs, 8, 1, 1712, 1288);
		return;
	}
	// 512 + 512 + 176, then 512 + 512 + 264
	static const uint32_t lens[] = { 512, 512, 176, 512, 512, 264 };
	assert_int_equal(len, lens[r->step]);
	assert_int_equal(get_be32(bhs + 20), r->step < 3 ? 7 : 8);
	assert_int_equal(get_be32(bhs + 36), (uint32_t)r->step % 3);
	assert_int_equal(bhs[1], r->step % 3 == 2 ? ISCSI_F : 0);
	if (++r->step == 6)
		response(r, cmd, 0, 0, 0, NULL, 0);
}

static void a_write_goes_out_immediate_then_as_r2ts_ask(void **state)
{
	struct rig r;
	uint8_t mem[3000];
	struct sg sg[] = {
		{.addr = mem,	       .len = 700 },
		     { .addr = mem + 700, .len = 2300}
	};
	rig_init(&r);
	r.script = script_write;
	fill(mem, sizeof mem);
	add(&r, sg, 2, sizeof mem, true);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.out_len, 3000);
	assert_memory_equal(r.out, mem, 3000);
	rig_done(&r);
}

static void script_unsolicited(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	static uint8_t cmd[48];
	gather(r, bhs, data, len);
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD) {
		memcpy(cmd, bhs, 48);
		assert_int_equal(bhs[1], ISCSI_CMD_W); // F follows with the data
		return;
	}
	if (get_be32(bhs + 20) == ISCSI_TAG_NONE) {
		assert_int_equal(get_be32(bhs + 40), 512);
		assert_int_equal(bhs[1], ISCSI_F);
		r2t(r, cmd, 9, 0, 1024, 476);
	} else if (bhs[1] & ISCSI_F) {
		response(r, cmd, 0, 0, 0, NULL, 0);
	}
}

static void unsolicited_data_fills_the_first_burst(void **state)
{
	struct rig r;
	uint8_t mem[1500];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.params.initial_r2t = false;
	r.script = script_unsolicited;
	fill(mem, sizeof mem);
	add(&r, &sg, 1, sizeof mem, true);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.out_len, 1500);
	assert_memory_equal(r.out, mem, 1500);
	rig_done(&r);
}

static void script_nothing_immediate(struct rig *r, const uint8_t *bhs, const uint8_t *data,
				     uint32_t len)
{
	assert_int_equal(len, 0);
	assert_int_equal(bhs[1], ISCSI_F | ISCSI_CMD_W);
	response(r, bhs, ISCSI_RSP_UNDERFLOW, 2, 100, NULL, 0);
}

static void no_data_leaves_unasked_where_none_may(void **state)
{
	struct rig r;
	uint8_t mem[100] = { 0 };
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.params.immediate_data = false;
	r.script = script_nothing_immediate;
	add(&r, &sg, 1, sizeof mem, true);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	rig_done(&r);
}

// The target asks for 2 MiB, which the socket cannot hold, ends the command and reads nothing.
static void script_early_status(struct rig *r, const uint8_t *bhs, const uint8_t *data,
				uint32_t len)
{
	static uint8_t cmd[48];
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD) {
		memcpy(cmd, bhs, 48);
		r2t(r, cmd, 1, 0, 512, (2 << 20) - 512);
		response(r, cmd, 0, 2, 0, NULL, 0);
		return;
	}
	assert_int_equal(r->done_count, 0); // the rest of the memory is still being sent
	if (bhs[1] & ISCSI_F)
		r->step = 1;
}

static void a_command_ends_when_the_last_byte_of_its_memory_has_left(void **state)
{
	struct rig r;
	uint8_t *mem = calloc(1, 2 << 20);
	struct sg sg = { .addr = mem, .len = 2 << 20 };
	rig_init(&r);
	r.params.max_send_data = 65536;
	r.params.first_burst = 512;
	r.params.max_burst = 4 << 20;
	r.script = script_early_status;
	add(&r, &sg, 1, 2 << 20, true);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.tasks[0].status, 2);
	rig_done(&r);
	free(mem);
}

// --- hostile targets: each script sends something that must end the connection ---

static const uint8_t *hostile_cmd;
static void h_unknown_data_in(struct rig *r)
{
	uint8_t cmd[48];
	memcpy(cmd, hostile_cmd, 48);
	cmd[17] ^= 1;
	data_in(r, cmd, ISCSI_F, 0, 0, cmd, 4);
}
static void h_unknown_response(struct rig *r)
{
	uint8_t cmd[48];
	memcpy(cmd, hostile_cmd, 48);
	cmd[19] ^= 1;
	response(r, cmd, 0, 0, 0, NULL, 0);
}
static void h_role_tag_response(struct rig *r)
{
	uint8_t cmd[48];
	memcpy(cmd, hostile_cmd, 48);
	cmd[16] ^= 0x40;
	response(r, cmd, 0, 0, 0, NULL, 0);
}
static void h_data_sn_gap(struct rig *r)
{
	data_in(r, hostile_cmd, 0, 1, 0, hostile_cmd, 4);
}
static void h_data_sn_again(struct rig *r)
{
	data_in(r, hostile_cmd, 0, 0, 0, hostile_cmd, 4);
	data_in(r, hostile_cmd, 0, 0, 4, hostile_cmd, 4);
}
static void h_offset_gap(struct rig *r)
{
	data_in(r, hostile_cmd, 0, 0, 4, hostile_cmd, 4);
}
static void h_offset_back(struct rig *r)
{
	data_in(r, hostile_cmd, 0, 0, 0, hostile_cmd, 8);
	data_in(r, hostile_cmd, 0, 1, 4, hostile_cmd, 8);
}
static void h_offset_wraps(struct rig *r)
{
	data_in(r, hostile_cmd, 0, 0, 0xfffffffc, hostile_cmd, 8);
}
static void h_beyond_edtl(struct rig *r)
{
	uint8_t much[1004] = { 0 };
	data_in(r, hostile_cmd, ISCSI_F, 0, 0, much, sizeof much);
}
static void h_one_beyond(struct rig *r)
{
	uint8_t much[1000] = { 0 };
	data_in(r, hostile_cmd, 0, 0, 0, much, sizeof much);
	data_in(r, hostile_cmd, ISCSI_F, 1, 1000, much, 1);
}
static void h_empty_data_in(struct rig *r)
{
	data_in(r, hostile_cmd, 0, 0, 0, NULL, 0);
}
static void h_wants_ack(struct rig *r)
{
	data_in(r, hostile_cmd, ISCSI_F | ISCSI_DATA_A, 0, 0, hostile_cmd, 4);
}
static void h_r2t_for_read(struct rig *r)
{
	r2t(r, hostile_cmd, 1, 0, 0, 4);
}
static void h_sense_too_long(struct rig *r)
{
	uint8_t sense[20] = { 0, 19, 0x70 };
	response(r, hostile_cmd, 0, 2, 0, sense, sizeof sense);
}
static void h_sense_huge(struct rig *r)
{
	uint8_t sense[20] = { 0xff, 0xff, 0x70 };
	response(r, hostile_cmd, 0, 2, 0, sense, sizeof sense);
}
static void h_sense_one_byte(struct rig *r)
{
	response(r, hostile_cmd, 0, 2, 0, "", 1);
}
static void h_sense_segment(struct rig *r)
{
	uint8_t sense[8196] = { 0, 18, 0x70 };
	response(r, hostile_cmd, 0, 2, 0, sense, sizeof sense);
}
static void h_underflow_too_large(struct rig *r)
{
	response(r, hostile_cmd, ISCSI_RSP_UNDERFLOW, 0, 1001, NULL, 0);
}
static void h_underflow_and_overflow(struct rig *r)
{
	response(r, hostile_cmd, ISCSI_RSP_UNDERFLOW | ISCSI_RSP_OVERFLOW, 0, 1, NULL, 0);
}
static void h_response_twice(struct rig *r)
{
	r->ends_when_done = false;
	response(r, hostile_cmd, 0, 0, 0, NULL, 0);
	response(r, hostile_cmd, 0, 0, 0, NULL, 0);
}
static void h_opcode(struct rig *r)
{
	uint8_t bhs[48];
	answer_head(r, bhs, 0x3a, ISCSI_F, hostile_cmd);
	say(r, bhs, NULL, 0);
}
static void h_from_an_initiator(struct rig *r)
{
	uint8_t bhs[48];
	answer_head(r, bhs, ISCSI_OP_SCSI_CMD, ISCSI_F, hostile_cmd);
	say(r, bhs, NULL, 0);
}
static void h_ahs(struct rig *r)
{
	uint8_t pdu[48 + 8] = { 0 };
	answer_head(r, pdu, ISCSI_OP_SCSI_RSP, ISCSI_F, hostile_cmd);
	pdu[4] = 2;
	assert_int_equal(write(r->peer, pdu, sizeof pdu), sizeof pdu);
}
static void h_segment_beyond_mrdsl(struct rig *r)
{
	uint8_t bhs[48];
	answer_head(r, bhs, ISCSI_OP_DATA_IN, ISCSI_F, hostile_cmd);
	put_be24(bhs + 5, 65537);
	assert_int_equal(write(r->peer, bhs, 48), 48);
}
static void h_nop_in_with_much_data(struct rig *r)
{
	uint8_t bhs[48], much[8196] = { 0 };
	answer_head(r, bhs, ISCSI_OP_NOP_IN, ISCSI_F, hostile_cmd);
	say(r, bhs, much, sizeof much);
}
static void h_data_in_for_write(struct rig *r)
{
	data_in(r, hostile_cmd, ISCSI_F, 0, 0, hostile_cmd, 4);
}
static void h_r2t_beyond_edtl(struct rig *r)
{
	r2t(r, hostile_cmd, 1, 0, 512, 489);
}
static void h_r2t_wraps(struct rig *r)
{
	r2t(r, hostile_cmd, 1, 0, 512, 0xffffffff);
}
static void h_r2t_offset(struct rig *r)
{
	r2t(r, hostile_cmd, 1, 0, 0, 100);
}
static void h_r2t_sn(struct rig *r)
{
	r2t(r, hostile_cmd, 1, 1, 512, 100);
}
static void h_r2t_without_length(struct rig *r)
{
	r2t(r, hostile_cmd, 1, 0, 512, 0);
}
static void h_r2t_without_tag(struct rig *r)
{
	r2t(r, hostile_cmd, ISCSI_TAG_NONE, 0, 512, 4);
}
static void h_r2t_burst(struct rig *r)
{
	r2t(r, hostile_cmd, 1, 0, 512, 488); // with a MaxBurstLength of 480
}
static void h_r2t_unknown(struct rig *r)
{
	uint8_t cmd[48];
	memcpy(cmd, hostile_cmd, 48);
	cmd[18] ^= 1;
	r2t(r, cmd, 1, 0, 512, 4);
}

static const struct hostile {
	const char *name;
	void (*say)(struct rig *r);
	bool is_write;
	const char *text; // in the reason
	int res;	  // of the command
} hostiles[] = {
	{"Data-In with an unknown tag",	 h_unknown_data_in,	    false, "no such command",		      -EPIPE},
	{ "response with an unknown tag",	  h_unknown_response,	      false, "no such command",		-EPIPE},
	{ "response with a tag of the role", h_role_tag_response,	  false, "no such command",
	  -EPIPE												       },
	{ "DataSN gap",			h_data_sn_gap,	       false, "DataSN is 1, not 0",		    -EPIPE},
	{ "DataSN repeated",		     h_data_sn_again,	      false, "DataSN is 0, not 1",		   -EPIPE},
	{ "offset gap",			h_offset_gap,	      false, "Data-In: 4 bytes at 4",	      -EPIPE},
	{ "offset going back",	       h_offset_back,	      false, "Data-In: 8 bytes at 4",	      -EPIPE},
	{ "offset that wraps",	       h_offset_wraps,	       false, "Data-In: 8 bytes at 4294967292", -EPIPE},
	{ "Data-In beyond EDTL",		 h_beyond_edtl,		false, "of 1000 have been received",     -EPIPE},
	{ "one byte beyond EDTL",		  h_one_beyond,		false, "Data-In: 1 bytes at 1000",	   -EPIPE},
	{ "Data-In without data",		  h_empty_data_in,	   false, "without data and not final",	-EPIPE},
	{ "Data-In that asks for an ack",	  h_wants_ack,	       false, "A is set",			  -EPIPE},
	{ "R2T for a read",		    h_r2t_for_read,	    false, "writes nothing",		     -EPIPE},
	{ "sense longer than its segment",   h_sense_too_long,	     false, "19 bytes of sense",		 -EPIPE},
	{ "sense of 65535 bytes",		  h_sense_huge,		false, "65535 bytes of sense",	       -EPIPE},
	{ "sense segment of one byte",       h_sense_one_byte,	 false, "in a data segment of 1",	  -EPIPE},
	{ "sense segment beyond 8192",       h_sense_segment,		false, "SCSI Response with 8196",	  -EPIPE},
	{ "underflow above EDTL",		  h_underflow_too_large,	 false, "underflow of 1001",		     -EPIPE},
	{ "underflow and overflow",	    h_underflow_and_overflow, false, "at once",			-EPIPE},
	{ "second response",		     h_response_twice,	       false, "no such command",		 0	   },
	{ "unknown opcode",		    h_opcode,		      false, "not known",			  -EPIPE},
	{ "initiator's PDU",		     h_from_an_initiator,	  false, "the other way",		  -EPIPE},
	{ "AHS in a response",	       h_ahs,		      false, "no AHS",			       -EPIPE},
	{ "segment beyond MRDSL",		  h_segment_beyond_mrdsl,	  false, "at most 65536",		  -EPIPE},
	{ "NOP-In of 8196 bytes",		  h_nop_in_with_much_data,  false, "NOP-In with 8196",		      -EPIPE},
	{ "Data-In for a write",		 h_data_in_for_write,      true,  "reads nothing",		     -EPIPE},
	{ "R2T beyond EDTL",		     h_r2t_beyond_edtl,	true,  "R2T: 489 bytes at 512",	       -EPIPE},
	{ "R2T that wraps",		    h_r2t_wraps,		 true,  "R2T: 4294967295 bytes at 512",   -EPIPE},
	{ "R2T for data that was sent",	h_r2t_offset,	      true,  "R2T: 100 bytes at 0",		   -EPIPE},
	{ "R2TSN gap",		       h_r2t_sn,		 true,  "R2TSN is 1, not 0",		    -EPIPE},
	{ "R2T for nothing",		     h_r2t_without_length,	   true,	 "asks for no data",		     -EPIPE},
	{ "R2T without a tag",	       h_r2t_without_tag,	  true,	"no target tag",			 -EPIPE},
	{ "R2T above MaxBurstLength",	      h_r2t_burst,		   true,	 "MaxBurstLength is 480",	  -EPIPE},
	{ "R2T with an unknown tag",	     h_r2t_unknown,	    true,  "no such command",		     -EPIPE},
};

static const struct hostile *hostile;

static void script_hostile(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t cmd[48];
	if ((bhs[0] & 0x3f) != ISCSI_OP_SCSI_CMD)
		return;
	memcpy(cmd, bhs, 48);
	hostile_cmd = cmd;
	hostile->say(r);
}

static void what_does_not_fit_a_command_in_flight_ends_the_connection(void **state)
{
	struct rig r;
	uint8_t *mem = malloc(1000); // exact, for AddressSanitizer
	for (size_t i = 0; i < sizeof hostiles / sizeof *hostiles; i++) {
		struct sg sg = { .addr = mem, .len = 1000 };
		hostile = &hostiles[i];
		memset(mem, 0, 1000);
		rig_init(&r);
		r.params.max_burst = 480;
		r.script = script_hostile;
		add(&r, &sg, 1, 1000, hostile->is_write);
		rig_run(&r);
		if (r.res[0] != hostile->res || !strstr(r.why.text, hostile->text))
			fail_msg("%s: res %d, closed with: %s", hostile->name, r.res[0],
				 r.why.text);
		rig_done(&r);
	}
	free(mem);
}

// The peer reads nothing, so no Data-Out leaves: the third R2T is one too many.
static void script_many_r2ts(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t cmd[48];
	memcpy(cmd, bhs, 48);
	r->is_deaf = true;
	r2t(r, cmd, 1, 0, 0, 1 << 20);
	r2t(r, cmd, 2, 1, 1 << 20, 1 << 20);
	r2t(r, cmd, 3, 2, 2 << 20, 1 << 20);
}

static void more_r2ts_than_agreed_end_the_connection(void **state)
{
	struct rig r;
	uint8_t *mem = calloc(1, 3 << 20);
	struct sg sg = { .addr = mem, .len = 3 << 20 };
	rig_init(&r);
	r.params.immediate_data = false;
	r.params.max_send_data = 65536;
	r.params.max_burst = 1 << 20;
	r.script = script_many_r2ts;
	add(&r, &sg, 1, 3 << 20, true);
	rig_run(&r);
	assert_int_equal(r.res[0], -EPIPE);
	assert_non_null(strstr(r.why.text, "MaxOutstandingR2T"));
	rig_done(&r);
	free(mem);
}

// --- drop ---

static void script_drop(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t cmd[48];
	memcpy(cmd, bhs, 48);
	r->ends_when_done = false;
	r->dm->ops->drop(r->dm, &r->tasks[0]);
	assert_int_equal(r->done_count, 1);
	data_in(r, cmd, ISCSI_F, 0, 0, "abcd", 4);
}

static void a_dropped_command_takes_no_more_data(void **state)
{
	struct rig r;
	uint8_t mem[64] = { 0 };
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.script = script_drop;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.res[0], -ECANCELED);
	assert_int_equal(mem[0], 0);
	assert_non_null(strstr(r.why.text, "no such command"));
	rig_done(&r);
}

// --- serial numbers ---

static void script_window(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	static const struct {
		uint32_t exp, max, want_max;
	} steps[] = {
		{2,   80,	 80}, // forward
		{ 2,  70,	 80}, // never back
		{ 90, 80,	  80}, // contradicts itself
		{ 2,  0x90000000, 80}, // too far is back, modulo 2^32
	};
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD)
		for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
			uint8_t nop[48] = { ISCSI_OP_NOP_IN, ISCSI_F };
			put_be32(nop + 16, ISCSI_TAG_NONE);
			put_be32(nop + 20, ISCSI_TAG_NONE);
			put_be32(nop + 28, steps[i].exp);
			put_be32(nop + 32, steps[i].max);
			say(r, nop, NULL, 0);
		}
	uint8_t cmd[48];
	memcpy(cmd, bhs, 48);
	response(r, cmd, 0, 0, 0, NULL, 0);
}

static void the_command_window_only_moves_forward(void **state)
{
	struct rig r;
	rig_init(&r);
	r.script = script_window;
	add(&r, NULL, 0, 0, false)->is_read = false;
	rig_run(&r);
	assert_int_equal(r.controls, 4);
	assert_int_equal(r.windows, 1);
	rig_done(&r);
}

// --- digests ---

static void script_bad_digest(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t pdu[48 + 4 + 4] = { 0 };
	answer_head(r, pdu, ISCSI_OP_DATA_IN, ISCSI_F | ISCSI_DATA_S, bhs);
	put_be24(pdu + 5, 4);
	put_be32(pdu + 20, ISCSI_TAG_NONE);
	memcpy(pdu + 48, "abcd", 4);
	digest_put(digest_update(ISCSI_CRC_START, "abce", 4), pdu + 52);
	assert_int_equal(write(r->peer, pdu, sizeof pdu), sizeof pdu);
}

static void a_wrong_data_digest_ends_the_connection(void **state)
{
	struct rig r;
	uint8_t mem[4] = { 0 };
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.params.data_digest = true;
	r.script = script_bad_digest;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.res[0], -EPIPE);
	assert_non_null(strstr(r.why.text, "data digest error in Data-In"));
	rig_done(&r);
}

// --- the end ---

static void script_close(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	if (r->pdus == 3)
		shutdown(r->peer, SHUT_RDWR);
}

static void every_command_in_flight_ends_with_the_connection(void **state)
{
	struct rig r;
	uint8_t mem[3][16];
	struct sg sg[3];
	rig_init(&r);
	r.script = script_close;
	for (int i = 0; i < 3; i++) {
		sg[i] = (struct sg){ .addr = mem[i], .len = 16 };
		add(&r, &sg[i], 1, 16, false);
	}
	rig_run(&r);
	for (int i = 0; i < 3; i++)
		assert_int_equal(r.res[i], -EPIPE);
	rig_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_in_lands_across_the_pieces_of_the_callers_memory),
		cmocka_unit_test(status_in_the_last_data_in_ends_the_command),
		cmocka_unit_test(missing_data_is_an_underflow_even_if_the_target_denies_it),
		cmocka_unit_test(data_that_the_residual_takes_back_is_not_valid),
		cmocka_unit_test(sense_comes_with_check_condition),
		cmocka_unit_test(sense_longer_than_spc_allows_is_cut),
		cmocka_unit_test(a_write_goes_out_immediate_then_as_r2ts_ask),
		cmocka_unit_test(unsolicited_data_fills_the_first_burst),
		cmocka_unit_test(no_data_leaves_unasked_where_none_may),
		cmocka_unit_test(a_command_ends_when_the_last_byte_of_its_memory_has_left),
		cmocka_unit_test(what_does_not_fit_a_command_in_flight_ends_the_connection),
		cmocka_unit_test(more_r2ts_than_agreed_end_the_connection),
		cmocka_unit_test(a_dropped_command_takes_no_more_data),
		cmocka_unit_test(the_command_window_only_moves_forward),
		cmocka_unit_test(a_wrong_data_digest_ends_the_connection),
		cmocka_unit_test(every_command_in_flight_ends_with_the_connection),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
