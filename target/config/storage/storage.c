// SPDX-License-Identifier: BSD-2-Clause
// The life of a storage object: opened, waiting, closed. One whose file or device is missing stays
// in the tree, shows why, and is retried.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "backstores/device.h"
#include "target/config/file/file.h"
#include "target/config/storage/storage.h"
#include "target/scsi/lu.h"
#include "target/scsi/medium.h"
#include "target/scsi/server/device_server.h"

static int option_index(const struct storage *s, const char *name)
{
	const struct bs_option *o = s->type ? s->type->options : NULL;
	for (int i = 0; o && o[i].name && i < STORAGE_OPTIONS_MAX; i++)
		if (!strcmp(o[i].name, name))
			return i;
	return -1;
}

const char *storage_get_option(const struct storage *s, const char *name)
{
	int i = option_index(s, name);
	return i < 0 ? NULL : s->option[i];
}

int storage_set_option(struct storage *s, const char *name, const char *text, struct err *e)
{
	struct bs_config probe;
	int i = option_index(s, name), r;
	backstore_config_init(&probe, s->type);
	r = backstore_config_set(&probe, s->type, name, text, e);
	if (r < 0)
		return r;
	char *copy = strdup(text);
	if (!copy)
		return err_set(e, -ENOMEM, "%s: out of memory", s->node.name);
	free(s->option[i]);
	s->option[i] = copy;
	return 0;
}

uint64_t storage_size(const struct storage *s)
{
	uint64_t size = 0;
	const char *text = storage_get_option(s, "size");
	if (s->lu)
		return backstore_size(lu_backstore(s->lu));
	if (text)
		parse_size(text, &size, NULL);
	return size;
}

// Their logical unit has changed.
static void mark_luns(struct storage *s)
{
	list_each (struct lun, l, &s->luns, storage_link) {
		l->told.lu = NULL;
		tree_changed(s->config, &l->node);
	}
}

// FNV-1a.
static uint64_t hash(uint64_t h, const void *from, size_t len)
{
	for (const uint8_t *at = from, *end = at + len; at < end; at++)
		h = (h ^ *at) * 0x100000001b3u;
	return h;
}

// What is known of a disk without its file or device; 0: nothing.
static uint64_t awaited_disk(const struct storage *s)
{
	const char *dev = storage_get_option(s, "dev");
	uint64_t h = 0xcbf29ce484222325u;
	if (!dev)
		return 0;
	h = hash(h, s->type->name, strlen(s->type->name) + 1);
	h = hash(h, s->wwn, strlen(s->wwn) + 1);
	h = hash(h, dev, strlen(dev) + 1);
	return h | 1ull << 63; // others are small numbers
}

// The same disk after it was reopened, or deleted and created again: the same serial number on the
// same file or device, not only the same path, which may name another one since it was opened. Each
// RAM disk is a disk of its own.
static void set_disk(struct storage *s)
{
	uint64_t awaited = awaited_disk(s), h = awaited;
	char identity[DEVICE_IDENTITY_MAX];
	struct statx st;
	if (!awaited)
		return;
	int fd = backstore_fd(lu_backstore(s->lu));
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st) < 0)
		st.stx_mode = 0;
	if (S_ISREG(st.stx_mode)) { // a new file may get the inode of a removed one
		const uint64_t file[] = { st.stx_dev_major, st.stx_dev_minor, st.stx_ino,
					  (uint64_t)st.stx_btime.tv_sec, st.stx_btime.tv_nsec };
		h = hash(h, file, sizeof file);
	} else if (S_ISBLK(st.stx_mode)) {
		const uint32_t number[] = { st.stx_rdev_major, st.stx_rdev_minor };
		device_identity(makedev(number[0], number[1]), identity);
		h = hash(h, number, *identity ? 0 : sizeof number);
		h = hash(h, identity, strlen(identity));
	}
	h |= 1ull << 63;
	if (s->is_reset && s->disk) // which makes a new file
		s->reset_to = h;
	if (s->reset_to != h)
		s->disk = h;
	lu_set_disk(s->lu, s->disk, awaited);
}

