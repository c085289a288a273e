// SPDX-License-Identifier: BSD-2-Clause
#include "cli/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// Makes every folder on the way; at + 1 is where the first may end.
static void make_folders(char *path)
{
	for (char *p = path + 1; *p; p++)
		if (*p == '/') {
			*p = 0;
			mkdir(path, 0700);
			*p = '/';
		}
	mkdir(path, 0700);
}

// The folder's path; false: there is no home.
static bool folder(char *out, size_t size)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n = -1;
	if (state && *state == '/')
		n = snprintf(out, size, "%s/farblock", state);
	else if (home && *home == '/')
		n = snprintf(out, size, "%s/.local/state/farblock", home);
	return n > 0 && (size_t)n < size;
}

void state_push(struct state_lines *l, const char *line)
{
	char *copy = strdup(line);
	if (!copy)
		return;
	if (l->count == STATE_LINES_MAX)
		state_remove(l, 0);
	l->line[l->count++] = copy;
}

void state_remove(struct state_lines *l, unsigned i)
{
	free(l->line[i]);
	l->count--;
	memmove(&l->line[i], &l->line[i + 1], (l->count - i) * sizeof l->line[0]);
}

void state_done(struct state_lines *l)
{
	while (l->count)
		free(l->line[--l->count]);
}

static void read_at(int dir, const char *name, struct state_lines *ret)
{
	char line[STATE_LINE_BYTES + 2];
	struct stat st;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	// Somebody else's file is not what we wrote.
	bool is_ours = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid();
	FILE *f = is_ours ? fdopen(fd, "r") : NULL;
	while (f && fgets(line, sizeof line, f)) {
		size_t n = strcspn(line, "\n");
		bool is_whole = line[n] == '\n';
		line[n] = 0;
		if (is_whole && n)
			state_push(ret, line);
	}
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
}

void state_read(const char *name, struct state_lines *ret)
{
	char path[3000];
	*ret = (struct state_lines){ 0 };
	int dir = folder(path, sizeof path) ? open(path, O_DIRECTORY | O_CLOEXEC) : -1;
	if (dir < 0)
		return;
	read_at(dir, name, ret);
	close(dir);
}

static int write_at(int dir, const char *name, const struct state_lines *l, struct err *e)
{
	char temporary[64];
	snprintf(temporary, sizeof temporary, ".%.40s.%d", name, (int)getpid());
	int fd =
		openat(dir, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	FILE *f = fd >= 0 && !fchmod(fd, 0600) ? fdopen(fd, "w") : NULL;
	bool is_written = f != NULL;
	for (unsigned i = 0; f && i < l->count; i++)
		if (strlen(l->line[i]) < STATE_LINE_BYTES)
			is_written &= fprintf(f, "%s\n", l->line[i]) > 0;
	if (f)
		is_written &= !fclose(f);
	else if (fd >= 0)
		close(fd);
	if (is_written && !renameat(dir, temporary, dir, name))
		return 0;
	int r = err_errno(e, errno ? -errno : -EIO, "%s: is not kept", name);
	unlinkat(dir, temporary, 0);
	return r;
}

int state_change(const char *name, bool (*change)(struct state_lines *l, void *arg), void *arg,
		 struct err *e)
{
	char path[3000];
	if (!folder(path, sizeof path))
		return err_set(e, -ENOENT,
			       "%s: is not kept: neither XDG_STATE_HOME nor HOME is set", name);
	make_folders(path);
	int dir = open(path, O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_errno(e, -errno, "%s: is not kept: %.150s", name, path);
	struct state_lines *l = calloc(1, sizeof *l);
	int r = l ? 0 : err_set(e, -ENOMEM, "out of memory");
	flock(dir, LOCK_EX); // without it two shells may lose each other's lines, no more
	if (l)
		read_at(dir, name, l);
	if (l && change(l, arg))
		r = write_at(dir, name, l, e);
	close(dir);
	if (l)
		state_done(l);
	free(l);
	return r;
}
