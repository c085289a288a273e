// SPDX-License-Identifier: BSD-2-Clause
// The I_T nexuses that write an attached disk, in a file beside its claim: a process that dies
// leaves them, with writes that the target may still execute, and its successor fences them before
// the first request. The program's thread, or the chore's; the disk is asked on its worker.
#include <dirent.h>
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/json/json.h"
#include "core/lockfile.h"
#include "core/log.h"
#include "core/whole_file.h"
#include "initiator/holder/holder_priv.h"

struct list_of {
	struct disk *disk;
	struct disk_nexus nexuses[DISK_NEXUSES_MAX];
	unsigned count;
	bool is_lost;		// only those that are not fenced
	struct timespec newest; // of the files that were read
	int r;
};

#define SUFFIX ".nexuses"

// CLAIM.nexuses of the disk's one writer; CLAIM.NAME.nexuses of each that shares it.
static void path_of(const struct holder *h, char ret[PATH_MAX])
{
	bool is_shared = h->config->is_shared;
	snprintf(ret, PATH_MAX, "%s/%s%s%s" SUFFIX, h->config->run_dir, h->claim_name,
		 is_shared ? "." : "", is_shared ? h->config->name : "");
}

// Whether file is a record of the disk, and the lock of who wrote it: of its claim, or its name.
static bool is_record(const struct holder *h, const char *file, char lock[NAME_MAX + 1])
{
	size_t n = strlen(h->claim_name), len = strlen(file), end = sizeof SUFFIX - 1;
	if (len < n + end || strncmp(file, h->claim_name, n) || strcmp(file + len - end, SUFFIX) ||
	    file[n] != '.')
		return false;
	if (len == n + end)
		snprintf(lock, NAME_MAX + 1, "%s.disk", h->claim_name);
	else
		snprintf(lock, NAME_MAX + 1, "%.*s.lock", (int)(len - end - n - 1), file + n + 1);
	return true;
}

static const struct {
	uint8_t protocol;
	const char *name;
} protocols[] = {
	{SCSI_NEXUS_ISCSI, "iscsi"},
	{ SCSI_NEXUS_SRP,  "srp"	},
};

// ---- the file ----

static struct json_object *to_json(const struct list_of *l)
{
	struct json_object *o = json_object_new_object(), *a = json_object_new_array();
	for (unsigned i = 0; i < l->count; i++) {
		const struct disk_nexus *n = &l->nexuses[i];
		struct json_object *e = json_object_new_object();
		for (size_t p = 0; p < sizeof protocols / sizeof *protocols; p++)
			if (protocols[p].protocol == n->nexus.protocol)
				json_object_object_add(e, "protocol",
						       json_object_new_string(protocols[p].name));
		json_object_object_add(e, "initiator", json_object_new_string(n->nexus.initiator));
		json_object_object_add(e, "target", json_object_new_string(n->nexus.target));
		json_object_object_add(e, "relative_port", json_object_new_int(n->relative_port));
		json_object_object_add(e, "server", json_object_new_uint64(n->server));
		json_object_array_add(a, e);
	}
	json_object_object_add(o, "nexuses", a);
	return o;
}

static int save(const char *path, const struct list_of *l, struct err *e)
{
	static const struct whole_file_ways ways = { .suffix = ".new" };
	struct json_object *o = to_json(l);
	size_t len;
	char *text = json_write(o, &len);
	int r = text ? whole_file_replace(path, text, len, &ways, e)
		     : err_set(e, -ENOMEM, "out of memory");
	free(text);
	json_object_put(o);
	return r < 0 ? r : 0;
}

static bool take_nexus(struct json_object *o, struct disk_nexus *ret)
{
	const char *protocol = json_text_or_empty(o, "protocol");
	const char *initiator = json_text_or_empty(o, "initiator");
	const char *target = json_text_or_empty(o, "target");
	struct json_object *port = json_field(o, "relative_port");
	*ret = (struct disk_nexus){ .server = json_object_get_uint64(json_field(o, "server")) };
	for (size_t p = 0; p < sizeof protocols / sizeof *protocols; p++)
		if (!strcmp(protocols[p].name, protocol))
			ret->nexus.protocol = protocols[p].protocol;
	if (!ret->nexus.protocol || !*initiator || strlen(initiator) >= SCSI_PORT_TEXT ||
	    !*target || strlen(target) >= SCSI_PORT_TEXT ||
	    !json_object_is_type(port, json_type_int) || json_object_get_int64(port) < 0 ||
	    json_object_get_int64(port) > UINT16_MAX)
		return false;
	snprintf(ret->nexus.initiator, SCSI_PORT_TEXT, "%s", initiator);
	snprintf(ret->nexus.target, SCSI_PORT_TEXT, "%s", target);
	ret->relative_port = (uint16_t)json_object_get_int(port);
	return true;
}

