// SPDX-License-Identifier: BSD-2-Clause
// The smallest fabric: its sessions have a nexus and say which colour they are. Nothing of iSCSI is
// linked.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/log.h"
#include "target/fabric/fabric.h"
#include "target/fabric/session.h"
#include "target/scsi/nexus.h"

#define TOY_TARGET "toy.target"

struct toy {
	struct session session;
	struct tcp_addr addr;
	struct msg end;
	char closed[100]; // why; "": it is not
	unsigned asked_s; // for a logout
	unsigned holds, switches;
};

static struct view_place toy_views;

static struct toy *toy_of(const struct session *s)
{
	return container_of((struct session *)s, struct toy, session);
}

static void toy_end(struct msg *m)
{
	struct toy *t = container_of(m, struct toy, end);
	session_ended(&t->session, t->closed);
	session_leave(&t->session);
	nexus_free(t->session.nexus);
	t->session.nexus = NULL;
	view_target_put(t->session.target);
}

static void toy_close(struct session *s, const char *why)
{
	struct toy *t = toy_of(s);
	if (s->state == SESSION_ENDING)
		return;
	s->state = SESSION_ENDING;
	snprintf(t->closed, sizeof t->closed, "%s", why);
	t->end.fn = toy_end;
	worker_post(s->worker, &t->end);
}

static bool toy_ask_logout(struct session *s, unsigned seconds)
{
	toy_of(s)->asked_s = seconds;
	return true;
}

static void toy_hold(struct session *s)
{
	toy_of(s)->holds++;
}

static void toy_release(struct session *s)
{
	toy_of(s)->holds--;
}

static void toy_follows(struct session *s)
{
	toy_of(s)->switches++;
}

// ACLs have two forms: a name, or all.
static const struct view_acl *toy_find_acl(const struct view_tpg *tpg, const struct session *s)
{
	const struct view_acl *acl = view_find_acl(tpg, s->initiator);
	return acl ? acl : view_find_acl(tpg, "all");
}

static void toy_describe(const struct session *s, struct session_info *ret)
{
	session_identity(ret, "channels", NULL, 2);
	session_negotiated(ret, "colour", "red", 0, false);
	ret->window = 7;
}

static void toy_port_name(const char *target, uint16_t tag, char out[FABRIC_PORT_SIZE])
{
	snprintf(out, FABRIC_PORT_SIZE, "%s", target);
}

static const char *const toy_transports[] = { "Toy", NULL };

static struct fabric_ops toy_fabric = {
	.name = "toy",
	.title = "Toy",
	.protocol = SCSI_PROTOCOL_SRP,
	.session_transports = toy_transports,
	.port_name = toy_port_name,
	.views = &toy_views,
	.status_full = 0x00010001,
	.close = toy_close,
	.ask_logout = toy_ask_logout,
	.hold = toy_hold,
	.release = toy_release,
	.find_acl = toy_find_acl,
	.follows = toy_follows,
	.describe = toy_describe,
};

static inline int toy_begin(struct worker **ret_control, struct worker *ret_data[], unsigned count)
{
	static struct fabric_ops *const table[] = { &toy_fabric, NULL };
	struct worker_options co = { .name = "control", .cpu = -1, .is_control = true };
	struct worker_options wo = { .name = "data", .cpu = -1 };
	struct err e;
	int r = worker_new(ret_control, &co, &e);
	log_threshold = LOG_LVL_ERROR;
	fabrics_use(table);
	for (unsigned i = 0; i < count && !r; i++) {
		r = worker_new(&ret_data[i], &wo, &e);
		r = r ? r : worker_start(ret_data[i], &e);
	}
	return r ? r : fabrics_start(*ret_control, &e);
}

static inline void toy_finish(struct worker *c, struct worker *workers[], unsigned count)
{
	fabrics_stop();
	for (unsigned i = 0; i < count; i++)
		worker_free(workers[i]);
	worker_free(c);
}
