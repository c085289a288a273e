// SPDX-License-Identifier: BSD-2-Clause
// See claim.h.
#include "initiator/holder/claim.h"

#include <errno.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/lockfile.h"
#include "initiator/holder/holder.h"

enum { HASH_BYTES = 16 }; // of SHA-256, in a file's name

// Each text ends with a zero byte, so that no two lists of texts give the same bytes.
static bool hash(const char *const *texts, unsigned count, uint8_t ret[EVP_MAX_MD_SIZE])
{
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	bool is_good = c && EVP_DigestInit_ex(c, EVP_sha256(), NULL);
	for (unsigned i = 0; i < count && is_good; i++)
		is_good = EVP_DigestUpdate(c, texts[i], strlen(texts[i]) + 1);
	is_good = is_good && EVP_DigestFinal_ex(c, ret, NULL);
	EVP_MD_CTX_free(c);
	return is_good;
}

void holder_take_target(void *arg, const char *key, const char *text, uint64_t number)
{
	struct holder_target *t = arg;
	if (text && !strcmp(key, "target"))
		snprintf(t->name, sizeof t->name, "%s", text);
}

int holder_claim_name(const struct disk_facts *f, const char *target, uint16_t lun,
		      char ret[DISK_IDENTITY_TEXT], struct err *e)
{
	char number[8];
	snprintf(number, sizeof number, "%u", lun);
	const char *const serial[] = { f->vendor, f->product, f->serial };
	const char *const place[] = { target, number };
	uint8_t sum[EVP_MAX_MD_SIZE];
	size_t n = (size_t)snprintf(ret, DISK_IDENTITY_TEXT, "%s",
				    *f->identity ? f->identity
				    : *f->serial ? "serial."
						 : "place.");
	if (*f->identity)
		return 0;
	if (!hash(*f->serial ? serial : place, *f->serial ? 3 : 2, sum))
		return err_set(e, -ENOMEM, "LUN %u: name of the lock: out of memory", lun);
	for (unsigned i = 0; i < HASH_BYTES; i++, n += 2)
		snprintf(ret + n, 3, "%02x", sum[i]);
	return 0;
}

int holder_claim(const char *run_dir, const char *name, int *ret_fd, struct err *e)
{
	char path[PATH_MAX];
	*ret_fd = -1;
	snprintf(path, sizeof path, "%s/%s.disk", run_dir, name);
	int r = lockfile_take(path, ret_fd, e);
	// The directory may have been removed with the lock of a process that lives.
	if (r == -EADDRINUSE || !holder_lost(run_dir, name, "disk"))
		return r;
	if (!r)
		close(*ret_fd);
	*ret_fd = -1;
	return -EADDRINUSE;
}
