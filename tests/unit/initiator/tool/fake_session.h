// SPDX-License-Identifier: BSD-2-Clause
// A protocol without a network: a disk in memory behind scsi_protocol.h, which is lost and returns
// as the test says. What stands above the border runs over it as over iSCSI.
#pragma once

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/scsi_cdb.h"
#include "initiator/scsi_protocol.h"
#include "transport/wire/be.h"

enum { BLOCK = 512, BLOCKS = 16384, DEPTH = 64, FAKE_KEYS = 8 };

// Its persistent reservation: each key with the way that has registered it (NULL: another one).
struct fake_reservation {
	bool is_supported, has_no_abort; // all of it; without PREEMPT AND ABORT
	struct {
		uint64_t key;
		const struct way *way;
	} keys[FAKE_KEYS];
	unsigned count;
	uint64_t holder;
	uint8_t type;	// 0: none
	char said[256]; // the names of PERSISTENT RESERVE OUT commands that succeeded
};

static struct {
	uint8_t disk[BLOCK * BLOCKS];
	char serial;	    // of the disk
	bool has_no_serial; // VPD page 80h is refused
	int writes, downs, ups;
	int lost_at;	      // the session is lost instead of this WRITE, from 1 on; 0: never
	char new_serial;      // of the disk after that; 0: the same. A new one is filled with 0xee
	uint64_t more_blocks; // than BLOCKS
	bool is_thin;	      // which GET LBA STATUS does not tell
	_Atomic int refusals; // of an unavailable group
	bool has_ways;	      // the sessions' configuration is a struct way *
	struct fake_reservation pr;
} far;

struct fake;

// One of several sessions to the disk.
struct way {
	struct fake *fake;
	bool is_lost;	      // with the next command; until way_back()
	char serial;	      // 0: that of the disk
	_Atomic uint8_t alua; // the state of its port group; 0xff: the disk has none
	uint16_t group;
	bool is_unreported;	       // ... which has no descriptor in the list of groups
	unsigned commands;	       // READ and WRITE
	uint8_t status;		       // of the next READ or WRITE; 0: GOOD
	uint8_t ready_asc, ready_ascq; // the next TEST UNIT READY has this unit attention
	unsigned lates;		       // so many commands but READ and WRITE time out
	uint8_t key, asc, ascq;	       // the next READ or WRITE ends with these; 0: succeeds
	// Its nexus, and how it is fenced (initiator/disk/fence.c).
	unsigned isid, tpgt;
	uint8_t promises;		  // of page F0h; 0: there is no such page
	uint8_t server;			  // ... which target: one of several
	bool holds_fence;		  // logins of a fence wait for fence_goes_on()
	bool is_redirected;		  // all logins are
	_Atomic unsigned fences, removes; // logins of fences, REMOVE I_T NEXUS
	uint8_t removed[300];		  // the last parameter list
	struct fake *fence;		  // the session of the last one
};

struct fake {
	struct way *way;	       // NULL: the only one
	const struct scsi_nexus *lost; // of a fence; NULL: of a path
	struct scsi_nexus names;
	struct scsi_session scsi;
	struct scsi_cmd *queue[DEPTH];
	unsigned count;
	struct defer defer;
	struct msg up_msg, free_msg;
};

static struct fake *fake_of(struct scsi_session *s)
{
	return container_of(s, struct fake, scsi);
}

// --- the disk ---

static void refuse(struct scsi_cmd *c)
{
	static const uint8_t sense[18] = { 0x70, 0, 5, [7] = 10, [12] = 0x24 };
	c->status = SCSI_CHECK_CONDITION;
	memcpy(c->sense, sense, sizeof sense);
	c->sense_len = sizeof sense;
}

static void give(struct scsi_cmd *c, const void *data, uint32_t len)
{
	c->data_len = len < c->len ? len : c->len;
	c->is_under = c->data_len < c->len;
	c->residual = c->len - c->data_len;
	memcpy(c->sg->addr, data, c->data_len);
}

static void inquiry(const struct way *way, struct scsi_cmd *c)
{
	uint8_t data[36] = { 0, 0, 6, 2, 31 }, page[8] = { 0, 0x80, 0, 4 };
	uint8_t group[20] = {
		0, 0x83, 0, 16, 1, 0x15, 0, 4, 0, 0, 0, 0, 1, 0x14, 0, 4, 0, 0, 0, 7
	};
	memset(page + 4, way && way->serial ? way->serial : far.serial, 4);
	memset(data + 8, 'f', 28);
	if (way && way->alua != 0xff) {
		data[5] = 0x10;
		put_be16(group + 10, way->group);
	}
	uint8_t promises[28] = { 0, 0xf0, 0, 24, 'F', 'A', 'R', 'B', 'L', 'O', 'C', 'K' };
	const uint8_t pages[5] = { 0, 0, 0, 1, 0xf0 };
	promises[12] = way ? way->promises : 0;
	promises[27] = way ? 1 + way->server : 0;
	if (!(c->cdb[1] & 1))
		give(c, data, sizeof data);
	else if (promises[12] && c->cdb[2] == 0)
		give(c, pages, sizeof pages);
	else if (promises[12] && c->cdb[2] == 0xf0)
		give(c, promises, sizeof promises);
	else if (c->cdb[2] == 0x80 && !far.has_no_serial)
		give(c, page, sizeof page);
	else if (c->cdb[2] == 0x83 && way)
		give(c, group, sizeof group);
	else
		refuse(c);
}

