// SPDX-License-Identifier: BSD-2-Clause
// Which files are farblockd's own: a disk in one of them would be overwritten by the daemon, and
// an initiator would write what the daemon reads. Told by what a file is, not by how it is called.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "target/config/model.h"

enum place { SAVED_FILE, SAVED_FOLDER, STATE_FOLDER, SOCKET };
enum kind { FILE_ITSELF, FOLDER, PREFIX }; // PREFIX: whatever begins with it

static const struct own {
	enum place place;
	const char *suffix;
	enum kind kind;
	const char *what;
} rows[] = {
	{SAVED_FILE,    "",	  FILE_ITSELF, "saved file"			    },
	{ SAVED_FILE,   ".temp",     FILE_ITSELF, "saved file"			 },
	{ SAVED_FILE,   ".lock",     FILE_ITSELF, "lock"				   },
	{ SAVED_FILE,   ".damaged-", PREFIX,	   "saved file, kept aside as damaged"},
	{ SAVED_FOLDER, "backup",	  FOLDER,	  "backup of the saved file"	     },
	{ STATE_FOLDER, "/lock",	 FILE_ITSELF, "lock"			     },
	{ STATE_FOLDER, "/pr",       FOLDER,      "state of reservations"	       },
	{ STATE_FOLDER, "/alua",	 FOLDER,	 "state of ALUA groups"		},
	{ STATE_FOLDER, "/sanitize", FOLDER,	     "state of disks"		      },
	{ SOCKET,	  "",	      FILE_ITSELF, "control socket"		    },
	{ SOCKET,	  ".lock",	   FILE_ITSELF, "lock"			       },
};

// A path as the kernel sees it: what is there, if anything is, and the folder it is in.
struct place_of {
	struct stat file, folder;
	bool is_there, has_folder;
	const char *name;
	char path[PATH_MAX];
};

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool look(struct place_of *p, const char *path)
{
	char folder[PATH_MAX];
	struct stat link;
	if (!lstat(path, &link) && S_ISLNK(link.st_mode)) {
		if (!realpath(path, p->path))
			return false;
	} else if ((size_t)snprintf(p->path, sizeof p->path, "%s", path) >= sizeof p->path) {
		return false;
	}
	const char *slash = strrchr(p->path, '/');
	p->name = slash ? slash + 1 : p->path;
	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - p->path) + 1 : 1,
		 slash ? p->path : ".");
	p->is_there = !stat(p->path, &p->file);
	p->has_folder = !stat(folder, &p->folder);
	return p->has_folder;
}

// False: the daemon has no such file.
static bool path_of(const struct config *c, const struct own *o, char ret[PATH_MAX])
{
	const char *base = o->place == STATE_FOLDER ? c->state_dir
			   : o->place == SOCKET	    ? c->socket
						    : c->file;
	const char *slash = base ? strrchr(base, '/') : NULL;
	size_t len = base ? strlen(base) : 0;
	if (o->place == SAVED_FOLDER)
		len = slash ? (size_t)(slash - base) + 1 : 0;
	return base &&
	       (size_t)snprintf(ret, PATH_MAX, "%.*s%s", (int)len, base, o->suffix) < PATH_MAX;
}

// Other names of a file in folder, which is ours: hard links.
static bool is_linked_from(const char *folder, const struct stat *file)
{
	DIR *d = opendir(folder);
	bool is_found = false;
	for (struct dirent *entry; d && !is_found && (entry = readdir(d));) {
		struct stat st;
		is_found = entry->d_ino == file->st_ino &&
			   !fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
			   is_same(&st, file);
	}
	if (d)
		closedir(d);
	return is_found;
}

// Whether p is the name of path, or, is_prefix, begins like it, in the same folder.
static bool is_name_of(const struct place_of *p, const char *path, bool is_prefix)
{
	struct place_of own;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	return !strncmp(p->name, name, strlen(name) + !is_prefix) && look(&own, path) &&
	       is_same(&p->folder, &own.folder);
}

// There may be ten thousand disks at a start: one call for each row.
static bool is_own(const struct place_of *p, const struct own *o, const char *path)
{
	struct stat st;
	if (o->kind == PREFIX)
		return is_name_of(p, path, true);
	if (o->kind == FILE_ITSELF && !p->is_there)
		return is_name_of(p, path, false);
	if (stat(path, &st) < 0)
		return false;
	if (o->kind == FILE_ITSELF)
		return is_same(&p->file, &st);
	return is_same(&p->folder, &st) ||
	       (p->is_there && p->file.st_nlink > 1 && is_linked_from(path, &p->file));
}

int own_files_refuse(const struct config *c, const char *dev, struct err *e)
{
	char path[PATH_MAX];
	struct place_of p;
	if (*dev != '/' || !look(&p, dev) ||
	    (p.is_there && (S_ISBLK(p.file.st_mode) || S_ISDIR(p.file.st_mode))))
		return 0;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (path_of(c, &rows[i], path) && is_own(&p, &rows[i], path))
			return err_set(e, -EINVAL,
				       "%.140s is farblockd's own %s (serve another file)", dev,
				       rows[i].what);
	return 0;
}
