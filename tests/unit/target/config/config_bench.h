// SPDX-License-Identifier: BSD-2-Clause
// A configuration with one data worker in a temporary folder, and calls into it from the
// test's thread. Everything runs on a control thread, as in the daemon.
#pragma once

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/offload.h"
#include "core/whole_file.h"
#include "target/config/change/commit.h"
#include "target/config/change/plan.h"
#include "target/config/classes.h"
#include "target/config/config.h"
#include "target/config/file/file.h"
#include "target/config/file/saved_file.h"
#include "target/config/targets/acl.h"
#include "target/config/targets/credentials.h"
#include "target/config/targets/lun.h"
#include "target/config/targets/portal.h"
#include "target/config/targets/srpt.h"
#include "target/config/tree/settings.h"
#include "target/config/tree/names.h"
#include "target/fabric/fabric.h"
#include "target/all_fabrics.h"

static struct worker *control, *data;
static struct config *config;
static char dir[64], saved[96];
static struct reply reply; // of the last run()
static struct err error;   // of the last call

static bool is_text_old; // the kept texts differ from the tree

struct bench_call {
	const char *path, *command;
	struct json_object *positional, *named;
	bool is_admin;
	int code;
};

static void (*bench_fabrics)(void) = use_all_fabrics;

static void bench_new(void *arg)
{
	bench_fabrics();
	if (fabrics_start(control, &error) < 0) {
		*(int *)arg = -EIO;
		return;
	}
	struct config_options o = { .control = control, .file = saved, .state_dir = dir };
	*(int *)arg = config_new(&config, &o, &error);
}

static void bench_load(void *arg)
{
	int *code = arg;
	error = (struct err){ 0 };
	*code = config_load(config, &error);
}

// After every command, a save with kept texts equals one without.
static void compare_texts(void *arg)
{
	size_t len;
	struct json_object *doc = save_document(config);
	char *made = json_write(doc, &len), *kept = save_text(config, &len);
	is_text_old = strcmp(made, kept) != 0;
	json_object_put(doc);
	free(made);
	free(kept);
}

static void bench_run(void *arg)
{
	struct bench_call *c = arg;
	error = (struct err){ 0 };
	c->code = config_run(config, c->path, c->command, c->positional, c->named, c->is_admin,
			     &reply, &error);
	compare_texts(NULL);
}

static void bench_nothing(void *arg)
{
}

static void bench_shutdown(void *arg)
{
	config_stop_listening(config);
	fabrics_stop();
	config_shutdown(config, bench_nothing, NULL);
}

static void bench_free(void *arg)
{
	config_free(config);
	config = NULL;
}

static void bench_closing(void *arg)
{
	*(unsigned *)arg = config_closing(config);
}

// As a client does: puts the content of the file that was refused into the call.
static inline bool bench_send_file(struct json_object *values)
{
	bool is_named = error.part == ERR_PART_NAME;
	struct json_object *doc = NULL, *at;
	char *text;
	size_t len;
	at = is_named ? json_field(values, error.name)
		      : json_object_array_get_idx(values, error.index);
	const char *file = json_scalar(at);
	struct err why = { 0 };
	if (!file || *file != '/')
		return false;
	struct json_object *o = json_object_new_object();
	json_put_text(o, "name", file);
	int r = whole_file_read(file, &text, &len, &why);
	if (!r) {
		doc = json_read(text, len, file, &why);
		free(text);
	}
	json_object_object_add(o, "document", doc);
	if (is_named)
		json_object_object_add(values, error.name, o);
	else
		json_object_array_put_idx(values, error.index, o);
	if (doc || r == -ENOENT)
		return true;
	error = why;
	return false;
}

// Writes the file of the reply.
static inline int bench_take_file(void)
{
	static const struct whole_file_ways ways = { .suffix = ".new" };
	const char *text = json_text(reply.file, "text");
	return reply.file ? whole_file_replace(json_text(reply.file, "name"), text, strlen(text),
					       &ways, &error)
			  : 0;
}