static void capacity(struct scsi_cmd *c)
{
	uint8_t long_form[32] = { 0 }, short_form[8];
	put_be64(long_form, BLOCKS + far.more_blocks - 1);
	put_be32(long_form + 8, BLOCK);
	put_be32(short_form, (uint32_t)(BLOCKS + far.more_blocks - 1));
	put_be32(short_form + 4, BLOCK);
	long_form[14] = far.is_thin ? 0xc0 : 0;
	if (c->cdb[0] == 0x9e && (c->cdb[1] & 0x1f) != 0x10)
		refuse(c);
	else if (c->cdb[0] == 0x25)
		give(c, short_form, sizeof short_form);
	else
		give(c, long_form, sizeof long_form);
}

static void move(struct scsi_cmd *c)
{
	bool is_16 = c->cdb[0] & 0x80;
	uint64_t lba = is_16 ? get_be64(c->cdb + 2) : get_be32(c->cdb + 2);
	uint64_t at = lba * BLOCK;
	assert_true(at + c->len <= sizeof far.disk);
	if (c->is_write)
		memcpy(far.disk + at, c->sg->addr, c->len);
	else
		give(c, far.disk + at, c->len);
}

static void port_groups(const struct way *way, struct scsi_cmd *c)
{
	uint8_t data[12] = { 0, 0, 0, 8, way->alua };
	put_be16(data + 6, (uint16_t)(way->group + way->is_unreported));
	give(c, data, sizeof data);
}

static void end_with(struct scsi_cmd *c, uint8_t key, uint8_t asc, uint8_t ascq)
{
	const uint8_t sense[18] = { 0x70, 0, key, [7] = 10, [12] = asc, ascq };
	c->status = SCSI_CHECK_CONDITION;
	memcpy(c->sense, sense, sizeof sense);
	c->sense_len = sizeof sense;
}

static bool is_refused(struct way *way, struct scsi_cmd *c)
{
	if (way && way->status) {
		c->status = way->status;
		way->status = 0;
		return true;
	}
	if (!way || !way->key)
		return false;
	end_with(c, way->key, way->asc, way->ascq);
	way->key = 0;
	return true;
}

// All but INQUIRY and MAINTENANCE IN, by a group that is unavailable.
static bool is_unavailable(const struct way *way, struct scsi_cmd *c)
{
	if (!way || way->alua != 3 || c->cdb[0] == 0x12 || c->cdb[0] == 0xa3)
		return false;
	far.refusals++;
	end_with(c, 2, 4, 0xc);
	return true;
}

static void test_ready(struct way *way, struct scsi_cmd *c)
{
	if (!way || !way->ready_asc)
		return;
	end_with(c, 6, way->ready_asc, way->ready_ascq);
	way->ready_asc = 0;
}

static void remove_nexus(struct way *way, struct scsi_cmd *c)
{
	if (!way || !(way->promises & 1)) {
		refuse(c);
		return;
	}
	assert_true(c->len <= sizeof way->removed);
	memcpy(way->removed, c->sg->addr, c->len);
	way->removes++;
}

// --- its reservation ---

static bool has_key(const struct way *way, uint64_t key)
{
	for (unsigned i = 0; i < far.pr.count; i++)
		if (far.pr.keys[i].way == way && far.pr.keys[i].key == key)
			return true;
	return false;
}

static bool may_write(const struct way *way)
{
	for (unsigned i = 0; i < far.pr.count; i++)
		if (far.pr.keys[i].way == way)
			return true;
	return !far.pr.type;
}

// All of key, or (0) of way. The number of them.
static unsigned drop_keys(const struct way *way, uint64_t key)
{
	unsigned n = 0, all = far.pr.count;
	for (unsigned i = 0; i < all; i++)
		if (key ? far.pr.keys[i].key != key : far.pr.keys[i].way != way)
			far.pr.keys[n++] = far.pr.keys[i];
	far.pr.count = n;
	return all - n;
}

static inline void add_key(const struct way *way, uint64_t key)
{
	assert_true(far.pr.count < FAKE_KEYS);
	far.pr.keys[far.pr.count].way = way;
	far.pr.keys[far.pr.count++].key = key;
}

