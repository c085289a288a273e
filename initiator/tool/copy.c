// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator read and write: a range of a logical unit to a file, and a file to a
// logical unit.
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "initiator/tool/tool.h"

struct copy {
	int fd;
	const char *path;
	uint64_t first, last; // the requested bytes; commands transfer whole blocks
	uint64_t begin_ns;
};

static int report(const struct tool *t, const char *what, uint64_t bytes, uint64_t ns, FILE *f)
{
	double seconds = (double)ns / 1e9, rate = seconds > 0 ? (double)bytes / seconds / 1e6 : 0;
	if (t->o.is_json)
		fprintf(f, "{ \"bytes\": %lu, \"seconds\": %.6f, \"MB_per_s\": %.1f }\n",
			(unsigned long)bytes, seconds, rate);
	else
		fprintf(f, "%s %lu bytes in %.3f s, %.1f MB/s\n", what, (unsigned long)bytes,
			seconds, rate);
	return TOOL_OK;
}

static int refuse_terminal(const char *stream)
{
	struct err e;
	err_set(&e, -ENOTTY, "%s is a terminal (redirect it, or name a file)", stream);
	return tool_fail(TOOL_USAGE, &e);
}

static int missing(const char *option, const char *stream)
{
	struct err e;
	err_set(&e, -EINVAL, "missing %s FILE (- for %s)", option, stream);
	return tool_fail(TOOL_USAGE, &e);
}

// --- read ---

static int64_t to_file(void *arg, uint64_t offset, const uint8_t *buf, uint32_t len, struct err *e)
{
	struct copy *c = arg;
	uint64_t from = offset < c->first ? c->first - offset : 0;
	uint64_t to = offset + len > c->last ? c->last - offset : len;
	while (from < to) {
		ssize_t n = write(c->fd, buf + from, to - from);
		if (n < 0 && (errno != EINTR || tool_interrupted()))
			return err_errno(e, errno == EINTR ? -ECANCELED : -errno, "%s: write",
					 c->path);
		from += n > 0 ? (uint64_t)n : 0;
	}
	return 0;
}

