// SPDX-License-Identifier: BSD-2-Clause
// CHAP: digests by libcrypto, challenges by getrandom(), comparisons in constant time
// [RFC 7143 §9.2.1, §12.1.3].
#include "transport/iscsi/chap.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

static const struct alg {
	unsigned number;
	size_t digest_len;
	const char *name; // its name in open-iscsi's configuration
	const EVP_MD *(*md)(void);
} algs[] = {
	// The strongest first: the order in which an initiator offers them.
	{CHAP_SHA3_256, 32, "SHA3-256", EVP_sha3_256},
	{ CHAP_SHA256,  32, "SHA256",   EVP_sha256	},
	{ CHAP_SHA1,    20, "SHA1",	 EVP_sha1	  },
	{ CHAP_MD5,	    16, "MD5",      EVP_md5     },
};
#define ALG_COUNT (sizeof algs / sizeof *algs)

static const struct alg *find_alg(unsigned number)
{
	for (size_t i = 0; i < ALG_COUNT; i++)
		if (algs[i].number == number)
			return &algs[i];
	return NULL;
}

void chap_wipe(void *p, size_t n)
{
	OPENSSL_cleanse(p, n);
}

int chap_creds_set(struct chap_creds *c, const char *user, const char *secret, struct err *e)
{
	if (strlen(user) > CHAP_USER_MAX || strlen(secret) > CHAP_SECRET_MAX)
		return err_set(e, -EINVAL,
			       "CHAP: user name or secret too long (at most %d and %d bytes)",
			       CHAP_USER_MAX, CHAP_SECRET_MAX);
	if (!*user != !*secret)
		return err_set(e, -EINVAL, "CHAP: user name and secret must be set together");
	chap_wipe(c, sizeof *c);
	memcpy(c->user, user, strlen(user));
	memcpy(c->secret, secret, strlen(secret));
	return 0;
}

size_t chap_digest_len(unsigned alg)
{
	const struct alg *a = find_alg(alg);
	return a ? a->digest_len : 0;
}

const char *chap_alg_name(unsigned alg)
{
	const struct alg *a = find_alg(alg);
	return a ? a->name : "";
}

int chap_algs_parse(const char *list, unsigned *ret_mask, struct err *e)
{
	const char *item, *at = list;
	size_t len;
	unsigned mask = 0;
	while (text_list_next(&at, &item, &len)) {
		const struct alg *found = NULL;
		for (size_t i = 0; i < ALG_COUNT; i++) {
			char number[8];
			snprintf(number, sizeof number, "%u", algs[i].number);
			if ((strlen(algs[i].name) == len &&
			     !strncasecmp(algs[i].name, item, len)) ||
			    (strlen(number) == len && !memcmp(number, item, len)))
				found = &algs[i];
		}
		if (!found)
			return err_set(
				e, -EINVAL,
				"CHAP: invalid list of algorithms '%.64s' (SHA3-256, SHA256, "
				"SHA1, MD5)",
				list);
		mask |= CHAP_BIT(found->number);
	}
	*ret_mask = mask;
	return 0;
}

int chap_alg_choose(const char *list, unsigned allowed)
{
	const char *item;
	size_t len;
	int chosen = -ENOENT;
	while (text_list_next(&list, &item, &len)) {
		char number[16];
		uint64_t n;
		if (!len || len >= sizeof number)
			return -EPROTO;
		memcpy(number, item, len);
		number[len] = 0;
		if (text_number(number, 0, UINT16_MAX, &n))
			return -EPROTO;
		if (chosen < 0 && find_alg((unsigned)n) && allowed & CHAP_BIT(n))
			chosen = (int)n;
	}
	return chosen;
}

void chap_alg_list(unsigned mask, char ret[16])
{
	size_t at = 0;
	ret[0] = 0;
	for (size_t i = 0; i < ALG_COUNT; i++)
		if (mask & CHAP_BIT(algs[i].number))
			at += (size_t)snprintf(ret + at, 16 - at, "%s%u", at ? "," : "",
					       algs[i].number);
}

int chap_response(unsigned alg, uint8_t id, const char *secret, const void *challenge,
		  size_t challenge_len, uint8_t ret[CHAP_DIGEST_MAX])
{
	const struct alg *a = find_alg(alg);
	if (!a)
		return -EINVAL;
	unsigned len = 0;
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool is_done = ctx && EVP_DigestInit_ex(ctx, a->md(), NULL) &&
		       EVP_DigestUpdate(ctx, &id, 1) &&
		       EVP_DigestUpdate(ctx, secret, strlen(secret)) &&
		       EVP_DigestUpdate(ctx, challenge, challenge_len) &&
		       EVP_DigestFinal_ex(ctx, ret, &len);
	EVP_MD_CTX_free(ctx); // wipes what it holds
	return is_done && len == a->digest_len ? (int)len : -EOPNOTSUPP;
}

