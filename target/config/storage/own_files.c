// SPDX-License-Identifier: BSD-2-Clause
// farblockd's own files: a disk in one of them would be overwritten by the daemon, and an initiator
// could write data that the daemon reads. Files are identified by inode, not by name.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "target/config/storage/storage.h"

enum place { SAVED_FILE, SAVED_FOLDER, STATE_FOLDER, SOCKET };
enum kind { FILE_ITSELF, FOLDER, PREFIX }; // PREFIX: all names that begin with it

static const struct own {
	enum place place;
	const char *suffix;
	enum kind kind;
	const char *what;
} rows[OWN_FILES] = {
	{SAVED_FILE,    "",	  FILE_ITSELF, "saved file"		    },
	{ SAVED_FILE,   ".temp",     FILE_ITSELF, "saved file"			 },
	{ SAVED_FILE,   ".lock",     FILE_ITSELF, "lock"			   },
	{ SAVED_FILE,   ".damaged-", PREFIX,	   "damaged saved file kept aside"},
	{ SAVED_FOLDER, "backup",	  FOLDER,	  "backup of the saved file"     },
	{ STATE_FOLDER, "/lock",	 FILE_ITSELF, "lock"			     },
	{ STATE_FOLDER, "/pr",       FOLDER,      "state of reservations"	       },
	{ STATE_FOLDER, "/alua",	 FOLDER,	 "state of ALUA groups"		},
	{ STATE_FOLDER, "/sanitize", FOLDER,	     "state of disks"		      },
	{ SOCKET,	  "",	      FILE_ITSELF, "control socket"		    },
	{ SOCKET,	  ".lock",	   FILE_ITSELF, "lock"			       },
};

// A resolved path: the file, if it exists, and its directory.
struct place_of {
	struct stat file;
	struct file_id id, folder;
	const char *name;
	char path[PATH_MAX];
};

static bool is_same(const struct file_id *a, const struct file_id *b)
{
	return a->is_there && b->is_there && a->dev == b->dev && a->ino == b->ino;
}

static struct file_id id_of(int failed, const struct stat *st)
{
	return failed ? (struct file_id){ 0 } : (struct file_id){ st->st_dev, st->st_ino, true };
}

static struct file_id folder_id(const char *path)
{
	char folder[PATH_MAX];
	struct stat st;
	const char *slash = strrchr(path, '/');
	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	return id_of(stat(folder, &st), &st);
}

static bool look(struct place_of *p, const char *path)
{
	int failed = lstat(path, &p->file);
	if (!failed && S_ISLNK(p->file.st_mode)) {
		if (!realpath(path, p->path))
			return false;
		failed = stat(p->path, &p->file);
	} else if ((size_t)snprintf(p->path, sizeof p->path, "%s", path) >= sizeof p->path) {
		return false;
	}
	const char *slash = strrchr(p->path, '/');
	p->name = slash ? slash + 1 : p->path;
	p->id = id_of(failed, &p->file);
	p->folder = folder_id(p->path);
	return p->folder.is_there;
}

// False: the daemon does not use such a file.
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

// Other names of a file in our own directory: hard links.
static bool is_linked_from(const char *folder, const struct file_id *file)
{
	DIR *d = opendir(folder);
	bool is_found = false;
	for (struct dirent *entry; d && !is_found && (entry = readdir(d));) {
		struct stat st;
		if (entry->d_ino != file->ino)
			continue;
		struct file_id id =
			id_of(fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW), &st);
		is_found = is_same(&id, file);
	}
	if (d)
		closedir(d);
	return is_found;
}

// Runs once for ten thousand disks of a saved file.
static void find_all(struct config *c)
{
	char path[PATH_MAX];
	struct stat st;
	for (size_t i = 0; i < OWN_FILES; i++) {
		bool has = path_of(c, &rows[i], path);
		c->storage->own.file[i] = id_of(!has || stat(path, &st), &st);
		c->storage->own.folder[i] = has ? folder_id(path) : (struct file_id){ 0 };
	}
	c->storage->own.are_known = true;
}

void own_files_forget(struct config *c)
{
	c->storage->own.are_known = false;
}

// Whether p has the name of row i, or its prefix.
static bool has_name(const struct config *c, const struct place_of *p, size_t i)
{
	char path[PATH_MAX];
	if (!is_same(&p->folder, &c->storage->own.folder[i]) || !path_of(c, &rows[i], path))
		return false;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	return !strncmp(p->name, name, strlen(name) + (rows[i].kind != PREFIX));
}

static bool is_own(const struct config *c, const struct place_of *p, size_t i)
{
	char path[PATH_MAX];
	const struct file_id *own = &c->storage->own.file[i];
	if (rows[i].kind != FOLDER)
		return is_same(&p->id, own) || has_name(c, p, i);
	return is_same(&p->folder, own) ||
	       (p->id.is_there && own->is_there && p->file.st_nlink > 1 &&
		path_of(c, &rows[i], path) && is_linked_from(path, &p->id));
}

int own_files_refuse(struct config *c, const char *dev, struct err *e)
{
	struct place_of p;
	if (*dev != '/' || !look(&p, dev) ||
	    (p.id.is_there && (S_ISBLK(p.file.st_mode) || S_ISDIR(p.file.st_mode))))
		return 0;
	if (!c->storage->own.are_known)
		find_all(c);
	for (size_t i = 0; i < OWN_FILES; i++)
		if (is_own(c, &p, i))
			return err_set(e, -EINVAL,
				       "%.140s is farblockd's own %s (use another file)", dev,
				       rows[i].what);
	return 0;
}