static int read_range(struct tool *t, struct tool_disk *d, struct copy *c)
{
	struct err e;
	uint64_t length;
	if (tool_range(t, d, &c->first, &length, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	c->last = c->first + length;
	c->begin_ns = clock_ns();
	tool_progress_begin(t, "read", length, d->block_size);
	int r = tool_read_blocks(d, c->first, c->last, to_file, c, &e);
	tool_progress_end();
	if (r < 0)
		return tool_fail(TOOL_FAILED, &e);
	return report(t, "Read", length, clock_ns() - c->begin_ns,
		      c->fd == STDOUT_FILENO ? stderr : stdout);
}

int tool_read(struct tool *t)
{
	struct copy c = { .path = t->o.output };
	struct tool_disk d;
	struct err e;
	if (!c.path)
		return missing("-o", "standard output");
	bool is_pipe = !strcmp(c.path, "-");
	if (is_pipe && isatty(STDOUT_FILENO))
		return refuse_terminal("standard output");
	int status = tool_open_disk(t, &d);
	if (status)
		return status;
	tool_interrupt_data();
	c.fd = is_pipe ? STDOUT_FILENO
		       : open(c.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (c.fd < 0) {
		err_errno(&e, -errno, "%s: open for writing", c.path);
		return tool_fail(TOOL_FAILED, &e);
	}
	status = read_range(t, &d, &c);
	if (!is_pipe && close(c.fd) < 0 && !status) {
		err_errno(&e, -errno, "%s: close", c.path);
		status = tool_fail(TOOL_FAILED, &e);
	}
	return status;
}

// --- write ---

static int64_t from_file(void *arg, uint64_t offset, uint8_t *buf, uint32_t len, struct err *e)
{
	struct copy *c = arg;
	uint32_t have = 0;
	while (have < len) {
		ssize_t n = read(c->fd, buf + have, len - have);
		if (n < 0 && (errno != EINTR || tool_interrupted()))
			return err_errno(e, errno == EINTR ? -ECANCELED : -errno, "%s: read",
					 c->path);
		if (!n)
			break;
		have += n > 0 ? (uint32_t)n : 0;
	}
	return have;
}

// A file that is too large is refused before its first byte is written.
static int check_size(const struct copy *c, uint64_t room, struct err *e)
{
	struct stat st;
	if (fstat(c->fd, &st) < 0)
		return err_errno(e, -errno, "%s: stat", c->path);
	if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > room)
		return err_set(e, -ENOSPC, "%s: too large: %lu bytes, room for %lu", c->path,
			       (unsigned long)st.st_size, (unsigned long)room);
	return 0;
}

static int check_all_read(const struct copy *c, bool is_cut, struct err *e)
{
	char one;
	if (is_cut || read(c->fd, &one, 1) <= 0)
		return 0;
	return err_set(e, -ENOSPC, "%s: longer than the logical unit", c->path);
}

// The bytes to write; 0: unknown until the end of the input.
static uint64_t total_of(const struct copy *c, bool is_cut, uint64_t length)
{
	struct stat st;
	if (fstat(c->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return is_cut ? length : 0;
	return (uint64_t)st.st_size < length ? (uint64_t)st.st_size : length;
}

static int write_range(struct tool *t, struct tool_disk *d, struct copy *c)
{
	struct err e;
	uint64_t length;
	bool is_cut = t->o.length != TOOL_UNSET;
	if (tool_range(t, d, &c->first, &length, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	if (c->first % d->block_size) {
		err_set(&e, -EINVAL, "--offset %lu: not a multiple of the block size (%u)",
			(unsigned long)c->first, d->block_size);
		return tool_fail(TOOL_USAGE, &e);
	}
	if (!is_cut && check_size(c, length, &e) < 0)
		return tool_fail(TOOL_FAILED, &e);
	int status = tool_may_overwrite(t, d);
	if (status)
		return status;
	struct tool_io io = { .is_write = true, .give = from_file, .arg = c };
	io.offset = c->first;
	io.bytes = length;
	c->begin_ns = clock_ns();
	tool_interrupt_data();
	tool_progress_begin(t, "write", total_of(c, is_cut, length), d->block_size);
	int64_t n = tool_io_run(d, &io, &e);
	if (n >= 0 && tool_flush(d, &e) < 0)
		n = -1;
	tool_progress_end();
	if (n >= 0 && (uint64_t)n == length && check_all_read(c, is_cut, &e) < 0)
		n = -1;
	if (n < 0)
		return tool_fail(TOOL_FAILED, &e);
	return report(t, "Wrote", (uint64_t)n, clock_ns() - c->begin_ns, stdout);
}

// Only reading one fails.
static int refuse_directory(int fd)
{
	struct stat st;
	return fstat(fd, &st) < 0 ? -errno : S_ISDIR(st.st_mode) ? -EISDIR : 0;
}

int tool_write(struct tool *t)
{
	struct copy c = { .path = t->o.input };
	struct tool_disk d;
	struct err e;
	if (!c.path)
		return missing("-i", "standard input");
	bool is_pipe = !strcmp(c.path, "-");
	if (is_pipe && isatty(STDIN_FILENO))
		return refuse_terminal("standard input");
	c.fd = is_pipe ? STDIN_FILENO : open(c.path, O_RDONLY | O_CLOEXEC);
	int status = c.fd < 0 ? -errno : refuse_directory(c.fd);
	if (status < 0) {
		err_errno(&e, status, "%s: open", c.path);
		if (c.fd >= 0 && !is_pipe)
			close(c.fd);
		return tool_fail(TOOL_FAILED, &e);
	}
	status = tool_open_disk(t, &d);
	if (!status)
		status = write_range(t, &d, &c);
	if (!is_pipe)
		close(c.fd);
	return status;
}
