// SPDX-License-Identifier: BSD-2-Clause
#include "target/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/config.h"
#include "target/fabric/fabric.h"
#include "core/notify.h"

static unsigned children(struct config *c, const char *path)
{
	const struct node *n = config_node(c, path);
	return n ? n->child_count : 0;
}

static unsigned storage_objects(struct config *c)
{
	const struct node *all = config_node(c, "/backstores");
	unsigned n = 0;
	if (all)
		list_for_each (it, &all->children)
			n += list_entry(it, struct node, link)->child_count;
	return n;
}

// Uses only sums of counters, since listing sessions would wait for the workers.
static void describe(const struct status *s, char ret[sizeof s->told])
{
	struct fabric_counters k;
	unsigned targets = children(s->config, "/iscsi"), disks = storage_objects(s->config);
	fabric_counters_sum(&k);
	snprintf(ret, sizeof s->told,
		 "STATUS=%u target%s, %u storage object%s; %lu login%s, %lu refused", targets,
		 targets == 1 ? "" : "s", disks, disks == 1 ? "" : "s", (unsigned long)k.logins_ok,
		 k.logins_ok == 1 ? "" : "s", (unsigned long)k.logins_failed);
}

static void on_time(struct timer *t)
{
	struct status *s = container_of(t, struct status, timer);
	char text[sizeof s->told];
	describe(s, text);
	if (strcmp(text, s->told)) {
		memcpy(s->told, text, sizeof text);
		notify_manager(text);
	}
	timer_arm(s->control, t, STATUS_S * UINT64_C(1000000));
}

void status_ready(struct status *s)
{
	char text[sizeof s->told + 8];
	describe(s, s->told);
	snprintf(text, sizeof text, "READY=1\n%s", s->told);
	notify_manager(text);
}

void status_init(struct status *s, struct worker *control, struct config *config)
{
	*s = (struct status){ .control = control, .config = config };
	timer_init(&s->timer, on_time);
	status_ready(s);
	if (getenv("NOTIFY_SOCKET"))
		timer_arm(control, &s->timer, STATUS_S * UINT64_C(1000000));
}

void status_done(struct status *s)
{
	if (s->control)
		timer_cancel(s->control, &s->timer);
}