// values: JSON array of positional parameters, or object of named ones, or NULL.
static inline int run_as(bool is_admin, const char *path, const char *command, const char *values)
{
	struct json_object *v = values ? json_tokener_parse(values) : NULL;
	bool is_list = json_object_is_type(v, json_type_array);
	struct bench_call c = {
		path, command, is_list ? v : NULL, is_list ? NULL : v, is_admin, 0
	};
	reply_done(&reply);
	worker_call(control, bench_run, &c);
	while (c.code == -EREMOTE && bench_send_file(v))
		worker_call(control, bench_run, &c);
	if (c.code == -EREMOTE) // the file cannot be read
		c.code = error.code;
	if (!c.code)
		c.code = bench_take_file();
	json_object_put(v);
	assert_false(is_text_old);
	return c.code;
}

static inline int run(const char *path, const char *command, const char *values)
{
	return run_as(true, path, command, values);
}

static inline int set(const char *path, const char *group, const char *values)
{
	char text[600];
	snprintf(text, sizeof text, "{\"group\": \"%s\", %s}", group, values);
	return run(path, "set", text);
}

static inline const char *message(unsigned i)
{
	struct json_object *m =
		reply.messages ? json_object_array_get_idx(reply.messages, i) : NULL;
	return m ? json_object_get_string(m) : "";
}

// A value of a setting, valid until the next call.
static inline const char *get(const char *path, const char *group, const char *name)
{
	char values[300];
	snprintf(values, sizeof values, "[\"%s\", \"%s\"]", group, name);
	assert_int_equal(run(path, "get", values), 0);
	return json_text(json_object_array_get_idx(json_field(reply.data, "rows"), 0), "value");
}

static inline const char *summary(const char *path)
{
	assert_int_equal(run(path, "info", NULL), 0);
	return json_text(reply.data, "summary");
}

static inline bool exists(const char *path)
{
	return run(path, "status", NULL) == 0;
}

static inline char *saved_text(void)
{
	char *text;
	size_t len;
	return file_read(saved, &text, &len, NULL) < 0 ? NULL : text;
}

static inline void write_saved(const char *text)
{
	FILE *f = fopen(saved, "w");
	fputs(text, f);
	fclose(f);
}

static inline int load(void)
{
	int code;
	worker_call(control, bench_load, &code);
	return code;
}

static inline int config_open(void)
{
	int code;
	worker_call(control, bench_new, &code);
	return code;
}

static inline void config_close(void)
{
	unsigned closing = 1;
	worker_call(control, bench_shutdown, NULL);
	while (closing) // messages of the worker come in between
		worker_call(control, bench_closing, &closing);
	worker_call(control, bench_free, NULL);
}

// Simulates a new process with the same saved file.
static inline void restart(void)
{
	config_close();
	assert_int_equal(config_open(), 0);
	assert_int_equal(load(), 0);
}

static inline int setup(void **state)
{
	struct worker_options co = { .name = "control", .cpu = -1, .is_control = true };
	struct worker_options wo = { .name = "worker0", .cpu = -1, .pool_bytes = 16 << 20 };
	log_threshold = LOG_LVL_ERROR;
	snprintf(dir, sizeof dir, "/tmp/farblock-config.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(saved, sizeof saved, "%s/saveconfig.json", dir);
	if (worker_new(&control, &co, &error) < 0 || worker_new(&data, &wo, &error) < 0 ||
	    worker_start(data, &error) < 0 || worker_start(control, &error) < 0)
		return -1;
	return config_open();
}

static int bench_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static inline int teardown(void **state)
{
	reply_done(&reply);
	config_close();
	offload_shutdown();
	worker_free(data);
	worker_free(control);
	return nftw(dir, bench_remove, 8, FTW_DEPTH | FTW_PHYS);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
