// SPDX-License-Identifier: BSD-2-Clause
// The commands of farblock-initiator against a unit that answers anything. The first byte chooses
// the command; then each answer is a byte of how it ends, two of its length, and its data. After
// the input every answer is GOOD without data. What is printed is thrown away.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/scsi_protocol.h"
#include "initiator/tool/tool.h"
#include "initiator/tool/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DEPTH = 16, REFUSED = 1, WITHOUT_SENSE = 2, HALVES = 3 };

// --- the unit ---

struct fake {
	struct scsi_session scsi;
	struct scsi_cmd *queue[DEPTH];
	unsigned count;
	struct defer defer;
	struct msg up_msg, free_msg;
};

static const uint8_t *input;
static size_t input_len;

static uint8_t take(void)
{
	if (!input_len)
		return 0;
	input_len--;
	return *input++;
}

static void refuse(struct scsi_cmd *c, bool has_sense)
{
	static const uint8_t sense[18] = { 0x70, 0, 5, [7] = 10, [12] = 0x20 };
	c->status = SCSI_CHECK_CONDITION;
	c->sense_len = has_sense ? sizeof sense : 0;
	memcpy(c->sense, sense, sizeof sense);
}

static void answer(struct scsi_cmd *c)
{
	uint8_t how = take() & 3;
	uint32_t len = (uint32_t)take() << 8;
	len = (len | take()) & 0xfff;
	len = len < input_len ? len : (uint32_t)input_len;
	c->status = SCSI_GOOD;
	c->data_len = c->sense_len = 0;
	c->is_over = false;
	if (how == REFUSED || how == WITHOUT_SENSE)
		refuse(c, how == REFUSED);
	else if (c->is_read)
		c->data_len = len < c->len ? len : c->len;
	if (c->data_len)
		memcpy(c->sg[0].addr, input, c->data_len);
	c->is_under = c->data_len < c->len && (c->is_read || how == HALVES);
	c->residual = c->is_under ? c->len - c->data_len : 0;
	input += len;
	input_len -= len;
}

static void run(struct defer *d)
{
	struct fake *f = container_of(d, struct fake, defer);
	struct scsi_cmd *queue[DEPTH];
	unsigned count = f->count;
	memcpy(queue, f->queue, sizeof queue);
	f->count = 0;
	for (unsigned i = 0; i < count; i++) {
		answer(queue[i]);
		queue[i]->sent = NULL;
		scsi_cmd_ended(queue[i], 0);
	}
}

// --- its session ---

static struct fake *fake_of(const struct scsi_session *s)
{
	return container_of(s, struct fake, scsi);
}

static unsigned room(struct scsi_session *s)
{
	return s->is_up ? DEPTH - fake_of(s)->count : 0;
}

static void send(struct scsi_session *s, struct scsi_cmd *c)
{
	struct fake *f = fake_of(s);
	c->sent = f;
	f->queue[f->count++] = c;
	worker_defer(s->worker, &f->defer, run);
}

static void give_up(struct scsi_session *s, const struct err *why)
{
	abort();
}

static void log_out(struct scsi_session *s)
{
	struct err none = { 0 };
	scsi_session_begin_end(s, &none);
	scsi_session_lost(s);
	scsi_session_fail(s);
	s->ops.closed(s, &none);
}

static void free_session(struct scsi_session *s)
{
	worker_post(s->worker, &fake_of(s)->free_msg);
}

static void free_run(struct msg *m)
{
	struct fake *f = container_of(m, struct fake, free_msg);
	void (*freed)(void *) = f->scsi.ops.freed;
	void *arg = f->scsi.arg;
	worker_defer_cancel(&f->defer);
	scsi_session_done(&f->scsi);
	free(f);
	freed(arg);
}

static void info(const struct scsi_session *s, struct scsi_session_info *ret)
{
}

static void up_run(struct msg *m)
{
	scsi_session_enter_up(&container_of(m, struct fake, up_msg)->scsi);
}

static int fake_open(struct scsi_session **ret, struct worker *w, const void *config,
		     const struct scsi_session_ops *ops, void *arg, struct err *e)
{
	static const struct scsi_protocol protocol = { .room = room,
						       .send = send,
						       .give_up = give_up,
						       .logout = log_out,
						       .free = free_session,
						       .info = info };
	struct fake *f = calloc(1, sizeof *f);
	if (!f)
		abort();
	scsi_session_init(&f->scsi, w, &protocol, ops, arg);
	f->scsi.queue_depth = DEPTH;
	f->up_msg.fn = up_run;
	f->free_msg.fn = free_run;
	worker_post(w, &f->up_msg);
	*ret = &f->scsi;
	return 0;
}

// --- the commands ---

static int path_of(void *arg, const char *url, struct tool_path *ret, struct err *e)
{
	char none = 0;
	return tool_path_set(ret, fake_open, &none, 1, e);
}

static int fake_path(const struct tool *t, const char *url, bool needs_lun, struct tool_path *ret,
		     struct err *e)
{
	return path_of(NULL, url, ret, e);
}

static int tree(struct tool *t)
{
	struct tree *r;
	struct err e;
	if (tree_new(&r, t, &e) < 0)
		abort();
	tree_begin(r, "fake");
	if (tree_found(r, "target", 1, "portal", "fake") < 0)
		abort();
	tree_visit(r, path_of, NULL);
	return tree_end(r);
}

static const struct {
	int (*run)(struct tool *t);
	unsigned bit;
	const char *argv[8];
} verbs[] = {
	// clang-format off
	{tool_inquiry, TOOL_INQUIRY, {"fake"}},
	{tool_inquiry, TOOL_INQUIRY, {"fake", "--json"}},
	{tool_luns, TOOL_LUNS, {"fake"}},
	{tool_luns, TOOL_LUNS, {"fake", "--json"}},
	{tool_capacity, TOOL_CAPACITY, {"fake"}},
	{tool_reserve, TOOL_RESERVE, {"fake", "report"}},
	{tool_reserve, TOOL_RESERVE, {"fake", "report", "--json"}},
	{tool_reserve, TOOL_RESERVE, {"fake", "register", "--service-key", "7"}},
	{tool_unmap, TOOL_UNMAP, {"fake", "--force", "--length", "64k"}},
	{tool_read, TOOL_READ, {"fake", "-o", "/dev/null", "--length", "64k"}},
	{tool_copy, TOOL_COPY, {"fake/0", "fake/0", "--length", "64k", "--seek", "1m", "--force"}},
	{tree, TOOL_DISCOVER, {"fake", "--tree", "--run-dir", "/none"}},
	{tree, TOOL_DISCOVER, {"fake", "--tree", "--json", "--run-dir", "/none"}},
	// clang-format on
};

static void run_verb(unsigned n)
{
	struct tool t = { .path = fake_path };
	struct err e;
	int argc = 0;
	char *argv[8];
	for (; argc < 8 && verbs[n].argv[argc]; argc++)
		argv[argc] = (char *)(uintptr_t)verbs[n].argv[argc];
	if (tool_options_parse(&t.o, verbs[n].bit, argc, argv, &e) < 0)
		abort();
	verbs[n].run(&t);
	tool_close(&t);
}

// Not the descriptors: the findings of sanitizers are printed there.
static void silence(void)
{
	stdout = fopen("/dev/null", "w");
	stderr = fopen("/dev/null", "w");
	if (!stdout || !stderr)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool is_silent;
	if (!is_silent)
		silence();
	is_silent = true;
	input = data;
	input_len = size;
	run_verb(take() % (sizeof verbs / sizeof *verbs));
	return 0;
}
