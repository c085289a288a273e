// SPDX-License-Identifier: BSD-2-Clause
#include "cli/shell/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// Creates all directories of the path; the first may end at at + 1.
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

static const struct {
	const char *variable, *below; // below HOME if the variable is unset
} homes[] = {
	[HOME_STATE] = {"XDG_STATE_HOME",   ".local/state"},
	[HOME_CONFIG] = { "XDG_CONFIG_HOME", ".config"     },
};

// The path of the directory; false: no home directory.
static bool folder(enum state_home which, char *out, size_t size)
{
	const char *own = getenv(homes[which].variable), *home = getenv("HOME");
	int n = -1;
	if (own && *own == '/')
		n = snprintf(out, size, "%s/farblock", own);
	else if (home && *home == '/')
		n = snprintf(out, size, "%s/%s/farblock", home, homes[which].below);
	return n > 0 && (size_t)n < size;
}

bool state_path(enum state_home home, const char *name, char *out, size_t size)
{
	if (!folder(home, out, size))
		return false;
	size_t n = strlen(out);
	return snprintf(out + n, size - n, "/%s", name) < (int)(size - n);
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

bool state_push_new(struct state_lines *l, const char *line)
{
	if (l->count && !strcmp(l->line[l->count - 1], line))
		return false;
	state_push(l, line);
	return true;
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

// -1: not found. Files of other users are ignored.
static int open_ours(int dir, const char *name)
{
	struct stat st;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid()))
		return fd;
	close(fd);
	return -1;
}

static void read_at(int dir, const char *name, struct state_lines *ret)
{
	char line[STATE_LINE_BYTES + 2];
	int fd = open_ours(dir, name);
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
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

void state_read(enum state_home home, const char *name, struct state_lines *ret)
{
	char path[3000];
	*ret = (struct state_lines){ 0 };
	int dir = folder(home, path, sizeof path) ? open(path, O_DIRECTORY | O_CLOEXEC) : -1;
	if (dir < 0)
		return;
	read_at(dir, name, ret);
	close(dir);
}

char *state_text(const char *path, size_t max, size_t *ret_len, struct err *e)
{
	int fd = open_ours(AT_FDCWD, path);
	char *text = fd >= 0 ? malloc(max + 1) : NULL;
	ssize_t n = 1;
	*ret_len = 0;
	e->code = 0;
	while (text && n > 0 && *ret_len <= max) {
		n = read(fd, text + *ret_len, max + 1 - *ret_len);
		*ret_len += n > 0 ? (size_t)n : 0;
	}
	if (n < 0)
		err_errno(e, -errno, "%.150s: cannot read", path);
	else if (*ret_len > max)
		err_set(e, -EFBIG, "%.150s: larger than %zu bytes", path, max);
	if (fd >= 0)
		close(fd);
	if (!e->code)
		return text;
	free(text);
	return NULL;
}

// Root with a user's HOME neither reads nor replaces the user's files.
static int refuse_foreign(int dir, const char *name, struct err *e)
{
	struct stat st;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    (S_ISREG(st.st_mode) && st.st_uid == geteuid()))
		return 0;
	return err_set(e, -EPERM, "%s: not saved: not a regular file of this user", name);
}

// User-edited content may be the only copy: sync it before the rename.
static bool is_flushed(FILE *f, enum state_home home)
{
	return home != HOME_CONFIG || (!fflush(f) && !fsync(fileno(f)));
}

static int write_at(int dir, enum state_home home, const char *name, const struct state_lines *l,
		    struct err *e)
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
	is_written = is_written && is_flushed(f, home);
	if (f)
		is_written &= !fclose(f);
	else if (fd >= 0)
		close(fd);
	if (is_written && !renameat(dir, temporary, dir, name))
		return 0;
	int r = err_errno(e, errno ? -errno : -EIO, "%s: not saved", name);
	unlinkat(dir, temporary, 0);
	return r;
}

int state_change(enum state_home home, const char *name,
		 bool (*change)(struct state_lines *l, void *arg), void *arg, struct err *e)
{
	char path[3000];
	if (!folder(home, path, sizeof path))
		return err_set(e, -ENOENT, "%s: not saved: neither %s nor HOME is set", name,
			       homes[home].variable);
	make_folders(path);
	int dir = open(path, O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_errno(e, -errno, "%s: not saved: %.150s", name, path);
	struct state_lines *l = calloc(1, sizeof *l);
	int r = l ? 0 : err_set(e, -ENOMEM, "out of memory");
	flock(dir, LOCK_EX); // without it concurrent shells may only lose lines
	if (!r)
		r = refuse_foreign(dir, name, e);
	if (!r)
		read_at(dir, name, l);
	if (!r && change(l, arg))
		r = write_at(dir, home, name, l, e);
	close(dir);
	if (l)
		state_done(l);
	free(l);
	return r;
}

static bool append(struct state_lines *l, void *line)
{
	return state_push_new(l, line);
}

int state_append(enum state_home home, const char *name, const char *line, struct err *e)
{
	return state_change(home, name, append, (void *)line, e);
}
