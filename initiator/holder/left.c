// SPDX-License-Identifier: BSD-2-Clause
// See left.h, and holder.h for holder_clear().
#include "initiator/holder/left.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/json/json.h"
#include "core/lockfile.h"
#include "core/utf8.h"

static int id_of(struct json_object *o)
{
	struct json_object *v = json_field(o, "id");
	return v && json_object_is_type(v, json_type_int) ? json_object_get_int(v) : -1;
}

// A new process serves the requests that the old one has left, and maybe a mounted file system.
static int check_disk(struct json_object *o, const struct disk_facts *is, struct err *e)
{
	const struct {
		const char *key, *is;
	} rows[] = {
		{"vendor",    is->vendor  },
		{ "product",  is->product },
		{ "serial",   is->serial  },
		{ "identity", is->identity},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *was = json_text_or_empty(o, rows[i].key);
		char now[sizeof is->serial];
		snprintf(now, sizeof now, "%s", rows[i].is);
		utf8_mend(now); // as status.c has written it
		if (strcmp(was, now) != 0)
			return err_set(
				e, -ESTALE,
				"%.60s is of another disk, %s %.80s, not %.80s (detach --force "
				"gives it up; --allow-replaced permits it)",
				json_text_or_empty(o, "device"), rows[i].key, was, now);
	}
	return 0;
}

int left_device(const struct holder_files *f, const struct carrier_ops *via,
		const struct disk_facts *is, struct left_device *ret, struct err *e)
{
	struct json_object *o = access(f->state, F_OK) ? NULL : holder_state_read(f, e);
	int r = 0;
	*ret = (struct left_device){ .id = -1 };
	if (o && via->can_recover && !strcmp(json_text_or_empty(o, "via"), via->name) &&
	    !strncmp(json_text_or_empty(o, "device"), "/dev/", 5)) {
		snprintf(ret->path, sizeof ret->path, "%s", json_text_or_empty(o, "device"));
		ret->id = id_of(o);
	}
	if (ret->id >= 0 && is)
		r = check_disk(o, is, e);
	json_object_put(o);
	return r;
}

// ---- clearing ----

struct search {
	const char *run_dir, *name, *device;
	char found[HOLDER_NAME_MAX + 1];
};

// The kernel may have given the number to another attachment since.
static bool is_free(void *arg, const char *name)
{
	struct search *s = arg;
	struct holder_files f;
	struct err ignored;
	struct json_object *o = NULL;
	if (strcmp(name, s->name) != 0 && !holder_files(&f, s->run_dir, name, &ignored))
		o = holder_state_read(&f, &ignored);
	if (o && !strcmp(json_text_or_empty(o, "device"), s->device))
		snprintf(s->found, sizeof s->found, "%s", name);
	json_object_put(o);
	return !s->found[0];
}

static int clear(const struct carrier_ops *via, const char *run_dir, const char *name,
		 struct json_object *state, bool is_forced, struct err *e)
{
	struct search s = { run_dir, name, json_text_or_empty(state, "device"), "" };
	struct carrier_left left = {
		.name = name,
		.device = json_text_or_empty(state, "device"),
		.extra = json_text_or_empty(state, "file"),
		.identity = json_text_or_empty(state, "identity"),
		.id = id_of(state),
	};
	int r = holder_each(run_dir, is_free, &s, e);
	if (r < 0)
		return r;
	// What is another attachment's now is not this one's any more.
	if (s.found[0] || !via->clear)
		return 0;
	r = via->clear(&left, is_forced, e);
	return r < 0 ? err_prefix(e, "%s: its process has died", name) : 0;
}

static int clear_files(const struct holder_files *f, const char *run_dir, const char *name,
		       holder_find_fn *find, bool is_forced, struct err *e)
{
	struct json_object *o = holder_state_read(f, e);
	const struct carrier_ops *via = o ? find(json_text_or_empty(o, "via")) : NULL;
	int r = 0;
	if (via)
		r = clear(via, run_dir, name, o, is_forced, e);
	else if (!is_forced && e->code != -ENOENT)
		r = err_set(e, -EINVAL,
			    "%s: its process has died, and %s does not say what it left (--force "
			    "only forgets it)",
			    name, f->state);
	if (r >= 0)
		holder_files_remove(f, o ? json_text_or_empty(o, "device") : "");
	json_object_put(o);
	return r < 0 ? r : 0;
}

int holder_clear(const char *run_dir, const char *name, holder_find_fn *find, bool is_forced,
		 struct err *e)
{
	struct holder_files f;
	int lock, r = holder_files(&f, run_dir, name, e);
	if (!r)
		r = lockfile_take(f.lock, &lock, e);
	if (r == -EADDRINUSE)
		return err_set(e, -EBUSY, "%s: a process attaches or detaches it", name);
	if (r < 0)
		return r;
	if (holder_lost(run_dir, name, "lock"))
		r = err_set(e, -EBUSY, "%s: its process lives, though its files were removed",
			    name);
	else
		r = clear_files(&f, run_dir, name, find, is_forced, e);
	close(lock);
	return r;
}
