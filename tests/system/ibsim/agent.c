// SPDX-License-Identifier: BSD-2-Clause
// The device management agent of farblockd alone, over libibumad, until SIGTERM: ibsim simulates no
// RDMA device on which farblockd's portals could listen.
//   srp_dm_agent ID_EXT:IOC_GUID:PORT...
// SIGHUP removes the first target that is left.
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "target/srp/dm_agent.h"
#include "transport/rdma/rnic.h"
#include "transport/wire/be.h"

enum { TARGETS_MAX = 8 };

static struct {
	struct srp_controller targets[TARGETS_MAX];
	unsigned count, removed; // removed: atomic
} served;

static unsigned controllers(void *arg, struct srp_controller *ret, unsigned max)
{
	unsigned removed = __atomic_load_n(&served.removed, __ATOMIC_RELAXED);
	unsigned count = served.count - removed;

	memcpy(ret, served.targets + removed, count * sizeof *ret);
	return count;
}

static int target_read(struct srp_controller *c, const char *text)
{
	uint64_t id_ext, guid;
	uint16_t port;

	if (sscanf(text, "%16" SCNx64 ":%16" SCNx64 ":%" SCNu16, &id_ext, &guid, &port) != 3)
		return -1;
	put_be64(c->id_ext, id_ext);
	put_be64(c->ioc_guid, guid);
	c->service_id = rnic_service_id(port);
	snprintf(c->name, sizeof c->name, "farblock %.40s", text);
	return 0;
}

int main(int argc, char **argv)
{
	struct dm_agent_options o = { .links = &dm_umad, .controllers = controllers };
	struct dm_agent *a;
	struct err e;
	sigset_t signals;

	log_init("srp_dm_agent");
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	for (int i = 1; i < argc && served.count < TARGETS_MAX; i++)
		if (target_read(&served.targets[served.count++], argv[i]) < 0)
			return 2;
	if (dm_agent_new(&a, &o, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	for (int number; !sigwait(&signals, &number) && number == SIGHUP;)
		if (served.removed < served.count)
			__atomic_add_fetch(&served.removed, 1, __ATOMIC_RELAXED);
	dm_agent_free(a);
	return 0;
}
