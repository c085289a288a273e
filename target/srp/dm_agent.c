// SPDX-License-Identifier: BSD-2-Clause
// One thread waits for datagrams of all ports, and looks every two seconds at which ports and
// controllers there are.
#include "target/srp/dm_agent.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/log.h"
#include "core/worker.h"

enum {
	ROUND = 16,  // datagrams of a port
	REST_MS = 1, // after a round with that many
};

struct port {
	struct dm_port_name name;
	struct dm_link link;
	bool is_open, is_there;
	struct err why; // it is not open
};

struct dm_agent {
	struct dm_agent_options o;
	pthread_t thread;
	int wake;	  // eventfd
	bool is_stopping; // atomic
	uint64_t look_ns; // time of the next look
	struct srp_io_unit unit;
	struct srp_controller now[DM_SLOTS_MAX], next[DM_SLOTS_MAX];
	unsigned count;
	struct port ports[DM_PORTS_MAX];
};

// --- looks ---

static void look_at_controllers(struct dm_agent *a)
{
	memset(a->next, 0, sizeof a->next);
	unsigned count = a->o.controllers(a->o.arg, a->next, DM_SLOTS_MAX);
	if (count == a->unit.count && !memcmp(a->next, a->now, sizeof a->now))
		return;
	memcpy(a->now, a->next, sizeof a->now);
	a->unit.count = count;
	a->unit.change_id++;
}

static void say(const struct port *p, const struct err *e)
{
	log_warn("device management: %s port %u: %s", p->name.device, p->name.port, e->text);
}

static void port_open(struct dm_agent *a, struct port *p)
{
	struct err e = { 0 };

	if (a->o.links->open(&p->link, &p->name, &e) < 0) {
		if (strcmp(p->why.text, e.text)) // once
			say(p, &e);
		p->why = e;
		return;
	}
	p->is_open = true;
	p->why = (struct err){ 0 };
	log_info("device management: %s port %u: answering", p->name.device, p->name.port);
}

static void port_close(struct dm_agent *a, struct port *p)
{
	if (p->is_open)
		a->o.links->close(&p->link);
	p->is_open = false;
}

static struct port *port_find(struct dm_agent *a, const struct dm_port_name *name)
{
	for (unsigned i = 0; i < a->count; i++)
		if (!memcmp(&a->ports[i].name, name, sizeof *name))
			return &a->ports[i];
	if (a->count == DM_PORTS_MAX)
		return NULL;
	a->ports[a->count] = (struct port){ .name = *name };
	return &a->ports[a->count++];
}

// The last one takes the place of one that has gone.
static void forget_gone(struct dm_agent *a)
{
	for (unsigned i = 0; i < a->count;) {
		struct port *p = &a->ports[i];
		if (p->is_there) {
			i++;
			continue;
		}
		port_close(a, p);
		*p = a->ports[--a->count];
	}
}

static void look_at_ports(struct dm_agent *a)
{
	struct dm_port_name names[DM_PORTS_MAX];
	unsigned count = a->unit.count ? a->o.links->ports(names, DM_PORTS_MAX) : 0;

	for (unsigned i = 0; i < a->count; i++)
		a->ports[i].is_there = false;
	for (unsigned i = 0; i < count; i++) {
		struct port *p = port_find(a, &names[i]);
		if (p)
			p->is_there = true;
	}
	forget_gone(a);
	for (unsigned i = 0; i < a->count; i++)
		if (!a->ports[i].is_open)
			port_open(a, &a->ports[i]);
}

static void look(struct dm_agent *a)
{
	look_at_controllers(a);
	look_at_ports(a);
	a->look_ns = clock_ns() + a->o.look_ms * UINT64_C(1000000);
}

// --- datagrams ---

// True: there may be more.
static bool serve(struct dm_agent *a, struct port *p)
{
	struct err e = { 0 };
	int r = 1;

	for (unsigned n = 0; n < ROUND && r == 1; n++)
		r = a->o.links->serve(&p->link, &a->unit, &e);
	if (r < 0) {
		port_close(a, p);
		p->why = e;
		say(p, &e);
	}
	return r == 1;
}

static int ms_to_look(const struct dm_agent *a)
{
	uint64_t now = clock_ns();

	return now >= a->look_ns ? 0 : (int)((a->look_ns - now + 999999) / 1000000);
}

// Ports stand before the wake-up.
static void wait_and_serve(struct dm_agent *a)
{
	struct pollfd fds[DM_PORTS_MAX + 1];
	struct port *ports[DM_PORTS_MAX];
	unsigned n = 0;
	bool has_more = false;

	for (unsigned i = 0; i < a->count; i++) {
		if (!a->ports[i].is_open)
			continue;
		ports[n] = &a->ports[i];
		fds[n++] = (struct pollfd){ .fd = a->ports[i].link.fd, .events = POLLIN };
	}
	fds[n] = (struct pollfd){ .fd = a->wake, .events = POLLIN };
	if (poll(fds, n + 1, ms_to_look(a)) <= 0)
		return;
	for (unsigned i = 0; i < n; i++)
		if (fds[i].revents && serve(a, ports[i]))
			has_more = true;
	if (has_more) // nobody takes this thread for himself, nor much of a CPU
		poll(&fds[n], 1, REST_MS);
}

static bool is_stopping(const struct dm_agent *a)
{
	return __atomic_load_n(&a->is_stopping, __ATOMIC_ACQUIRE);
}

static void *thread_main(void *arg)
{
	struct dm_agent *a = arg;

	pthread_setname_np(pthread_self(), "srp-dm");
	while (!is_stopping(a)) {
		if (clock_ns() >= a->look_ns)
			look(a);
		wait_and_serve(a);
	}
	for (unsigned i = 0; i < a->count; i++)
		port_close(a, &a->ports[i]);
	return NULL;
}

// --- life ---

static int thread_start(struct dm_agent *a)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int r = pthread_create(&a->thread, NULL, thread_main, a);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -r;
}

int dm_agent_new(struct dm_agent **ret, const struct dm_agent_options *o, struct err *e)
{
	struct dm_agent *a = calloc(1, sizeof *a);

	if (!a)
		return err_set(e, -ENOMEM, "device management: out of memory");
	a->o = *o;
	if (!a->o.look_ms)
		a->o.look_ms = DM_LOOK_MS;
	a->unit.controllers = a->now;
	a->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int r = a->wake < 0 ? -errno : thread_start(a);
	if (r < 0) {
		if (a->wake >= 0)
			close(a->wake);
		free(a);
		return err_errno(e, r, "device management: start");
	}
	*ret = a;
	return 0;
}

void dm_agent_free(struct dm_agent *a)
{
	uint64_t one = 1;

	if (!a)
		return;
	__atomic_store_n(&a->is_stopping, true, __ATOMIC_RELEASE);
	if (write(a->wake, &one, sizeof one) < 0)
		log_debug("device management: wake: %s", strerror(errno)); // it looks soon
	pthread_join(a->thread, NULL);
	close(a->wake);
	free(a);
}
