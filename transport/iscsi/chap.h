// SPDX-License-Identifier: BSD-2-Clause
// CHAP for both roles, one-way and mutual [RFC 7143 §9.2.1, §12.1.3; RFC 1994].
//
// Pure except for getrandom(), which never blocks once the machine is up. Any thread. Secrets
// live in the caller's structs; the holder wipes them with chap_wipe.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "transport/iscsi/text.h"

enum chap_alg { // IANA's "PPP authentication algorithms"
	CHAP_MD5 = 5,
	CHAP_SHA1 = 6,
	CHAP_SHA256 = 7,
	CHAP_SHA3_256 = 8,
};
#define CHAP_BIT(alg) (1u << (alg))
#define CHAP_ALGS_ALL (CHAP_BIT(5) | CHAP_BIT(6) | CHAP_BIT(7) | CHAP_BIT(8))
// The default offer of an initiator: without 7, which tgt mistakes for SHA-1.
#define CHAP_ALGS_OFFER (CHAP_BIT(5) | CHAP_BIT(6) | CHAP_BIT(8))

enum {
	CHAP_DIGEST_MAX = 32,
	CHAP_USER_MAX = 255,
	CHAP_SECRET_MAX = 255,
	CHAP_SECRET_MIN = 12, // 96 bits [RFC 7143 §9.2.1]; enforced by the configuration
};

struct chap_creds {
	char user[CHAP_USER_MAX + 1];	  // CHAP_N, always text; empty: none configured
	char secret[CHAP_SECRET_MAX + 1]; // text, without its NUL
};

// Fills creds. -EINVAL: too long, or only one of the two is empty.
int chap_creds_set(struct chap_creds *c, const char *user, const char *secret, struct err *e);

// Overwrites n bytes; the compiler cannot remove it.
void chap_wipe(void *p, size_t n);

// Bytes of the algorithm's response; 0 for an unknown one.
size_t chap_digest_len(unsigned alg);

// "MD5", "SHA1", "SHA256", "SHA3-256"; "" for an unknown one.
const char *chap_alg_name(unsigned alg);

// The mask of a list such as "SHA3-256,SHA256,SHA1,MD5" (or numbers); -EINVAL with a text.
int chap_algs_parse(const char *list, unsigned *ret_mask, struct err *e);

// The first algorithm of CHAP_A's list that is in allowed. -EPROTO: not a list of numbers.
// -ENOENT: no such algorithm in it.
int chap_alg_choose(const char *list, unsigned allowed);

// Writes the mask's numbers, the strongest first, as a CHAP_A value. ret needs 16 bytes.
void chap_alg_list(unsigned mask, char ret[16]);

// H(id || secret || challenge). Returns its length, or a negative errno (libcrypto refuses the
// algorithm).
int chap_response(unsigned alg, uint8_t id, const char *secret, const void *challenge,
		  size_t challenge_len, uint8_t ret[CHAP_DIGEST_MAX]);

// The challenge of one direction.
struct chap_challenge {
	uint8_t id;
	size_t len;
	uint8_t bytes[ISCSI_BINARY_MAX];
};

// A new random challenge, as long as the algorithm's response.
int chap_challenge_new(unsigned alg, struct chap_challenge *ret);

// Appends CHAP_I and CHAP_C (hexadecimal: libiscsi reads nothing else).
int chap_challenge_append(const struct chap_challenge *c, struct text_out *out);

// Reads the values of CHAP_I and CHAP_C. -EPROTO with a text.
int chap_challenge_parse(const char *chap_i, const char *chap_c, struct chap_challenge *ret,
			 struct err *e);

// True if both challenges are the same bytes: a reflection.
bool chap_challenge_same(const struct chap_challenge *a, const struct chap_challenge *b);

// Appends CHAP_N and CHAP_R that answer c.
int chap_answer_append(unsigned alg, const struct chap_challenge *c, const struct chap_creds *creds,
		       struct text_out *out);

// Compares the peer's CHAP_N and CHAP_R with the expected response of creds to c, in constant time.
// own: our credentials for the other direction (may be NULL); a response that matches these is a
// reflection or a shared secret, and refused. 0 or -EACCES with a text.
int chap_answer_check(unsigned alg, const struct chap_challenge *c, const struct chap_creds *creds,
		      const struct chap_creds *own, const char *chap_n, const char *chap_r,
		      struct err *e);
