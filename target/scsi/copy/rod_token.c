// SPDX-License-Identifier: BSD-2-Clause
// The registry of ROD tokens, see rod_token.h. An ended token stays for a while, so that its user
// gets the reason; the oldest are dropped.
#include "target/scsi/copy/rod_token.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/worker.h"
#include "transport/wire/be.h"

#define TOKENS_MAX 256

enum {
	SENSE_TOKEN_UNKNOWN = SENSE(SK_ILLEGAL_REQUEST, 0x23, 0x04),
	SENSE_TOKEN_REVOKED = SENSE(SK_ILLEGAL_REQUEST, 0x23, 0x06),
	SENSE_TOKEN_EXPIRED = SENSE(SK_ILLEGAL_REQUEST, 0x23, 0x07),
	SENSE_TOKEN_DELETED = SENSE(SK_ILLEGAL_REQUEST, 0x23, 0x09),
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list tokens = { &tokens, &tokens }; // the oldest first
static unsigned ntokens;

static uint8_t state_of(const struct rod_token *t)
{
	return __atomic_load_n(&t->state, __ATOMIC_ACQUIRE);
}

// Ends a valid token; lock held.
static void token_end(struct rod_token *t, enum rod_state state)
{
	if (state_of(t) != ROD_GOOD)
		return;
	__atomic_store_n(&t->state, state, __ATOMIC_RELEASE);
	__atomic_sub_fetch(&t->lu->rod_tokens, 1, __ATOMIC_RELAXED);
	t->lu = NULL;
}

static void unlink_token(struct rod_token *t)
{
	list_remove(&t->link);
	ntokens--;
	rod_token_put(t);
}

static void tokens_expire(uint64_t now)
{
	list_for_each (it, &tokens) {
		struct rod_token *t = list_entry(it, struct rod_token, link);
		if (now >= t->expires)
			token_end(t, ROD_EXPIRED);
	}
}

// Makes room for another: ended tokens are dropped first.
static void make_room(void)
{
	struct rod_token *victim = NULL;
	if (ntokens < TOKENS_MAX)
		return;
	list_for_each (it, &tokens) {
		struct rod_token *t = list_entry(it, struct rod_token, link);
		if (state_of(t) != ROD_GOOD) {
			victim = t;
			break;
		}
	}
	if (!victim)
		victim = list_entry(list_first(&tokens), struct rod_token, link);
	token_end(victim, ROD_REVOKED);
	unlink_token(victim);
}

// ROD token header (SPC-4 7.8.17.2); the rest is random.
static bool fill_bytes(struct rod_token *t, uint32_t type)
{
	if (RAND_bytes(t->bytes, ROD_TOKEN_LEN) != 1)
		return false;
	put_be32(t->bytes, type);
	put_be16(t->bytes + 4, 0);
	put_be16(t->bytes + 6, ROD_TOKEN_LEN - 8);
	return true;
}

struct rod_token *rod_token_new(struct lu *lu, uint32_t type, const struct rod_range *ranges,
				uint32_t nranges, uint32_t timeout_secs)
{
	struct rod_token *t = calloc(1, sizeof *t + nranges * sizeof t->ranges[0]);
	if (!t || !fill_bytes(t, type)) {
		free(t);
		return NULL;
	}
	t->refs = 2;
	t->lu = lu;
	t->lu_id = lu->id;
	t->timeout = (uint64_t)(timeout_secs ? timeout_secs : ROD_TIMEOUT_SECS) * 1000000000ull;
	t->expires = clock_ns() + t->timeout;
	t->nranges = nranges;
	for (uint32_t i = 0; i < nranges; i++) {
		t->ranges[i] = ranges[i];
		t->blocks += ranges[i].blocks;
	}
	pthread_mutex_lock(&lock);
	tokens_expire(clock_ns());
	make_room();
	list_push_back(&tokens, &t->link);
	ntokens++;
	__atomic_add_fetch(&lu->rod_tokens, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&lock);
	return t;
}

void rod_token_put(struct rod_token *t)
{
	if (t && !__atomic_sub_fetch(&t->refs, 1, __ATOMIC_ACQ_REL))
		free(t);
}

uint32_t rod_token_find(struct rod_token **ret, const uint8_t bytes[ROD_TOKEN_LEN])
{
	static const uint32_t senses[] = { [ROD_GOOD] = 0,
					   [ROD_REVOKED] = SENSE_TOKEN_REVOKED,
					   [ROD_EXPIRED] = SENSE_TOKEN_EXPIRED,
					   [ROD_DELETED] = SENSE_TOKEN_DELETED };
	uint32_t sense = SENSE_TOKEN_UNKNOWN;
	uint64_t now = clock_ns();
	pthread_mutex_lock(&lock);
	tokens_expire(now);
	list_for_each (it, &tokens) {
		struct rod_token *t = list_entry(it, struct rod_token, link);
		// In constant time, since a token is a secret.
		if (CRYPTO_memcmp(t->bytes, bytes, ROD_TOKEN_LEN))
			continue;
		sense = senses[state_of(t)];
		if (!sense) {
			t->expires = now + t->timeout;
			__atomic_add_fetch(&t->refs, 1, __ATOMIC_RELAXED);
			*ret = t;
		}
		break;
	}
	pthread_mutex_unlock(&lock);
	return sense;
}

bool rod_token_is_good(const struct rod_token *t)
{
	return state_of(t) == ROD_GOOD;
}

void rod_token_delete(struct rod_token *t)
{
	pthread_mutex_lock(&lock);
	token_end(t, ROD_DELETED);
	pthread_mutex_unlock(&lock);
}

bool rod_token_covers(const struct rod_token *t, uint64_t lba, uint64_t blocks)
{
	for (uint32_t i = 0; blocks && i < t->nranges; i++) {
		const struct rod_range *r = &t->ranges[i];
		if (lba < r->lba ? r->lba - lba < blocks : lba - r->lba < r->blocks)
			return true;
	}
	return false;
}

void rod_tokens_revoke(struct lu *lu, uint64_t lba, uint64_t blocks)
{
	if (!blocks)
		return;
	pthread_mutex_lock(&lock);
	tokens_expire(clock_ns());
	list_for_each (it, &tokens) {
		struct rod_token *t = list_entry(it, struct rod_token, link);
		if (t->lu == lu && rod_token_covers(t, lba, blocks))
			token_end(t, ROD_REVOKED);
	}
	pthread_mutex_unlock(&lock);
}

void rod_tokens_drop(struct lu *lu)
{
	pthread_mutex_lock(&lock);
	list_for_each_safe (it, &tokens) {
		struct rod_token *t = list_entry(it, struct rod_token, link);
		if (t->lu_id != lu->id)
			continue;
		token_end(t, ROD_REVOKED);
		unlink_token(t);
	}
	pthread_mutex_unlock(&lock);
}
