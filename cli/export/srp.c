// SPDX-License-Identifier: BSD-2-Clause
// export over SRP: names, and the lines for the kernel's ib_srp and for farblock-initiator.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/export/export.h"
#include "transport/srp/name.h"

_Static_assert(SRP_NAME_MAX + 1 == EXPORT_NAME_SIZE, "names of SRP ports");

// What the kernel's initiator is told in its add_target file. Its port id begins with
// initiator_ext, which is 0 unless it is said, and ends with the GUID of its own port.
static void add_target(const struct export *x, const struct export_initiator *to, char ret[240])
{
	static const char zeros[] = "0000000000000000";
	const char *id = x->target + strlen("ib.");
	bool has_id = !strncmp(to->name, "ib.", 3), has_ext = has_id;
	if (has_id)
		has_ext = strncmp(to->name + 3, zeros, 16);
	snprintf(ret, 240, "id_ext=%.16s,ioc_guid=%.16s,dest=%.79s:%s%s%.16s", id, id + 16,
		 x->address, x->port, has_ext ? ",initiator_ext=" : "",
		 has_ext ? to->name + 3 : "");
}

static void url(const struct export *x, char ret[200])
{
	const char *id = x->target + strlen("ib.");
	snprintf(ret, 200, "srp://%.79s:%s/%.16s:%.16s/%s", x->address, x->port, id, id + 16,
		 x->lun);
}

// The option of farblock-initiator for its port id, "": any will do.
static void own_port(const struct export_initiator *to, char ret[60])
{
	const char *name = to->name;
	char guid[17];
	size_t n = 0;
	*ret = 0;
	for (const char *p = name; *p && n < 16; p++)
		if (isxdigit((unsigned char)*p))
			guid[n++] = *p;
	guid[n] = 0;
	if (!strncmp(name, "ib.", 3))
		snprintf(ret, 60, " --initiator-port %.16s:%.16s", name + 3, name + 19);
	else if (strlen(name) == strlen("xxxx:xxxx:xxxx:xxxx") && n == 16)
		snprintf(ret, 60, " --initiator-port %016d:%s", 0, guid);
}

static void lines(const struct export *x, const struct export_initiator *to, FILE *out)
{
	char text[240], port[60];
	own_port(to, port);
	add_target(x, to, text);
	fprintf(out, "\nib_srp of Linux (DEVICE-PORT: see ls /sys/class/infiniband_srp):\n");
	fprintf(out, "  modprobe ib_srp\n");
	fprintf(out, "  echo '%s' > /sys/class/infiniband_srp/srp-DEVICE-PORT/add_target\n", text);
	url(x, text);
	fprintf(out, "farblock-initiator:\n  farblock-initiator inquiry %s%s\n", text, port);
}

static void put(const struct export *x, const struct export_initiator *to, struct json_object *ret)
{
	char text[240];
	add_target(x, to, text);
	json_object_object_add(ret, "add_target", json_object_new_string(text));
	url(x, text);
	json_object_object_add(ret, "url", json_object_new_string(text));
}

const struct export_protocol export_srp = {
	.fabric = "/srpt",
	.group = "",
	.port = "3261",
	.name_target = name_srpt_target,
	.name_initiator = name_srpt_initiator,
	.lines = lines,
	.put = put,
};
