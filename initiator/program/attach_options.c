// SPDX-License-Identifier: BSD-2-Clause
// The options and URLs of attach as a configuration. The program's thread; asks for secrets and the
// resolver.
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"
#include "initiator/holder/holder.h"
#include "initiator/program/attach.h"
#include "initiator/program/iscsi.h"
#include "initiator/program/nexus.h"

#define KEEP_RETRYING 86400 // seconds of one session; then another one is opened, for ever

static int policy(const char *word, enum disk_policy *ret, struct err *e)
{
	static const struct {
		const char *name;
		enum disk_policy policy;
	} rows[] = {
		{"service-time", DISK_SERVICE_TIME},
		{ "queue-depth", DISK_QUEUE_DEPTH },
		{ "round-robin", DISK_ROUND_ROBIN },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!word || !strcmp(word, rows[i].name)) {
			*ret = rows[i].policy;
			return 0;
		}
	return err_set(e, -EINVAL,
		       "--policy '%.40s': must be service-time, queue-depth or round-robin", word);
}

static int no_path_retry(const char *word, uint32_t *ret, struct err *e)
{
	char *end;
	*ret = DISK_QUEUE_FOREVER;
	if (!word || !strcmp(word, "queue"))
		return 0;
	*ret = 0;
	if (!strcmp(word, "fail"))
		return 0;
	unsigned long n = strtoul(word, &end, 10);
	if (!isdigit((unsigned char)*word) || *end || n > 31536000)
		return err_set(e, -EINVAL,
			       "--no-path-retry '%.40s': must be seconds, queue or fail", word);
	*ret = (uint32_t)n;
	return 0;
}

static int fence_wait(const char *word, uint32_t *ret, struct err *e)
{
	char *end;
	*ret = DISK_FENCE_NEVER;
	if (word && !strcmp(word, "never"))
		return 0;
	*ret = 0;
	if (!word)
		return 0;
	unsigned long n = strtoul(word, &end, 10);
	if (!isdigit((unsigned char)*word) || *end || !n || n > 86400)
		return err_set(e, -EINVAL,
			       "--fence-wait '%.40s': must be 1 to 86400 seconds, or never", word);
	*ret = (uint32_t)n;
	return 0;
}

// FNV-1a of the initiator's name and the machine's id, which a file system has that is not there
// yet in an initramfs.
static int host_of(const struct tool *t, uint32_t *ret, struct err *e)
{
	char name[ISCSI_NAME_MAX + 1], id[64] = "";
	int r = iscsi_initiator_name(t, name, e);
	FILE *f = t->o.is_root_disk || r < 0 ? NULL : fopen("/etc/machine-id", "re");
	if (f && !fgets(id, sizeof id, f))
		*id = 0;
	if (f)
		fclose(f);
	uint32_t h = 0x811c9dc5u;
	for (const char *p = name; r >= 0 && *p; p++)
		h = (h ^ (uint8_t)*p) * 0x01000193u;
	for (const char *p = id; *p; p++)
		h = (h ^ (uint8_t)*p) * 0x01000193u;
	*ret = h ? h : 1;
	return r;
}

static int fence(const struct tool *t, uint32_t *ret_host, struct err *e)
{
	const char *word = t->o.fence;
	*ret_host = 0;
	if (!word || !strcmp(word, "auto"))
		return 0;
	if (strcmp(word, "reservation") != 0)
		return err_set(e, -EINVAL, "--fence '%.40s': must be auto or reservation", word);
	if (t->o.is_shared)
		return err_set(e, -EINVAL,
			       "--fence reservation: the disk is for one writer, not --shared");
	return host_of(t, ret_host, e);
}

static int via(const char *word, const struct carrier_ops **ret, struct err *e)
{
	char names[160] = "";
	*ret = word ? carrier_find(word) : NULL;
	if (!word || *ret)
		return 0;
	for (unsigned i = 0; carrier_at(i); i++) {
		size_t n = strlen(names);
		snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", carrier_at(i)->name);
	}
	return err_set(e, -EINVAL, "--via '%.40s': must be one of %s", word, names);
}

void attach_name(const char *base, unsigned lun, char ret[HOLDER_NAME_MAX + 1])
{
	char text[TOOL_TARGET_MAX + 8];
	int n = snprintf(text, sizeof text, "%s-%u", base, lun);
	// The end tells targets apart.
	const char *from = n > HOLDER_NAME_MAX ? text + n - HOLDER_NAME_MAX : text;
	size_t len = strlen(from);
	for (size_t i = 0; i < len; i++)
		ret[i] = isalnum((unsigned char)from[i]) || strchr(".:_", from[i]) ? from[i] : '-';
	if (!isalnum((unsigned char)ret[0]))
		ret[0] = 'x';
	ret[len] = 0;
}

// FNV-1a of the run directory and the attachment's name, if they were given, the URL and the path's
// number.
static uint64_t nexus_of(const struct tool_options *o, unsigned i)
{
	uint64_t hash = 0xcbf29ce484222325ull;
	const char *const parts[] = { o->run_dir, o->name ? o->name : "", o->args[i] };
	for (unsigned n = 0; n < 3; n++)
		for (const char *p = parts[n]; p; p++) {
			hash = (hash ^ (uint8_t)*p) * 0x100000001b3ull;
			if (!*p)
				break;
		}
	return (hash ^ i) * 0x100000001b3ull | 1;
}

