// SPDX-License-Identifier: BSD-2-Clause
// The first login of boot: tried again until it succeeds, the time is over, or an error that
// waiting does not fix. Each cause is told once. The program's thread.
#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include <time.h>

#include "initiator/program/attach.h"
#include "initiator/program/boot.h"
#include "initiator/program/child.h"
#include "initiator/program/login.h"

enum {
	TIMEOUT = 120, // seconds
	PAUSE_MIN = 500,
	PAUSE_MAX = 5000, // ms between two attempts
};

// ---- causes ----

// clang-format off
static const struct cause {
	int code;
	const char *cure; // unless the error has one; NULL: none
	bool is_final;	  // waiting does not fix it
} causes[] = {
	{-EHOSTUNREACH, "check the address, this machine's network and the gateway", false},
	{-ENETUNREACH, "check this machine's network and the gateway", false},
	{-EADDRNOTAVAIL, "check this machine's network", false},
	{-EKEYREJECTED, "check the CHAP secret of the target", true},
	{-ENXIO, "check the name of the target", true},
	{-ESRCH, "create the LUN at the target", true},
	{-EMEDIUMTYPE, NULL, true},
	{-EEXIST, NULL, true},
	{-EBUSY, NULL, true},
	{-ENODEV, "load ublk_drv or nbd, or give --via", true},
	{-EACCES, NULL, true},
	{-EPERM, NULL, true},
	{-EINVAL, NULL, true},
};
// clang-format on

static const struct cause *cause_of(const struct err *e)
{
	for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
		if (causes[i].code == e->code)
			return &causes[i];
	return NULL;
}

static void add_cure(struct err *e)
{
	const struct cause *c = cause_of(e);
	size_t n = strlen(e->text);
	if (c && c->cure && n && e->text[n - 1] != ')')
		snprintf(e->text + n, sizeof e->text - n, " (%s)", c->cure);
}

// ---- one attempt ----

// One disk, by URLs with a LUN.
static int attach_one(struct tool *t, attach_ready *ready, void *arg, struct err *e)
{
	struct holder_config c;
	struct attach_plan p;
	int status = attach_plan_make(&p, t, &c, e);
	c.argv0 = t->argv0;
	if (!status)
		status = attach_try(t, &c, ready, arg, e);
	else if (status != TOOL_USAGE)
		status = tool_status_of(e);
	attach_plan_done(&p);
	return status;
}

// The statuses of all disks, of all attempts.
static struct json_object *made;

static void on_named(void *arg, struct json_object *status)
{
	const struct tool *t = arg;
	json_object_array_add(made, json_object_get(status));
	if (t->o.is_json)
		return;
	printf("%s ", t->o.name);
	attach_print(arg, status);
}

// Disk number i of all: NAME-LUN, at the URLs of the target.
static int attach_lun(struct tool *t, unsigned lun, struct err *e)
{
	static char urls[TOOL_ARGS_MAX][640];
	char name[HOLDER_NAME_MAX + 1];
	struct tool own = *t;
	attach_name(t->o.name, lun, name);
	own.login = t->o.name;
	own.o.name = name;
	for (unsigned i = 0; i < t->o.arg_count; i++) {
		snprintf(urls[i], sizeof urls[i], "%s/%u", t->o.args[i], lun);
		own.o.args[i] = urls[i];
	}
	return attach_one(&own, on_named, &own, e);
}

// Those that an earlier attempt has attached are there.
static int attach_all(struct tool *t, struct err *e)
{
	static uint16_t luns[LOGIN_DISKS_MAX];
	char target[TOOL_TARGET_MAX];
	unsigned count = 0, there = 0;
	bool is_asked;
	int status = login_try_disks(t, luns, &count, target, &is_asked, e);
	if (!status && !count) {
		err_set(e, -ENXIO, "%s: no disk for this initiator (map a LUN in its ACL)", target);
		status = TOOL_NOT_FOUND;
	}
	for (unsigned i = 0; i < count && !status; i++) {
		status = attach_lun(t, luns[i], e);
		if (status == TOOL_LOGGED_IN) {
			there++;
			status = TOOL_OK;
		}
	}
	if (status || there < count)
		return status;
	err_set(e, -EEXIST, "%s: logged in already", target);
	return TOOL_LOGGED_IN;
}

static int attempt(struct tool *t, bool is_all, struct err *e)
{
	return is_all ? attach_all(t, e) : attach_one(t, attach_print, t, e);
}

// ---- until it succeeds ----

static uint64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

// Time for the next attempt; false: it is over.
static bool pause_for(unsigned *ms, uint64_t until)
{
	uint64_t now = now_ms();
	if (until && now >= until)
		return false;
	child_pause(until && until - now < *ms ? (unsigned)(until - now) : *ms);
	*ms = *ms * 2 < PAUSE_MAX ? *ms * 2 : PAUSE_MAX;
	return true;
}

static bool is_over(const struct tool *t, int status, const struct err *e)
{
	const struct cause *c = cause_of(e);
	if (!status || status > 128 || status == TOOL_USAGE || status == TOOL_LOGGED_IN)
		return true;
	return c && c->is_final && !t->o.retries_all;
}

static int retry(struct tool *t, bool is_all, uint64_t seconds)
{
	uint64_t until = seconds ? now_ms() + seconds * 1000 : 0;
	unsigned ms = PAUSE_MIN;
	struct err e;
	child_catch_signals();
	for (;;) {
		int status = attempt(t, is_all, &e);
		if (!status || status > 128)
			return status;
		add_cure(&e);
		if (is_over(t, status, &e))
			return tool_fail(status, &e);
		tool_say_waiting(&e);
		if (!pause_for(&ms, until)) {
			err_prefix(&e, "no login within %u s", (unsigned)seconds);
			return tool_fail(status, &e);
		}
		if (child_interrupted())
			return child_interrupted();
	}
}

int boot_attach(struct tool *t)
{
	uint64_t seconds = t->o.timeout == TOOL_UNSET ? TIMEOUT : t->o.timeout;
	bool is_all = t->o.lun == TOOL_UNSET && !t->o.boots_firmware;
	if (!t->o.name)
		t->o.name = BOOT_NAME;
	if (seconds && seconds < 15 && t->o.login_timeout == TOOL_UNSET)
		t->o.login_timeout = seconds;
	if (!is_all)
		return retry(t, false, seconds);
	made = json_object_new_array();
	int status = retry(t, true, seconds);
	if (t->o.is_json)
		printf("%s\n", json_object_to_json_string_ext(made, JSON_C_TO_STRING_PRETTY));
	json_object_put(made);
	return status;
}
