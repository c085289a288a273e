// SPDX-License-Identifier: BSD-2-Clause
// Logical unit: creation, identity, channels, capacity, end. Control thread, except for references
// and channels, which any worker takes. See lu.h for ownership.
#include "target/scsi/lu.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/counter.h"
#include "target/scsi/lu_channel.h"
#include "target/scsi/lu_part.h"
#include "target/scsi/lu_state.h"
#include "transport/wire/be.h"

// NAA 6 requires a 24-bit company id. We have no assigned one: this one has the locally
// administered bit set, so it cannot collide with an assigned one.
#define NAA_COMPANY_ID 0x024642u

// The NAA identifier (SPC-4 7.8.6.6.5): nibble 6, the company id, and 100 bits of the SHA-256
// of the serial; the same on every machine and after every restart.
static int naa_from_serial(uint8_t naa[16], const char *serial)
{
	uint8_t hash[32];
	unsigned len = 0;
	if (!EVP_Digest(serial, strlen(serial), hash, &len, EVP_sha256(), NULL) ||
	    len != sizeof hash)
		return -EIO;
	memcpy(naa, hash, 16);
	put_be32(naa, 6u << 28 | NAA_COMPANY_ID << 4 | (hash[3] & 0x0f));
	return 0;
}

// Frees the first n parts, the last one first.
static void parts_detach(struct lu *lu, unsigned n)
{
	while (n-- > 0) {
		if (lu->server->parts[n]->detach)
			lu->server->parts[n]->detach(lu);
	}
}