static int take(struct json_object *o, struct list_of *ret, struct err *e)
{
	struct json_object *a = json_field(o, "nexuses");
	bool is_list = json_object_is_type(a, json_type_array);
	size_t n = is_list ? json_object_array_length(a) : 0;
	if (n > DISK_NEXUSES_MAX - ret->count)
		return err_set(e, -E2BIG, "more than %d nexuses are left", DISK_NEXUSES_MAX);
	for (size_t i = 0; i < n && is_list; i++)
		is_list = take_nexus(json_object_array_get_idx(a, i), &ret->nexuses[ret->count++]);
	return is_list ? 0 : err_set(e, -EINVAL, "not a list of nexuses");
}

static int parse(const char *path, const char *text, size_t len, struct list_of *ret, struct err *e)
{
	struct json_object *o = json_read(text, len, path, e);
	if (!o)
		return -EINVAL;
	int r = take(o, ret, e);
	json_object_put(o);
	return r < 0 ? (err_prefix(e, "%s", path), r) : 0;
}

// Adds those of a file, if there is one.
static int load(const char *path, struct list_of *ret, struct err *e)
{
	char *text;
	size_t len;
	int r = whole_file_read(path, &text, &len, e);
	if (r == -ENOENT)
		return 0;
	if (!r) {
		r = parse(path, text, len, ret, e);
		free(text);
	}
	if (r < 0) {
		struct err why = *e;
		err_set(e, r,
			"%s: cannot tell what may still write the disk (remove the file once "
			"nothing of the former process is under way)",
			why.text);
	}
	return r;
}

// ---- of processes that are dead ----

// Locks the record of another one; -1: it lives, or begins. Without a claim of our own the disk's
// one writer may live, too.
static int lock_record(const struct holder *h, const char *lock)
{
	char path[PATH_MAX], name[NAME_MAX + 1];
	struct err ignored;
	int fd;
	const char *suffix = strrchr(lock, '.') + 1;
	snprintf(name, sizeof name, "%.*s", (int)(suffix - 1 - lock), lock);
	snprintf(path, sizeof path, "%s/%s", h->config->run_dir, lock);
	if (holder_lost(h->config->run_dir, name, suffix) || lockfile_take(path, &fd, &ignored) < 0)
		return -1;
	return fd;
}

static bool is_own_lock(const struct holder *h, const char *lock)
{
	const char *suffix = strrchr(lock, '.');
	size_t n = strlen(h->config->name);
	if (!strcmp(suffix, ".disk"))
		return h->claim >= 0;
	return (size_t)(suffix - lock) == n && !strncmp(lock, h->config->name, n);
}

// Calls visit for each record of the disk that a dead process has left, or this attachment.
static int each_record(struct holder *h, struct list_of *l,
		       int (*visit)(struct holder *h, const char *path, struct list_of *l,
				    struct err *e),
		       struct err *e)
{
	char path[PATH_MAX], lock[NAME_MAX + 1];
	struct dirent *d;
	int r = 0;
	DIR *folder = opendir(h->config->run_dir);
	if (!folder)
		return err_errno(e, -errno, "%s", h->config->run_dir);
	while (!r && (d = readdir(folder))) {
		if (!is_record(h, d->d_name, lock))
			continue;
		bool is_own = is_own_lock(h, lock);
		int fd = is_own ? -1 : lock_record(h, lock);
		snprintf(path, sizeof path, "%s/%s", h->config->run_dir, d->d_name);
		if (is_own || fd >= 0)
			r = visit(h, path, l, e);
		if (fd >= 0)
			close(fd);
	}
	closedir(folder);
	return r;
}

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

static int load_record(struct holder *h, const char *path, struct list_of *l, struct err *e)
{
	struct stat st;
	if (!stat(path, &st) && is_newer(&st.st_ctim, &l->newest))
		l->newest = st.st_ctim;
	return load(path, l, e);
}