static void reserve_in(struct scsi_cmd *c)
{
	uint8_t keys[8 + 8 * FAKE_KEYS] = { 0 }, held[24] = { 0 };
	put_be32(keys + 4, 8 * far.pr.count);
	for (unsigned i = 0; i < far.pr.count; i++)
		put_be64(keys + 8 + 8 * (size_t)i, far.pr.keys[i].key);
	put_be32(held + 4, far.pr.type ? 16 : 0);
	put_be64(held + 8, far.pr.holder);
	held[21] = far.pr.type;
	if (c->cdb[1] == 0)
		give(c, keys, 8 + 8 * far.pr.count);
	else
		give(c, held, far.pr.type ? 24 : 8);
}

static bool run_reserve_out(const struct way *way, uint8_t action, uint64_t key, uint64_t other)
{
	struct fake_reservation *r = &far.pr;
	if (action == 6) {
		drop_keys(way, 0);
		if (other)
			add_key(way, other);
		return true;
	}
	if (!has_key(way, key) || (action == 1 && r->type && r->holder != key))
		return false;
	if (action == 3)
		*r = (struct fake_reservation){ .is_supported = true };
	if (action == 5 && !drop_keys(NULL, other))
		return false;
	if (action == 1 || (action == 5 && r->holder == other)) {
		r->holder = key;
		r->type = 5;
	}
	return true;
}

static void reserve_out(const struct way *way, struct scsi_cmd *c)
{
	static const char *const names[8] = {
		[1] = "reserve ", [3] = "clear ", [5] = "preempt ", [6] = "register "
	};
	uint8_t action = c->cdb[1];
	const uint8_t *list = c->sg->addr;
	char said[sizeof far.pr.said];
	assert_true(action < 8 && names[action]);
	assert_true(c->cdb[2] == (action == 1 || action == 5 ? 5 : 0));
	strcpy(said, far.pr.said);
	if (action == 5 && far.pr.has_no_abort)
		refuse(c);
	else if (!run_reserve_out(way, action, get_be64(list), get_be64(list + 8)))
		c->status = SCSI_RESERVATION_CONFLICT;
	else
		snprintf(far.pr.said, sizeof far.pr.said, "%s%s", said, names[action]);
}

static void reserve(const struct way *way, struct scsi_cmd *c)
{
	if (!far.pr.is_supported)
		end_with(c, 5, 0x20, 0);
	else if (c->cdb[0] == 0x5e)
		reserve_in(c);
	else
		reserve_out(way, c);
}

static void execute(struct way *way, struct scsi_cmd *c)
{
	c->status = 0;
	c->sense_len = 0;
	c->is_under = c->is_over = false;
	if (is_unavailable(way, c))
		return;
	switch (c->cdb[0]) {
	case 0x00: // TEST UNIT READY
		test_ready(way, c);
		break;
	case 0x35: // SYNCHRONIZE CACHE(10)
		break;
	case 0x12:
		inquiry(way, c);
		break;
	case 0xa3:
		if (way && (c->cdb[1] & 0x1f) == 0x0a) // REPORT TARGET PORT GROUPS
			port_groups(way, c);
		else
			refuse(c);
		break;
	case 0xa4:
		remove_nexus(way, c);
		break;
	case 0x5e:
	case 0x5f:
		reserve(way, c);
		break;
	case 0x25: // READ CAPACITY
	case 0x9e:
		capacity(c);
		break;
	case 0x28: // READ, WRITE
	case 0x2a:
	case 0x88:
	case 0x8a:
		if (way)
			way->commands++;
		if (c->is_write && !may_write(way))
			c->status = SCSI_RESERVATION_CONFLICT;
		else if (!is_refused(way, c))
			move(c);
		break;
	default:
		refuse(c);
	}
}

// --- the protocol ---

static void end(struct scsi_cmd *c, int res)
{
	c->sent = NULL;
	scsi_cmd_ended(c, res);
}

static void lose(struct fake *f)
{
	struct err why;
	err_set(&why, -ECONNRESET, "the far end is gone");
	while (f->count)
		end(f->queue[--f->count], -EPIPE);
	scsi_session_lost(&f->scsi);
	f->scsi.ops.retry(&f->scsi, &why, 60);
	f->scsi.ops.down(&f->scsi, &why);
	far.downs++;
	if (far.new_serial) {
		far.serial = far.new_serial;
		memset(far.disk, 0xee, sizeof far.disk);
	}
	if (!f->way)
		worker_post(f->scsi.worker, &f->up_msg);
}

// On the worker.
static inline void way_back(void *arg)
{
	struct way *way = arg;
	way->is_lost = false;
	worker_post(way->fake->scsi.worker, &way->fake->up_msg);
}

