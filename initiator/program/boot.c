// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator boot: the disk of the root file system, in an initramfs. The program's thread;
// may block.
#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include <unistd.h>

#include "core/log.h"
#include "initiator/boot/ibft.h"
#include "initiator/boot/network.h"
#include "initiator/program/attach.h"
#include "initiator/program/boot.h"

enum { LINK_TIMEOUT = 30 }; // seconds

static struct ibft table; // until the end: options refer to it

static int fail(const struct err *e)
{
	return tool_fail(e->code == -EINVAL ? TOOL_USAGE : tool_status_of(e), e);
}

// As iscsistart: no table is status 21.
static int fail_of_table(const struct err *e)
{
	int own = tool_status_of(e);
	return tool_fail(e->code == -ENOENT || e->code == -EINVAL ? TOOL_NOT_FOUND : own, e);
}

static int print(const struct tool *t)
{
	struct err e;
	const char *transport = t->o.transport ? t->o.transport : "tcp";
	for (unsigned n = 0; n < table.target_count; n++)
		if (table.targets[n].object.fault.code)
			tool_say("%s", table.targets[n].object.fault.text);
	if (t->o.is_json) {
		struct json_object *list = ibft_json(&table, network_interface);
		printf("%s\n", json_object_to_json_string_ext(list, JSON_C_TO_STRING_PRETTY));
		json_object_put(list);
		return TOOL_OK;
	}
	if (ibft_print(&table, transport, network_interface, stdout))
		return TOOL_OK;
	err_set(&e, -ENOENT, "iBFT: no valid target");
	return fail_of_table(&e);
}

static int set_network(const struct tool *t)
{
	struct err e;
	uint64_t seconds = t->o.link_timeout == TOOL_UNSET ? LINK_TIMEOUT : t->o.link_timeout;
	if (!network_apply(&table, (unsigned)seconds, tool_say, &e))
		return TOOL_OK;
	if (e.code == -ENODEV || e.code == -ENETDOWN)
		return tool_fail(TOOL_TRANSPORT, &e);
	return fail_of_table(&e);
}

static int connect_disk(struct tool *t)
{
	struct err e;
	if (t->o.boots_firmware && boot_of_ibft(t, &table, &e))
		return fail_of_table(&e);
	if (!t->o.boots_firmware && boot_of_options(t, &e))
		return fail(&e);
	// Each disk of the target may hold the root file system. Only root can attach root disks.
	t->o.is_root_disk = geteuid() == 0;
	return boot_attach(t);
}

static int run(struct tool *t)
{
	struct err e;
	const struct tool_options *o = &t->o;
	bool needs_table = o->boots_firmware || o->prints_firmware || o->sets_network;
	int status = TOOL_OK;
	if (needs_table && ibft_read(&table, o->ibft_dir ? o->ibft_dir : IBFT_DIR, &e))
		return fail_of_table(&e);
	if (o->prints_firmware)
		return print(t);
	if (o->sets_network)
		status = set_network(t);
	if (status || (o->sets_network && !o->boots_firmware))
		return status;
	return connect_disk(t);
}

int boot_run(struct tool *t)
{
	struct err e;
	int status;
	if (t->o.is_version) {
		printf("farblock-initiator " FARBLOCK_VERSION "\n");
		return TOOL_OK;
	}
	if (t->o.debug != TOOL_UNSET && t->o.debug)
		log_threshold = LOG_LVL_DEBUG;
	if (t->o.iscsid_conf)
		tool_say("--config: no effect (--param NAME=VALUE gives a setting)");
	if (boot_hide_secrets(&t->o, &e) || boot_params(t, &e))
		status = fail(&e);
	else
		status = run(t);
	ibft_wipe(&table);
	boot_forget_secrets();
	return status;
}
