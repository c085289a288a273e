// SPDX-License-Identifier: BSD-2-Clause
// The files of attachments in the run directory. The program's thread; blocks on the file system.
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/json/json.h"
#include "core/log.h"
#include "core/whole_file.h"
#include "initiator/holder/holder.h"

bool holder_name_is_valid(const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("._-:", name[i]))
			return false;
	return n && n <= HOLDER_NAME_MAX && name[0] != '.' && name[0] != '-';
}

int holder_files(struct holder_files *ret, const char *run_dir, const char *name, struct err *e)
{
	if (!holder_name_is_valid(name))
		return err_set(e, -EINVAL,
			       "name '%.80s': must be 1 to %d letters, digits, '.', '_', '-' or "
			       "':'",
			       name, HOLDER_NAME_MAX);
	// The address of a Unix socket has room for 107 bytes.
	int n = snprintf(ret->socket, 108, "%s/%s.sock", run_dir, name);
	if (n >= 108)
		return err_set(e, -ENAMETOOLONG, "%s/%s.sock: longer than 107 bytes", run_dir,
			       name);
	snprintf(ret->state, sizeof ret->state, "%s/%s.json", run_dir, name);
	snprintf(ret->lock, sizeof ret->lock, "%s/%s.lock", run_dir, name);
	return 0;
}

static int is_state(const struct dirent *d)
{
	size_t n = strlen(d->d_name);
	return n > 5 && !strcmp(d->d_name + n - 5, ".json") && d->d_name[0] != '.';
}

void holder_tell_udev(const char *device)
{
	char path[64];
	struct stat s;
	if (stat(device, &s) < 0 || !S_ISBLK(s.st_mode))
		return;
	snprintf(path, sizeof path, "/sys/dev/block/%u:%u/uevent", major(s.st_rdev),
		 minor(s.st_rdev));
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, "change", 6) < 0)
		log_debug("%s: %s", path, strerror(errno));
	close(fd);
}

void holder_files_remove(const struct holder_files *f, const char *device)
{
	unlink(f->socket);
	unlink(f->state);
	holder_tell_udev(device);
}

int holder_each(const char *run_dir, bool (*found)(void *arg, const char *name), void *arg,
		struct err *e)
{
	struct dirent **list;
	bool goes_on = true;
	int n = scandir(run_dir, &list, is_state, alphasort);
	if (n < 0)
		return errno == ENOENT ? 0 : err_errno(e, -errno, "%s", run_dir);
	for (int i = 0; i < n; i++) {
		list[i]->d_name[strlen(list[i]->d_name) - 5] = 0;
		if (goes_on && holder_name_is_valid(list[i]->d_name))
			goes_on = found(arg, list[i]->d_name);
		free(list[i]);
	}
	free(list);
	return 0;
}

struct json_object *holder_state_read(const struct holder_files *f, struct err *e)
{
	char *text;
	size_t len;
	if (whole_file_read(f->state, &text, &len, e) < 0)
		return NULL;
	struct json_object *o = json_read(text, len, f->state, e);
	free(text);
	if (o && !json_object_is_type(o, json_type_object)) {
		err_set(e, -EINVAL, "%s: not an object", f->state);
		json_object_put(o);
		o = NULL;
	}
	return o;
}
