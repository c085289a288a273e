// SPDX-License-Identifier: BSD-2-Clause
// See odx.h. Each step has a token of its own: data that another initiator changes in the meantime
// revokes only that.
#include "initiator/tool/odx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/worker.h"
#include "initiator/token.h"

#define STEP_MOST	    (64u << 20) // bytes: progress and Ctrl-C stay alive
#define DELAY_LEAST_MS	    10
#define DELAY_MOST_MS	    1000
#define STALL_NS	    60000000000ull // without progress: given up
#define KEY_ILLEGAL_REQUEST 5
#define KEY_COPY_ABORTED    10

enum { PAGE_MAX = 4096, INFO_MAX = 32 + 255 + 4 + 2 + TOKEN_LEN };
enum { ACTION_POPULATE = 0x10, ACTION_WRITE = 0x11 };

static bool read_limits(const struct tool_disk *d, struct token_limits *ret)
{
	static uint8_t page[PAGE_MAX];
	uint32_t n;
	struct err ignored;
	struct scsi_args args = { .len = sizeof page, .flags = 1, .page = 0x8f };
	return !tool_data_in(d->sync, d->lun, SCSI_INQUIRY, &args, page, sizeof page, &n,
			     &ignored) &&
	       token_limits_parse(ret, page, n);
}

static void limit(struct odx *o, uint64_t blocks)
{
	if (blocks && blocks < o->most)
		o->most = blocks;
}

bool odx_init(struct odx *o, struct tool_disk *from, struct tool_disk *to)
{
	struct token_limits a, b;
	*o = (struct odx){ .from = from, .to = to, .list_id = (uint32_t)getpid() << 8 };
	if (from->block_size != to->block_size || !read_limits(from, &a) || !read_limits(to, &b) ||
	    !a.can_populate || !b.can_write)
		return false;
	o->most = STEP_MOST / from->block_size;
	limit(o, a.blocks);
	limit(o, a.optimal);
	limit(o, b.blocks);
	limit(o, b.optimal);
	return true;
}

// --- commands ---

static bool is_refusal(const struct scsi_cmd *c)
{
	struct scsi_sense s;
	return !c->res && scsi_sense_parse(c->sense, c->sense_len, &s) &&
	       (s.key == KEY_ILLEGAL_REQUEST || s.key == KEY_COPY_ABORTED);
}

static int run(struct tool_disk *d, enum scsi_op op, uint32_t list_id, uint8_t *data, uint32_t len,
	       uint32_t *ret_len, struct err *e)
{
	struct scsi_sync_cmd c;
	struct scsi_args args = { .lba = list_id, .len = len };
	int r = scsi_cmd_set(&c.cmd, d->lun, op, &args, data, len);
	if (!r)
		r = tool_run(d->sync, &c, op, e);
	*ret_len = r ? 0 : c.cmd.data_len;
	return r && is_refusal(&c.cmd) ? -EOPNOTSUPP : r;
}

// What the copy manager said instead of a result, in words.
static int failed(const struct token_info *i, const char *name, struct err *e)
{
	struct scsi_cmd c = { .status = SCSI_CHECK_CONDITION };
	char text[160];
	c.sense_len = (uint16_t)(i->sense_len < sizeof c.sense ? i->sense_len : sizeof c.sense);
	if (i->sense)
		memcpy(c.sense, i->sense, c.sense_len);
	scsi_cmd_text(&c, text, sizeof text);
	return err_set(e, -EOPNOTSUPP, "%s: %s", name, text);
}

static void pause_for(uint32_t ms)
{
	uint32_t n = ms < DELAY_LEAST_MS ? DELAY_LEAST_MS : ms > DELAY_MOST_MS ? DELAY_MOST_MS : ms;
	struct timespec t = { .tv_sec = n / 1000, .tv_nsec = n % 1000 * 1000000l };
	nanosleep(&t, NULL); // a signal ends it
}

// The end of what was begun with that list identifier; asks until it has ended.
static int result(struct odx *o, struct tool_disk *d, uint8_t action, struct token_info *ret,
		  struct err *e)
{
	static uint8_t data[INFO_MAX];
	const char *name = action == ACTION_POPULATE ? "POPULATE TOKEN" : "WRITE USING TOKEN";
	uint64_t blocks = 0, grew_ns = clock_ns();
	uint32_t n;
	for (;;) {
		memset(data, 0, sizeof data);
		int r = run(d, SCSI_RECEIVE_TOKEN_INFO, o->list_id, data, sizeof data, &n, e);
		if (r)
			return r;
		if (!token_info_parse(ret, data, n, action))
			return err_set(e, -EOPNOTSUPP,
				       "RECEIVE ROD TOKEN INFORMATION: an answer about another "
				       "command, or too short (%u bytes)",
				       n);
		if (!ret->is_running)
			break;
		if (tool_interrupted())
			return err_set(e, -ECANCELED, "interrupted");
		if (ret->blocks != blocks)
			grew_ns = clock_ns();
		else if (clock_ns() - grew_ns > STALL_NS)
			return err_set(e, -ETIMEDOUT, "%s: no progress for 60 s", name);
		blocks = ret->blocks;
		pause_for(ret->delay_ms);
	}
	return ret->is_done ? 0 : failed(ret, name, e);
}

static uint32_t min_blocks(const struct token_info *i, uint32_t blocks)
{
	return i->has_blocks && i->blocks < blocks ? (uint32_t)i->blocks : blocks;
}

// *blocks: those to represent, then those that the token represents.
static int populate(struct odx *o, uint64_t lba, uint32_t *blocks, struct token_info *ret,
		    struct err *e)
{
	uint8_t list[TOKEN_POPULATE_LEN];
	uint32_t ignored;
	token_populate_list(list, lba, *blocks);
	int r = run(o->from, SCSI_POPULATE_TOKEN, ++o->list_id, list, sizeof list, &ignored, e);
	if (!r)
		r = result(o, o->from, ACTION_POPULATE, ret, e);
	if (r)
		return r;
	*blocks = min_blocks(ret, *blocks);
	return ret->has_token && *blocks
		       ? 0
		       : err_set(e, -EOPNOTSUPP, "POPULATE TOKEN: the target gave no token");
}

static int64_t write_using(struct odx *o, uint64_t lba, uint32_t blocks,
			   const struct token_info *token, struct err *e)
{
	uint8_t list[TOKEN_WRITE_LEN];
	struct token_info i;
	uint32_t ignored;
	token_write_list(list, token->token, lba, blocks);
	int r = run(o->to, SCSI_WRITE_USING_TOKEN, ++o->list_id, list, sizeof list, &ignored, e);
	if (!r)
		r = result(o, o->to, ACTION_WRITE, &i, e);
	if (r)
		return r;
	uint32_t written = min_blocks(&i, blocks);
	if (!i.has_blocks || !written)
		return err_set(e, -EOPNOTSUPP, "WRITE USING TOKEN: the target wrote nothing");
	return (int64_t)written * o->to->block_size;
}

int64_t odx_step(struct odx *o, uint64_t from, uint64_t to, uint64_t bytes, struct err *e)
{
	uint32_t size = o->to->block_size;
	uint64_t left = bytes / size;
	uint32_t blocks = (uint32_t)(left < o->most ? left : o->most);
	struct token_info token;
	int r = populate(o, from / size, &blocks, &token, e);
	return r ? r : write_using(o, to / size, blocks, &token, e);
}
