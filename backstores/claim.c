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

static const struct claim *find(dev_t dev, ino_t ino)
{
	struct list *bucket = bucket_of(dev, ino);
	list_for_each (l, bucket) {
		const struct claim *c = list_entry(l, struct claim, link);
		if (c->dev == dev && c->ino == ino)
			return c;
	}
	return NULL;
}

static int lock(int fd, bool is_readonly, const char *path, struct err *e)
{
	struct flock whole = { .l_type = is_readonly ? F_RDLCK : F_WRLCK, .l_whence = SEEK_SET };
	if (fcntl(fd, F_OFD_SETLK, &whole) == 0)
		return 0;
	if (errno == EAGAIN || errno == EACCES)
		return err_set(e, -EBUSY,
			       "%s: locked by another program (stop it, or use another file)",
			       path);
	return 0; // a filesystem without locks: only the list protects
}

int claim_take(struct claim *c, int fd, bool is_readonly, const char *name, const char *path,
	       struct err *e)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return err_errno(e, -errno, "%s", path);
	c->dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
	c->ino = S_ISBLK(st.st_mode) ? 0 : st.st_ino;
	const struct claim *other = find(c->dev, c->ino);
	if (other)
		return err_set(e, -EBUSY, "%s: in use by storage object %s", path, other->name);
	int r = lock(fd, is_readonly, path, e);
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