// Its process may have begun again meanwhile, and died.
static int remove_record(struct holder *h, const char *path, struct list_of *l, struct err *e)
{
	char own[PATH_MAX];
	struct stat st;
	path_of(h, own);
	if (strcmp(path, own) != 0 && !stat(path, &st) && !is_newer(&st.st_ctim, &l->newest))
		unlink(path);
	return 0;
}

// ---- on the disk's worker ----

static void inherit_run(void *arg)
{
	struct list_of *l = arg;
	l->r = disk_inherit(l->disk, l->nexuses, l->count);
}

static void list_run(void *arg)
{
	struct list_of *l = arg;
	disk_records(l->disk);
	l->count = disk_nexuses(l->disk, l->nexuses, l->is_lost);
}

static void recorded_run(void *arg)
{
	struct list_of *l = arg;
	disk_nexuses_recorded(l->disk, l->nexuses, l->count);
}

// ---- the border ----

int holder_await(struct holder *h, const atomic_bool *is_over, struct err *e)
{
	struct pollfd fds[] = {
		{h->wake,	   POLLIN, 0},
		{ h->signals, POLLIN, 0},
	};
	uint64_t count;
	while (!atomic_load(is_over)) {
		if (poll(fds, 2, -1) < 0)
			continue; // EINTR
		if (fds[0].revents && read(h->wake, &count, sizeof count) < 0)
			continue; // EAGAIN
		if (fds[1].revents)
			return err_set(e, -ECANCELED, "%s: interrupted", h->config->name);
	}
	return 0;
}

int holder_fence_former(struct holder *h, struct err *e)
{
	struct list_of l = { .disk = h->disk };
	if (disk_facts(h->disk)->is_read_only)
		return 0;
	int r = each_record(h, &l, load_record, e);
	if (r < 0)
		return r;
	if (l.count)
		log_info(
			"%s: a former process has left %u nexuses, which may still write the disk: "
			"waiting until the target has ended them",
			h->config->name, l.count);
	worker_call(h->worker, inherit_run, &l);
	if (l.r < 0)
		return err_errno(e, l.r, "%s", h->config->name);
	r = holder_await(h, &h->has_inherited, e);
	if (!r)
		r = holder_record_nexuses(h, e);
	return r < 0 ? r : each_record(h, &l, remove_record, e);
}

// Without it a record that is removed is missed, as is one of a process that has died.
static void watch(struct holder *h)
{
	if (h->removed < 0)
		h->removed = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (h->removed >= 0 &&
	    inotify_add_watch(h->removed, h->config->run_dir,
			      IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF) < 0)
		log_warn("%s: %s: cannot watch: %s", h->config->name, h->config->run_dir,
			 strerror(errno));
}

int holder_record_nexuses(struct holder *h, struct err *e)
{
	struct list_of l = { .disk = h->disk };
	char path[PATH_MAX];
	path_of(h, path);
	worker_call(h->worker, list_run, &l);
	h->has_records = true;
	int r = folder_make(h->config->run_dir, 0700, e);
	if (!r)
		r = save(path, &l, e);
	if (r < 0)
		return r;
	watch(h);
	worker_call(h->worker, recorded_run, &l);
	return 0;
}

void holder_check_record(struct holder *h)
{
	char events[4096], path[PATH_MAX];
	struct err e;
	while (read(h->removed, events, sizeof events) > 0)
		; // which file it was does not matter
	path_of(h, path);
	if (!h->has_records || !access(path, F_OK) || errno != ENOENT)
		return;
	if (holder_record_nexuses(h, &e) < 0)
		log_error("%s: %s was removed, and cannot be made again: if this process is "
			  "killed, the next one does not know what may still write the disk: %s",
			  h->config->name, path, e.text);
	else
		log_warn("%s: %s was removed: made again", h->config->name, path);
}

void holder_nexuses_end(struct holder *h)
{
	struct list_of l = { .disk = h->disk, .is_lost = true };
	char path[PATH_MAX];
	struct err e;
	if (!h->has_records)
		return;
	h->has_records = false;
	path_of(h, path);
	worker_call(h->worker, list_run, &l);
	if (!l.count) {
		unlink(path);
		return;
	}
	log_warn("%s: %u nexuses may still write the disk: the next attachment of it ends them",
		 h->config->name, l.count);
	if (save(path, &l, &e) < 0)
		log_error("%s: %s", h->config->name, e.text);
}
