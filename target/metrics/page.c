// SPDX-License-Identifier: BSD-2-Clause
// The embedded status page, see page.h.
#include "target/metrics/page.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>

extern const char page_begin[], page_end[];
__asm__(".section .rodata\n"
	"page_begin:\n"
	".incbin \"" PAGE_FILE "\"\n"
	"page_end:\n"
	".byte 0\n"
	".previous\n");

const char *page_text(size_t *ret_len)
{
	*ret_len = (size_t)(page_end - page_begin);
	return page_begin;
}

// The hash of the text between the tags, in CSP's form.
static void hash_of(const char *open, const char *close, char out[64])
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	const char *from = strstr(page_begin, open), *to = from ? strstr(from, close) : NULL;
	*out = 0;
	if (!to)
		return;
	from += strlen(open);
	SHA256((const unsigned char *)from, (size_t)(to - from), digest);
	EVP_EncodeBlock((unsigned char *)out, digest, sizeof digest);
}

void page_policy(char out[PAGE_POLICY_MAX])
{
	char style[64], script[64];
	hash_of("<style>", "</style>", style);
	hash_of("<script>", "</script>", script);
	snprintf(out, PAGE_POLICY_MAX,
		 "default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; "
		 "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		 style, script);
}
