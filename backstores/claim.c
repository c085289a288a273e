// SPDX-License-Identifier: BSD-2-Clause
// See claim.h.
#include "backstores/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>

enum { BUCKETS = 4096 }; // for ten thousand files, each looked up at every open

static struct list claims[BUCKETS]; // zeroed: empty

static struct list *bucket_of(dev_t dev, ino_t ino)
{
	uint64_t h = (uint64_t)ino * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)dev;
	struct list *bucket = &claims[(h ^ h >> 32) % BUCKETS];
	if (!bucket->next)
		list_init(bucket);
	return bucket;
}

// One disk for each file, but a base may be read by others.
static bool do_conflict(enum claim_kind a, enum claim_kind b)
{
	return (a != CLAIM_BASE && b != CLAIM_BASE) || a == CLAIM_WRITE || b == CLAIM_WRITE;
}

static const struct claim *find_conflict(const struct claim *wanted)
{
	struct list *bucket = bucket_of(wanted->dev, wanted->ino);
	list_for_each (l, bucket) {
		const struct claim *c = list_entry(l, struct claim, link);
		if (c->dev == wanted->dev && c->ino == wanted->ino &&
		    do_conflict(c->kind, wanted->kind))
			return c;
	}
	return NULL;
}

static int refuse(const struct claim *wanted, const struct claim *other, const char *path,
		  struct err *e)
{
	if (other->kind == CLAIM_BASE)
		return err_set(e, -EBUSY,
			       "%s: is the base of storage object %s (only readonly=true can serve "
			       "it)",
			       path, other->name);
	if (wanted->kind == CLAIM_BASE)
		return err_set(e, -EBUSY,
			       "base %s: served writable by storage object %s (delete that one)",
			       path, other->name);
	return err_set(e, -EBUSY, "%s: in use by storage object %s", path, other->name);
}

static int lock(int fd, enum claim_kind kind, const char *path, struct err *e)
{
	struct flock whole = { .l_type = kind == CLAIM_WRITE ? F_WRLCK : F_RDLCK,
			       .l_whence = SEEK_SET };
	if (fcntl(fd, F_OFD_SETLK, &whole) == 0)
		return 0;
	if (errno == EAGAIN || errno == EACCES)
		return err_set(e, -EBUSY,
			       "%s: locked by another program (stop it, or use another file)",
			       path);
	return 0; // a filesystem without locks: only the list protects
}

int claim_take(struct claim *c, int fd, enum claim_kind kind, const char *name, const char *path,
	       struct err *e)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return err_errno(e, -errno, "%s", path);
	c->dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
	c->ino = S_ISBLK(st.st_mode) ? 0 : st.st_ino;
	c->kind = kind;
	const struct claim *other = find_conflict(c);
	if (other)
		return refuse(c, other, path, e);
	int r = lock(fd, kind, path, e);
	if (r < 0)
		return r;
	c->name = name;
	list_push_back(bucket_of(c->dev, c->ino), &c->link);
	return 0;
}

void claim_release(struct claim *c)
{
	if (list_linked(&c->link))
		list_remove(&c->link);
}