static bool is_repeated(const struct tool_options *o, unsigned i, struct err *e)
{
	for (unsigned n = 0; n < i; n++)
		if (!strcmp(o->args[n], o->args[i])) {
			err_set(e, -EINVAL, "%.200s: given twice", o->args[i]);
			return true;
		}
	return false;
}

static int add_path(struct attach_plan *p, unsigned i, struct err *e)
{
	struct tool *t = p->tool;
	t->o.nexus = nexus_of(&t->o, i);
	int status = t->path(t, t->o.args[i], true, &p->paths[i], e);
	if (status)
		return status;
	struct disk_path_config *c = &p->disk_paths[i];
	c->open = p->paths[i].open;
	c->config = p->paths[i].config;
	c->config_size = p->paths[i].config_size;
	c->lun = p->paths[i].lun;
	snprintf(c->name, sizeof c->name, "%s", t->o.args[i]);
	return TOOL_OK;
}

// The process that holds the disk has another working directory.
static int place(const char *path, struct err *e)
{
	if (!path || *path == '/')
		return 0;
	return err_set(e, -EINVAL, "--at '%.80s': must be an absolute path", path);
}

// The status of an attachment is JSON, for those that read it.
static int text(const char *option, const char *value, struct err *e)
{
	if (!value || utf8_is_fine(value))
		return 0;
	return err_set(e, -EINVAL, "%s '%.80s': must be UTF-8", option, value);
}

static int texts(const struct tool_options *o, struct err *e)
{
	const char *const values[][2] = {
		{"--at",		  o->place	   },
		{ "--run-dir",	       o->run_dir	  },
		{ "--chap-user",	 o->chap_user  },
		{ "--chap-mutual-user", o->mutual_user},
	};
	int r = 0;
	for (size_t i = 0; i < sizeof values / sizeof *values && !r; i++)
		r = text(values[i][0], values[i][1], e);
	for (unsigned i = 0; i < o->arg_count && !r; i++)
		r = text("URL", o->args[i], e);
	return r;
}

static unsigned number(uint64_t n)
{
	return n == TOOL_UNSET ? 0 : (unsigned)n;
}

// Of a root file system, requests must not fail.
static void root_disk(const struct tool_options *o, struct holder_config *c)
{
	c->is_root = o->is_root_disk;
	if (o->is_root_disk && o->dead_seconds == TOOL_UNSET)
		c->carrier.dead_seconds = KEEP_RETRYING;
}

static int read_words(const struct tool *t, struct holder_config *ret, struct err *e)
{
	const struct tool_options *o = &t->o;
	*ret = (struct holder_config){
		.run_dir = o->run_dir ? o->run_dir : HOLDER_RUN_DIR,
		.carrier = {.place = o->place,
			     .queues = number(o->queues),
			     .depth = number(o->depth),
			     .dead_seconds = number(o->dead_seconds) },
		.is_shared = o->is_shared,
		.disk = { .is_read_only = o->is_read_only, .allows_replaced = o->allows_replaced},
	};
	root_disk(o, ret);
	if (via(o->via, &ret->via, e) < 0 || policy(o->policy, &ret->disk.policy, e) < 0 ||
	    no_path_retry(o->no_path_retry, &ret->disk.no_path_retry, e) < 0 ||
	    fence(t, &ret->reserving_host, e) < 0 ||
	    fence_wait(o->fence_wait, &ret->disk.fence_wait, e) < 0 || place(o->place, e) < 0 ||
	    texts(o, e) < 0)
		return TOOL_USAGE;
	return TOOL_OK;
}

int attach_plan_make(struct attach_plan *p, struct tool *t, struct holder_config *ret,
		     struct err *e)
{
	unsigned n = t->o.arg_count;
	*p = (struct attach_plan){ .tool = t };
	int status = read_words(t, ret, e);
	if (status)
		return status;
	if (t->o.replacement_timeout == TOOL_UNSET)
		t->o.replacement_timeout = KEEP_RETRYING;
	p->paths = calloc(n, sizeof *p->paths);
	p->disk_paths = calloc(n, sizeof *p->disk_paths);
	if (!p->paths || !p->disk_paths)
		return err_set(e, -ENOMEM, "attach: out of memory"), TOOL_FAILED;
	for (unsigned i = 0; i < n && !status; i++)
		status = is_repeated(&t->o, i, e) ? TOOL_USAGE : add_path(p, i, e);
	if (status)
		return status;
	if (!t->o.name)
		attach_name(p->paths[0].target, p->paths[0].lun, p->name);
	else if (!holder_name_is_valid(t->o.name))
		return err_set(e, -EINVAL,
			       "--name '%.80s': must be 1 to %d letters, digits, '.', '_', '-' or "
			       "':'",
			       t->o.name, HOLDER_NAME_MAX),
		       TOOL_USAGE;
	else
		snprintf(p->name, sizeof p->name, "%s", t->o.name);
	for (unsigned i = 0; i < n && !status; i++)
		status = nexus_check(p, i, e);
	ret->name = p->name;
	ret->login = t->login;
	ret->disk.paths = p->disk_paths;
	ret->disk.path_count = n;
	return status;
}

void attach_plan_done(struct attach_plan *p)
{
	for (unsigned i = 0; p->paths && i < p->tool->o.arg_count; i++)
		tool_path_done(&p->paths[i]);
	free(p->paths);
	free(p->disk_paths);
}
