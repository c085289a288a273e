// SPDX-License-Identifier: BSD-2-Clause
// See status.h. Facts and paths are read on the disk's worker.
#include "initiator/holder/status.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/utf8.h"
#include "core/worker.h"

struct reading {
	struct disk *disk;
	struct disk_facts facts;
	struct disk_path_info paths[DISK_PATHS_MAX];
	struct json_object *sessions[DISK_PATHS_MAX];
	unsigned count, notices;
};

// Files and targets may say what is not UTF-8, which nobody could read as JSON.
static void add_text(struct json_object *o, const char *key, const char *text)
{
	char *copy = strdup(text);
	if (copy)
		utf8_mend(copy);
	json_object_object_add(o, key, json_object_new_string(copy ? copy : ""));
	free(copy);
}

static void add_number(struct json_object *o, const char *key, uint64_t n)
{
	json_object_object_add(o, key, json_object_new_uint64(n));
}

static void on_said(void *arg, const char *key, const char *text, uint64_t number)
{
	if (text)
		add_text(arg, key, text);
	else
		add_number(arg, key, number);
}

static void read_run(void *arg)
{
	struct reading *r = arg;
	r->facts = *disk_facts(r->disk);
	r->count = disk_path_count(r->disk);
	r->notices = disk_notices(r->disk);
	for (unsigned i = 0; i < r->count; i++) {
		disk_path_info(r->disk, i, &r->paths[i]);
		r->sessions[i] = json_object_new_object();
		disk_path_describe(r->disk, i, on_said, r->sessions[i]);
	}
}

static struct json_object *path_json(const struct disk_path_info *p, struct json_object *session)
{
	struct json_object *o = json_object_new_object();
	add_text(o, "url", p->name);
	add_number(o, "lun", p->lun);
	add_text(o, "state", disk_path_state_text(p->state));
	add_text(o, "alua", p->alua);
	add_text(o, "peer", p->peer);
	add_text(o, "local", p->local);
	add_number(o, "reconnects", p->reconnects);
	add_number(o, "failovers", p->failovers);
	add_number(o, "commands", p->commands);
	add_number(o, "errors", p->errors);
	add_number(o, "bytes_read", p->bytes_read);
	add_number(o, "bytes_written", p->bytes_written);
	if (p->why.code)
		add_text(o, "last_error", p->why.text);
	json_object_object_add(o, "fencing", json_object_new_boolean(p->is_fencing));
	if (p->is_fencing && p->unfenced.code)
		add_text(o, "fence_error", p->unfenced.text);
	json_object_object_add(o, "session", session);
	return o;
}

static void add_carrier(struct json_object *o, const char *via, const struct carrier_info *i)
{
	add_text(o, "via", via);
	add_text(o, "device", i->device);
	json_object_object_add(o, "id", json_object_new_int(i->id));
	if (i->extra[0])
		add_text(o, "file", i->extra);
}

static void add_facts(struct json_object *o, const struct disk_facts *f)
{
	add_number(o, "bytes", f->blocks * f->block_size);
	add_number(o, "block_size", f->block_size);
	json_object_object_add(o, "read_only", json_object_new_boolean(f->is_read_only));
	add_text(o, "vendor", f->vendor);
	add_text(o, "product", f->product);
	add_text(o, "serial", f->serial);
	add_text(o, "identity", f->identity);
}

// As --no-path-retry has it.
static void add_no_path_retry(struct json_object *o, uint32_t seconds)
{
	char text[16];
	snprintf(text, sizeof text, "%u", seconds);
	add_text(o, "no_path_retry",
		 seconds == DISK_QUEUE_FOREVER ? "queue"
		 : seconds		       ? text
					       : "fail");
}

// The worst one is the state of a disk that has a path.
static const char *state_of(const struct holder_status *s, unsigned notices)
{
	if (s->state)
		return s->state;
	for (unsigned n = DISK_NOTICE_COUNT; n-- > 0;)
		if (notices & 1u << n)
			return disk_notice_word((enum disk_notice)n);
	return "attached";
}

static struct json_object *notices_json(unsigned notices)
{
	struct json_object *list = json_object_new_array();
	for (unsigned n = 0; n < DISK_NOTICE_COUNT; n++) {
		if (!(notices & 1u << n))
			continue;
		struct json_object *o = json_object_new_object();
		add_text(o, "notice", disk_notice_word((enum disk_notice)n));
		add_text(o, "text", disk_notice_text((enum disk_notice)n));
		json_object_array_add(list, o);
	}
	return list;
}

struct json_object *holder_status(const struct holder_status *s)
{
	struct reading r = { .disk = s->disk };
	struct json_object *o = json_object_new_object(), *paths = json_object_new_array();
	worker_call(disk_worker(s->disk), read_run, &r);
	add_text(o, "name", s->name);
	add_text(o, "state", state_of(s, r.notices));
	if (s->login)
		add_text(o, "login", s->login);
	json_object_object_add(o, "pid", json_object_new_int(getpid()));
	add_carrier(o, s->via, s->carrier);
	add_facts(o, &r.facts);
	add_no_path_retry(o, s->no_path_retry);
	add_text(o, "fence", s->is_reserved ? "reservation" : "auto");
	for (unsigned i = 0; i < r.count; i++)
		json_object_array_add(paths, path_json(&r.paths[i], r.sessions[i]));
	json_object_object_add(o, "paths", paths);
	json_object_object_add(o, "notices", notices_json(r.notices));
	return o;
}
