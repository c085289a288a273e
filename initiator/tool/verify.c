// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator verify and checksum: compares a logical unit with a file or a pattern
// generated from a seed; its SHA-256.
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "initiator/tool/tool.h"

struct check {
	int fd; // -1: the pattern
	const char *path;
	uint64_t seed;
	uint64_t first, last;
	EVP_MD_CTX *digest;
};

// The 8 bytes at offset (a multiple of 8): splitmix64 of seed and offset, so that misplaced blocks
// are detected too.
static uint64_t pattern_word(uint64_t seed, uint64_t offset)
{
	uint64_t z = seed * 0xd1342543de82ef95u + offset / 8 * 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static int64_t give_pattern(void *arg, uint64_t offset, uint8_t *buf, uint32_t len, struct err *e)
{
	const struct check *c = arg;
	for (uint32_t i = 0; i < len; i += 8) {
		uint64_t word = pattern_word(c->seed, offset + i);
		memcpy(buf + i, &word, sizeof word);
	}
	return len;
}

static int differs(uint64_t at, const char *with, struct err *e)
{
	return err_set(e, -EILSEQ, "verify: byte %lu differs from %s", (unsigned long)at, with);
}

static int64_t check_pattern(void *arg, uint64_t offset, const uint8_t *buf, uint32_t len,
			     struct err *e)
{
	const struct check *c = arg;
	for (uint32_t i = 0; i < len; i += 8) {
		uint64_t word = pattern_word(c->seed, offset + i), got;
		memcpy(&got, buf + i, sizeof got);
		if (got != word)
			return differs(offset + i, "the pattern", e);
	}
	return 0;
}

static int64_t check_file(void *arg, uint64_t offset, const uint8_t *buf, uint32_t len,
			  struct err *e)
{
	struct check *c = arg;
	uint8_t block[65536];
	uint64_t end = offset + len < c->last ? offset + len : c->last;
	uint64_t at = offset > c->first ? offset : c->first;
	while (at < end) {
		size_t want = end - at < sizeof block ? end - at : sizeof block;
		ssize_t n = read(c->fd, block, want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(e, n ? -errno : -EIO, "%s: read", c->path);
		if (memcmp(block, buf + (at - offset), (size_t)n)) {
			size_t i = 0;
			while (block[i] == buf[at - offset + i])
				i++;
			return differs(at + i, c->path, e);
		}
		at += (uint64_t)n;
	}
	return 0;
}

static int64_t take_digest(void *arg, uint64_t offset, const uint8_t *buf, uint32_t len,
			   struct err *e)
{
	struct check *c = arg;
	uint64_t from = offset < c->first ? c->first - offset : 0;
	uint64_t to = offset + len > c->last ? c->last - offset : len;
	if (!EVP_DigestUpdate(c->digest, buf + from, to - from))
		return err_set(e, -EIO, "SHA-256: failed");
	return 0;
}

static int range(const struct tool *t, const struct tool_disk *d, struct check *c, struct err *e)
{
	uint64_t length;
	int r = tool_range(t, d, &c->first, &length, e);
	c->last = c->first + length;
	return r;
}

// --- verify ---

static int verified(const struct tool *t, const struct check *c)
{
	if (t->o.is_json)
		printf("{ \"bytes\": %lu, \"same\": true }\n", (unsigned long)(c->last - c->first));
	else
		printf("Verified %lu bytes\n", (unsigned long)(c->last - c->first));
	return TOOL_OK;
}

static int compared(struct tool *t, struct tool_disk *d, struct check *c, tool_take *take)
{
	struct err e;
	tool_progress_begin(t, "verify", c->last - c->first, d->block_size);
	int r = tool_read_blocks(d, c->first, c->last, take, c, &e);
	tool_progress_end();
	return r < 0 ? tool_fail(TOOL_FAILED, &e) : verified(t, c);
}

static int with_pattern(struct tool *t, struct tool_disk *d, struct check *c)
{
	struct err e;
	if (range(t, d, c, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	if (c->first % d->block_size || c->last % d->block_size) {
		err_set(&e, -EINVAL, "--pattern: offset and length must be multiples of %u bytes",
			d->block_size);
		return tool_fail(TOOL_USAGE, &e);
	}
	int status = t->o.is_check_only ? TOOL_OK : tool_may_overwrite(t, d);
	if (status)
		return status;
	struct tool_io io = { .is_write = true, .give = give_pattern, .arg = c };
	io.offset = c->first;
	io.bytes = c->last - c->first;
	if (!t->o.is_check_only) {
		tool_progress_begin(t, "write", io.bytes, d->block_size);
		int64_t n = tool_io_run(d, &io, &e);
		if (n >= 0 && tool_flush(d, &e) < 0)
			n = -1;
		tool_progress_end();
		if (n < 0)
			return tool_fail(TOOL_FAILED, &e);
	}
	return compared(t, d, c, check_pattern);
}

static int with_file(struct tool *t, struct tool_disk *d, struct check *c)
{
	struct err e;
	struct stat st;
	if (fstat(c->fd, &st) < 0) {
		err_errno(&e, -errno, "%s: stat", c->path);
		return tool_fail(TOOL_FAILED, &e);
	}
	if (t->o.length == TOOL_UNSET)
		t->o.length = (uint64_t)st.st_size;
	if (t->o.length > (uint64_t)st.st_size) {
		err_set(&e, -EINVAL, "--length %lu: %s has only %lu bytes",
			(unsigned long)t->o.length, c->path, (unsigned long)st.st_size);
		return tool_fail(TOOL_USAGE, &e);
	}
	if (range(t, d, c, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	return compared(t, d, c, check_file);
}

static int check_source(bool has_pattern, bool has_file, bool is_check_only, struct err *e)
{
	if (has_pattern && has_file)
		return err_set(e, -EINVAL, "a file and --pattern exclude each other");
	if (is_check_only && !has_pattern)
		return err_set(e, -EINVAL, "--check-only requires --pattern SEED");
	if (!has_pattern && !has_file)
		return err_set(e, -EINVAL, "missing FILE to compare with (or --pattern SEED)");
	return 0;
}

static int open_file(struct check *c, struct err *e)
{
	struct stat st;
	c->fd = open(c->path, O_RDONLY | O_CLOEXEC);
	if (c->fd < 0)
		return err_errno(e, -errno, "%s: open", c->path);
	if (!fstat(c->fd, &st) && S_ISREG(st.st_mode))
		return 0;
	close(c->fd);
	c->fd = -1;
	return err_set(e, -EINVAL, "%s: not a regular file", c->path);
}

int tool_verify(struct tool *t)
{
	struct check c = { .fd = -1, .seed = t->o.pattern };
	struct tool_disk d;
	struct err e;
	bool has_pattern = t->o.pattern != TOOL_UNSET;
	if (check_source(has_pattern, t->o.arg_count == 2, t->o.is_check_only, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	if (!has_pattern) {
		c.path = t->o.args[1];
		int r = open_file(&c, &e);
		if (r < 0)
			return tool_fail(r == -EINVAL ? TOOL_USAGE : TOOL_FAILED, &e);
	}
	int status = tool_open_disk(t, &d);
	if (!status)
		status = has_pattern ? with_pattern(t, &d, &c) : with_file(t, &d, &c);
	if (c.fd >= 0)
		close(c.fd);
	return status;
}

// --- checksum ---

static int print_digest(const struct tool *t, struct check *c)
{
	uint8_t sum[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	char hex[2 * EVP_MAX_MD_SIZE + 1] = "";
	struct err e;
	if (!EVP_DigestFinal_ex(c->digest, sum, &n)) {
		err_set(&e, -EIO, "SHA-256: failed");
		return tool_fail(TOOL_FAILED, &e);
	}
	for (unsigned i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", sum[i]);
	if (t->o.is_json)
		printf("{ \"sha256\": \"%s\", \"offset\": %lu, \"bytes\": %lu }\n", hex,
		       (unsigned long)c->first, (unsigned long)(c->last - c->first));
	else
		printf("%s  %s\n", hex, t->o.args[0]);
	return TOOL_OK;
}

int tool_checksum(struct tool *t)
{
	struct check c = { .fd = -1 };
	struct tool_disk d;
	struct err e;
	int status = tool_open_disk(t, &d);
	if (status)
		return status;
	if (range(t, &d, &c, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	c.digest = EVP_MD_CTX_new();
	if (!c.digest || !EVP_DigestInit_ex(c.digest, EVP_sha256(), NULL)) {
		err_set(&e, -EIO, "SHA-256: not available in libcrypto");
		status = tool_fail(TOOL_FAILED, &e);
	} else {
		tool_progress_begin(t, "checksum", c.last - c.first, d.block_size);
		int r = tool_read_blocks(&d, c.first, c.last, take_digest, &c, &e);
		tool_progress_end();
		status = r < 0 ? tool_fail(TOOL_FAILED, &e) : print_digest(t, &c);
	}
	EVP_MD_CTX_free(c.digest);
	return status;
}