static int parts_attach(struct lu *lu, unsigned *ret_count, struct err *e)
{
	const struct lu_part *const *parts = lu->server->parts;
	for (*ret_count = 0; parts[*ret_count]; ++*ret_count) {
		const struct lu_part *p = parts[*ret_count];
		int r = p->attach ? p->attach(lu, e) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

static void lu_free(struct lu *lu)
{
	pthread_mutex_destroy(&lu->lock);
	free(lu->state_dir);
	free(lu->name);
	free(lu);
}

static void lu_take_limits(struct lu *lu)
{
	const struct bs_limits *l = &lu->bs->limits;
	lu->type = lu->bs->type;
	lu->block_size = l->block_size;
	lu->block_shift = (uint32_t)__builtin_ctz(l->block_size);
	lu->blocks = l->size >> lu->block_shift;
	lu->memory = lu->bs->memory;
	lu->is_readonly = l->is_readonly;
	lu->max_io = l->max_io;
	lu->attr.block_size = l->block_size;
	lu->attr.hw_block_size = l->block_size;
	lu->attr.hw_queue_depth = lu->attr.queue_depth;
	lu->attr.hw_max_sectors = lu_max_transfer(lu);
	lu->wce = l->has_write_cache && lu->attr.emulate_write_cache;
}

// Zeroed memory that begins with a cache line; for free(). NULL: no memory.
static void *lines_new(size_t size)
{
	size_t whole = (size + 63) & ~(size_t)63;
	void *p = aligned_alloc(64, whole);
	return p ? memset(p, 0, whole) : NULL;
}

int lu_new(struct lu **ret, const struct device_server *server, const char *name,
	   struct backstore *bs, const char *unit_serial, const struct lu_attr *attr,
	   const char *state_dir, struct err *e)
{
	static uint32_t last_id;
	uint32_t block = bs->limits.block_size;
	if (block < 512 || (block & (block - 1)))
		return err_set(e, -EINVAL, "%s: block size %u: not a power of two from 512", name,
			       block);
	if (!worker_count())
		return err_set(e, -EINVAL, "%s: no worker", name);
	int r = lu_attr_check(attr, &bs->limits, e);
	if (r < 0)
		return err_prefix(e, "%s", name);
	struct lu *lu = lines_new(sizeof *lu);
	if (!lu)
		return err_errno(e, -ENOMEM, "%s", name);
	lu->refs = 1;
	lu->server = server;
	lu->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	lu->disk = lu->id;
	lu->name = strdup(name);
	lu->state_dir = state_dir ? strdup(state_dir) : NULL;
	lu->bs = bs;
	lu->home = worker_at(lu->id % worker_count());
	lu->control = worker_self();
	lu->attr = *attr;
	pthread_mutex_init(&lu->lock, NULL);
	strncpy(lu->unit_serial, unit_serial, sizeof lu->unit_serial - 1);
	lu_take_limits(lu);
	r = lu->name && (lu->state_dir || !state_dir) ? 0 : -ENOMEM;
	if (!r)
		r = naa_from_serial(lu->naa, lu->unit_serial);
	if (r < 0) {
		err_errno(e, r, "%s", name);
		lu_free(lu);
		return r;
	}
	unsigned parts = 0;
	r = lu_faults_apply(lu, e);
	if (!r)
		r = parts_attach(lu, &parts, e);
	if (r < 0) {
		parts_detach(lu, parts);
		lu_faults_remove(lu);
		lu_free(lu);
		return r;
	}
	*ret = lu;
	return 0;
}

void lu_set_closed(struct lu *lu, struct worker *control, void (*closed)(void *arg), void *arg)
{
	lu->control = control;
	lu->closed = closed;
	lu->closed_arg = arg;
}

void lu_set_medium_changed(struct lu *lu)
{
	lu->is_medium_new = true;
}

static uint64_t server_id = 1; // a program that is alone, as one in a simulation

void lu_set_server_id(uint64_t id)
{
	server_id = id;
}

uint64_t lu_server_id(void)
{
	return server_id;
}

void lu_set_disk(struct lu *lu, uint64_t disk, uint64_t awaited)
{
	lu->disk = disk;
	lu->awaited = awaited;
}

void lu_set_absent(struct lu *lu)
{
	lu->is_absent = true;
}

struct lu *lu_get(struct lu *lu)
{
	__atomic_add_fetch(&lu->refs, 1, __ATOMIC_RELAXED);
	return lu;
}

static void channel_free(struct lu_channel *c)
{
	for (const struct lu_part *const *p = c->lu->server->parts; *p; p++) {
		if ((*p)->channel_done)
			(*p)->channel_done(c);
	}
	free(c);
}

// No reference is left: no task, round or message refers to the LU.
static void lu_close(struct msg *m)
{
	struct lu *lu = container_of(m, struct lu, close_msg);
	for (unsigned i = 0; i < WORKER_MAX; i++) {
		if (lu->channels[i])
			channel_free(lu->channels[i]);
	}
	unsigned parts = 0;
	while (lu->server->parts[parts])
		parts++;
	parts_detach(lu, parts);
	backstore_close(lu->bs);
	void (*closed)(void *arg) = lu->closed;
	void *arg = lu->closed_arg;
	lu_free(lu);
	if (closed)
		closed(arg);
}

void lu_put(struct lu *lu)
{
	if (!lu || __atomic_sub_fetch(&lu->refs, 1, __ATOMIC_ACQ_REL))
		return;
	lu->close_msg.fn = lu_close;
	if (lu->control && lu->control != worker_self())
		worker_post(lu->control, &lu->close_msg);
	else
		lu_close(&lu->close_msg);
}

struct lu_channel *lu_channel(struct lu *lu)
{
	struct worker *w = worker_self();
	unsigned i = w ? worker_index(w) : WORKER_MAX;
	if (i >= WORKER_MAX)
		return NULL;
	// Only this worker writes the slot.
	if (lu->channels[i])
		return lu->channels[i];
	struct lu_channel *c = lines_new(sizeof *c);
	if (!c)
		return NULL;
	c->lu = lu;
	c->worker = w;
	list_init(&c->tasks);
	list_init(&c->nexus_luns);
	list_init(&c->frozen);
	list_init(&c->ready);
	list_init(&c->thawed);
	pthread_mutex_lock(&lu->lock);
	for (const struct lu_part *const *p = lu->server->parts; *p; p++) {
		if ((*p)->channel_init)
			(*p)->channel_init(c);
	}
	__atomic_store_n(&lu->channels[i], c, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lu->lock);
	return c;
}

struct backstore *lu_backstore(const struct lu *lu)
{
	return lu_bs(lu);
}

void lu_object_name(const struct lu *lu, char *ret, size_t size)
{
	snprintf(ret, size, "%s/%s", lu->type->name, lu->name);
}

uint64_t lu_size(const struct lu *lu)
{
	return lu_capacity(lu) << lu->block_shift;
}

unsigned lu_ended_writes(const struct lu *lu)
{
	return __atomic_load_n(&lu->ended_writes, __ATOMIC_RELAXED);
}

void lu_counters_sum(const struct lu *lu, struct lu_counters *ret)
{
	_Static_assert(sizeof(struct lu_counters) % sizeof(uint64_t) == 0, "all counters");
	enum { COUNT = sizeof *ret / sizeof(uint64_t) };
	uint64_t *sum = (uint64_t *)ret;
	memset(ret, 0, sizeof *ret);
	for (unsigned i = 0; i < WORKER_MAX; i++) {
		const struct lu_channel *c = __atomic_load_n(&lu->channels[i], __ATOMIC_ACQUIRE);
		if (!c)
			continue;
		const uint64_t *k = (const uint64_t *)&c->counters;
		for (unsigned j = 0; j < COUNT; j++)
			sum[j] += counter_get(&k[j]);
	}
}