static int fill_random(void *p, size_t n)
{
	// Up to 256 bytes are all or nothing.
	ssize_t rc = getrandom(p, n, 0);
	return rc == (ssize_t)n ? 0 : rc < 0 ? -errno : -EIO;
}

int chap_challenge_new(unsigned alg, struct chap_challenge *ret)
{
	ret->len = chap_digest_len(alg);
	if (!ret->len)
		return -EINVAL;
	int rc = fill_random(&ret->id, sizeof ret->id);
	return rc ? rc : fill_random(ret->bytes, ret->len);
}

int chap_challenge_append(const struct chap_challenge *c, struct text_out *out)
{
	int rc = text_append_number(out, "CHAP_I", c->id);
	return rc ? rc : text_append_hex(out, "CHAP_C", c->bytes, c->len);
}

int chap_challenge_parse(const char *chap_i, const char *chap_c, struct chap_challenge *ret,
			 struct err *e)
{
	uint64_t id;
	if (text_number(chap_i, 0, UINT8_MAX, &id))
		return err_set(e, -EPROTO, "CHAP_I: invalid value %.32s (0 to 255)", chap_i);
	if (text_binary_decode(chap_c, ret->bytes, sizeof ret->bytes, &ret->len))
		return err_set(e, -EPROTO, "CHAP_C: must be 1 to %d bytes in hexadecimal or base64",
			       ISCSI_BINARY_MAX);
	ret->id = (uint8_t)id;
	return 0;
}

bool chap_challenge_same(const struct chap_challenge *a, const struct chap_challenge *b)
{
	return a->len == b->len && CRYPTO_memcmp(a->bytes, b->bytes, a->len) == 0;
}

int chap_answer_append(unsigned alg, const struct chap_challenge *c, const struct chap_creds *creds,
		       struct text_out *out)
{
	uint8_t digest[CHAP_DIGEST_MAX];
	int len = chap_response(alg, c->id, creds->secret, c->bytes, c->len, digest);
	if (len < 0)
		return len;
	int rc = text_append(out, "CHAP_N", creds->user);
	if (!rc)
		rc = text_append_hex(out, "CHAP_R", digest, (size_t)len);
	chap_wipe(digest, sizeof digest);
	return rc;
}

// Names are compared over their whole buffers, so that the time reveals nothing.
static bool is_user(const struct chap_creds *creds, const char *name)
{
	char padded[CHAP_USER_MAX + 1] = "";
	size_t len = strlen(name);
	if (len > CHAP_USER_MAX)
		return false;
	memcpy(padded, name, len);
	char mine[CHAP_USER_MAX + 1] = "";
	memcpy(mine, creds->user, strnlen(creds->user, CHAP_USER_MAX));
	return CRYPTO_memcmp(padded, mine, sizeof padded) == 0;
}

// Whether response is the response of creds to c. A negative errno if it cannot be computed.
static int is_response(unsigned alg, const struct chap_challenge *c, const struct chap_creds *creds,
		       const uint8_t *response)
{
	uint8_t expected[CHAP_DIGEST_MAX];
	int len = chap_response(alg, c->id, creds->secret, c->bytes, c->len, expected);
	if (len < 0)
		return len;
	int is_same = CRYPTO_memcmp(expected, response, (size_t)len) == 0;
	chap_wipe(expected, sizeof expected);
	return is_same;
}

int chap_answer_check(unsigned alg, const struct chap_challenge *c, const struct chap_creds *creds,
		      const struct chap_creds *own, const char *chap_n, const char *chap_r,
		      struct err *e)
{
	uint8_t response[CHAP_DIGEST_MAX];
	size_t len;
	if (text_binary_decode(chap_r, response, sizeof response, &len) ||
	    len != chap_digest_len(alg))
		return err_set(e, -EACCES, "CHAP_R: must be %zu bytes in hexadecimal or base64",
			       chap_digest_len(alg));
	if (own && own->user[0]) {
		int is_ours = is_response(alg, c, own, response);
		if (is_ours < 0)
			return err_set(e, -EACCES, "CHAP: libcrypto does not support algorithm %u",
				       alg);
		if (is_ours)
			return err_set(e, -EACCES,
				       "CHAP_R: same as our own response (reflection attack, or "
				       "one secret for both directions)");
	}
	// Both are computed whatever the first result. The text is for our log, not for the peer.
	int is_right = is_response(alg, c, creds, response);
	bool is_known = is_user(creds, chap_n);
	if (is_right < 0)
		return err_set(e, -EACCES, "CHAP: libcrypto does not support algorithm %u", alg);
	if (!creds->user[0] || !is_known)
		return err_set(e, -EACCES, "CHAP_N: wrong user name %.64s", chap_n);
	if (!is_right)
		return err_set(e, -EACCES, "CHAP_R: wrong secret for user %.64s", chap_n);
	return 0;
}