static void lu_closed(void *arg);

// Without memory for it the LUN is missing until the storage opens.
static void absent_new(struct storage *s)
{
	struct config *c = s->config;
	struct backstore *bs;
	struct err e;
	bool is_possible = s->type && !s->type->is_passthrough && !c->is_shutting_down;
	if (s->lu || s->absent || !is_possible ||
	    backstore_absent_new(&bs, s->type, s->node.name, s->attr.block_size) < 0)
		return;
	if (lu_new(&s->absent, &device_server, s->node.name, bs, s->wwn, &s->attr, c->state_dir,
		   &e) < 0) {
		log_warn("%s %s: LUNs are missing while it waits: %s", s->type->name, s->node.name,
			 e.text);
		s->absent = NULL;
		backstore_close(bs);
		return;
	}
	lu_set_absent(s->absent);
	lu_set_disk(s->absent, 0, awaited_disk(s)); // the disk that was there stays the known one
	lu_set_closed(s->absent, c->control, lu_closed, c);
	alua_push(s);
	mark_luns(s);
}

static void let_go(struct storage *s, struct lu **at)
{
	struct lu *lu = *at;
	if (!lu)
		return;
	*at = NULL;
	s->config->storage->closing++;
	mark_luns(s);
	sanitize_stop(lu); // it would keep the unit open until it ends
	lu_put(lu);
}

void storage_wait(struct storage *s, const struct err *why)
{
	struct config *c = s->config;
	absent_new(s);
	uint64_t first = why->code == -EBUSY ? STORAGE_BUSY_USEC : STORAGE_RETRY_USEC;
	snprintf(s->reason, sizeof s->reason, "%s", why->text);
	s->is_busy = why->code == -EBUSY;
	if (!list_linked(&s->waiting_link))
		list_push_back(&c->storage->waiting, &s->waiting_link);
	if (c->is_shutting_down ||
	    (timer_is_armed(&c->storage->retry) && c->storage->retry_usec <= first))
		return;
	c->storage->retry_usec = first;
	timer_arm(c->control, &c->storage->retry, first);
}

// A logical unit is completely closed: its file or device is free again.
static void lu_closed(void *arg)
{
	struct config *c = arg;
	c->storage->closing--;
	if (!c->is_shutting_down)
		retry_waiting(c);
	if (!c->storage->closing && c->storage->quiet)
		c->storage->quiet(c->storage->quiet_arg);
}

// A restore never creates files: an empty file in place of a disk that is not mounted yet would be
// mistaken for the disk.
static int refuse_absent(const struct storage *s, struct err *e)
{
	const char *dev = storage_get_option(s, "dev");
	if (!dev || *dev != '/' || !access(dev, F_OK) || (errno != ENOENT && errno != ENOTDIR))
		return 0;
	int r = -errno;
	if (private_tmp_refuse(dev, r, e) < 0)
		return err_prefix(e, "%s %s", s->type->name, s->node.name), r;
	return err_errno(e, r, "%s %s: %s", s->type->name, s->node.name, dev);
}