static bool is_transfer(const struct scsi_cmd *c)
{
	return (c->cdb[0] & 0x1f) == 0x08 || (c->cdb[0] & 0x1f) == 0x0a;
}

static void run(struct defer *d)
{
	struct fake *f = container_of(d, struct fake, defer);
	if (f->way && f->way->is_lost) {
		lose(f);
		return;
	}
	for (unsigned i = 0; i < f->count; i++)
		if (f->queue[i]->is_write && ++far.writes == far.lost_at) {
			lose(f);
			return;
		}
	unsigned count = f->count;
	struct scsi_cmd *queue[DEPTH];
	memcpy(queue, f->queue, sizeof queue);
	f->count = 0;
	for (unsigned i = 0; i < count; i++) {
		bool is_late = f->way && f->way->lates && !is_transfer(queue[i]);
		if (is_late)
			f->way->lates--;
		else
			execute(f->way, queue[i]);
		end(queue[i], is_late ? -ETIMEDOUT : 0);
	}
}

static unsigned fake_room(struct scsi_session *s)
{
	return s->is_up ? DEPTH - fake_of(s)->count : 0;
}

static void fake_send(struct scsi_session *s, struct scsi_cmd *c)
{
	struct fake *f = fake_of(s);
	c->sent = f;
	f->queue[f->count++] = c;
	worker_defer(s->worker, &f->defer, run);
}

static void fake_give_up(struct scsi_session *s, const struct err *why)
{
	fail_msg("%s", why->text);
}

static void fake_logout(struct scsi_session *s)
{
	struct err none = { 0 };
	scsi_session_begin_end(s, &none);
	scsi_session_lost(s);
	scsi_session_fail(s);
	s->ops.closed(s, &none);
}

static void fake_free(struct scsi_session *s)
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

static void fake_info(const struct scsi_session *s, struct scsi_session_info *ret)
{
	const struct fake *f = container_of(s, struct fake, scsi);
	ret->is_redirected = f->way && f->way->is_redirected;
}

static void fake_nexus(const struct scsi_session *s, struct scsi_nexus *ret)
{
	const struct fake *f = container_of(s, struct fake, scsi);
	if (f->lost) {
		*ret = f->names;
		return;
	}
	ret->protocol = SCSI_NEXUS_ISCSI;
	snprintf(ret->initiator, sizeof ret->initiator, "iqn.i,i,0x%012x",
		 f->way ? f->way->isid : 9);
	snprintf(ret->target, sizeof ret->target, "iqn.t,t,0x%04x", f->way ? f->way->tpgt : 1);
}

// A login that was held succeeds. On the worker.
static inline void fence_goes_on(void *arg)
{
	struct way *way = arg;
	worker_post(way->fake->scsi.worker, &way->fence->up_msg);
}

static int fake_open(struct scsi_session **ret, struct worker *w, const void *config,
		     const struct scsi_session_ops *ops, void *arg, struct err *e);

static int fake_reenter(struct scsi_session *s, const struct scsi_nexus *lost,
			const struct scsi_session_ops *ops, void *arg, struct scsi_session **ret,
			struct err *e)
{
	struct way *way = fake_of(s)->way;
	struct scsi_nexus own;
	fake_nexus(s, &own);
	if (strcmp(own.target, lost->target) != 0)
		return err_set(e, -EOPNOTSUPP, "another portal group");
	struct fake *mine = way->fake;
	fake_open(ret, s->worker, &way, ops, arg, e);
	way->fake = mine;
	struct fake *f = fake_of(*ret);
	f->names = *lost;
	f->lost = &f->names;
	way->fence = f;
	way->fences++;
	if (!way->holds_fence)
		worker_post(s->worker, &f->up_msg);
	return 0;
}

static void up_run(struct msg *m)
{
	far.ups++;
	scsi_session_enter_up(&container_of(m, struct fake, up_msg)->scsi);
}

static int fake_open(struct scsi_session **ret, struct worker *w, const void *config,
		     const struct scsi_session_ops *ops, void *arg, struct err *e)
{
	static const struct scsi_protocol protocol = { .room = fake_room,
						       .send = fake_send,
						       .give_up = fake_give_up,
						       .logout = fake_logout,
						       .free = fake_free,
						       .info = fake_info,
						       .nexus = fake_nexus,
						       .reenter = fake_reenter };
	struct fake *f = calloc(1, sizeof *f);
	scsi_session_init(&f->scsi, w, &protocol, ops, arg);
	f->scsi.queue_depth = DEPTH;
	if (far.has_ways) {
		f->way = *(struct way *const *)config;
		f->way->fake = f;
	}
	f->up_msg.fn = up_run;
	f->free_msg.fn = free_run;
	if (ops->down) // else of a fence
		worker_post(w, &f->up_msg);
	*ret = &f->scsi;
	return 0;
}