static int fill_config(const struct storage *s, bool is_new, struct bs_config *config,
		       struct err *e)
{
	backstore_config_init(config, s->type);
	config->name = s->node.name;
	config->is_new = is_new;
	config->accepts_data = s->accepts_data;
	// The attribute of a new one is only a default.
	config->block_size = is_new ? 0 : s->attr.block_size;
	for (int i = 0; s->type->options[i].name; i++) {
		const char *name = s->type->options[i].name, *text = s->option[i];
		int r = text ? backstore_config_set(config, s->type, name, text, e) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

int storage_refuse_own_files(struct storage *s, struct err *e)
{
	const char *dev = storage_get_option(s, "dev"), *base = storage_get_option(s, "base");
	int r = dev ? own_files_refuse(s->config, dev, e) : 0;
	return r || !base ? r : own_files_refuse(s->config, base, e);
}

// What was chosen at the creation is saved: the file's content does not tell later. Without memory
// it is found again at the next open.
static void keep_choices(struct storage *s)
{
	static const char *const names[] = {
		[BS_OVERLAY_CLONE] = "clone", [BS_OVERLAY_MAP] = "map"
	};
	enum bs_overlay overlay = lu_backstore(s->lu)->limits.overlay;
	if (overlay && !storage_get_option(s, "overlay"))
		storage_set_option(s, "overlay", names[overlay], NULL);
}

static int open_lu(struct storage *s, bool is_new, struct err *e)
{
	struct config *c = s->config;
	struct bs_config config;
	struct backstore *bs;
	const char *dev = storage_get_option(s, "dev");
	int r = is_new ? 0 : refuse_absent(s, e);
	if (!r && dev &&
	    (storage_refuse_own_files(s, e) < 0 ||
	     (is_new && private_tmp_refuse(dev, -EINVAL, e) < 0)))
		r = err_prefix(e, "%s %s", s->type->name, s->node.name);
	if (!r)
		r = fill_config(s, is_new, &config, e);
	if (!r)
		r = backstore_open(&bs, s->type, &config, e);
	if (r < 0)
		return r;
	r = lu_attr_check(&s->attr, &bs->limits, e);
	if (!r)
		r = lu_new(&s->lu, &device_server, s->node.name, bs, s->wwn, &s->attr, c->state_dir,
			   e);
	if (r < 0) {
		s->lu = NULL;
		backstore_close(bs);
		return r;
	}
	lu_set_closed(s->lu, c->control, lu_closed, c);
	set_disk(s);
	if (s->is_reset)
		lu_set_medium_changed(s->lu);
	s->is_reset = false;
	keep_choices(s);
	return 0;
}

int storage_open(struct storage *s, bool is_new, struct err *e)
{
	struct err why = { 0 };
	int r = s->type ? open_lu(s, is_new, &why)
			: err_set(&why, -EOPNOTSUPP, "the plugin is not supported");
	if (r < 0) {
		storage_wait(s, &why);
		if (e)
			*e = why;
		return r;
	}
	let_go(s, &s->absent);
	s->attr = *lu_attr_of(s->lu);
	alua_push(s);
	s->path = BS_PATH_SAME;
	s->reason[0] = 0;
	list_remove(&s->waiting_link);
	mark_luns(s);
	return 0;
}

bool storage_loses_data(const struct storage *s)
{
	return s->lu && backstore_holds_data(lu_backstore(s->lu));
}

void storage_release(struct storage *s)
{
	let_go(s, &s->lu);
	let_go(s, &s->absent);
}

void storage_reopen(struct storage *s, const char *text)
{
	struct err why = { 0 };
	if (s->lu) {
		storage_release(s);
		err_set(&why, -EAGAIN, "%s", text);
		storage_wait(s, &why);
	}
	retry_waiting(s->config);
}

static void reopen(struct config *c, struct node *n)
{
	struct storage *s = NODE_OF(struct storage, n);
	struct err why = { .text = "reopening for a changed setting" };
	if (!s->lu || !n->parent)
		return;
	storage_release(s);
	storage_wait(s, &why);
}

int storage_restart(struct config *c, struct node *n)
{
	return NODE_OF(struct storage, n)->lu ? txn_call(c, n, NULL, reopen) : 0;
}

void storage_free(struct config *c, struct node *n)
{
	struct storage *s = NODE_OF(struct storage, n);
	storage_release(s);
	list_remove(&s->waiting_link);
	for (int i = 0; i < STORAGE_OPTIONS_MAX; i++)
		free(s->option[i]);
	node_done(&s->alua);
	node_done(n);
	free(s);
}

void retry_waiting(struct config *c)
{
	c->storage->retry_usec = 0;
	timer_arm(c->control, &c->storage->retry, 0);
}
