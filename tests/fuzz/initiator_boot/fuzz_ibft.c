// SPDX-License-Identifier: BSD-2-Clause
// The iBFT: lines "OBJECT ATTRIBUTE VALUE". What is taken is within its limits, and
// what is printed has one line for each value.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/boot/ibft.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_text(const char *text, size_t size)
{
	return memchr(text, 0, size);
}

static void check_target(const struct ibft_target *t)
{
	char address[IBFT_ADDRESS_TEXT];
	ibft_address_text(&t->ip, address);
	if (!is_text(t->name, sizeof t->name) || !is_text(t->user, sizeof t->user) ||
	    !is_text(t->secret, sizeof t->secret) ||
	    !is_text(t->mutual_user, sizeof t->mutual_user) ||
	    !is_text(t->mutual_secret, sizeof t->mutual_secret) ||
	    !is_text(t->lun_text, sizeof t->lun_text) || t->port > 65535 || t->lun > 16383 ||
	    !is_text(t->object.fault.text, sizeof t->object.fault.text))
		abort();
}

static void check(const struct ibft *i)
{
	struct ibft_choice c;
	struct err e;
	if (i->target_count > IBFT_OBJECTS_MAX || i->nic_count > IBFT_OBJECTS_MAX)
		abort();
	for (unsigned n = 0; n < i->target_count; n++)
		check_target(&i->targets[n]);
	for (unsigned n = 0; n < i->nic_count; n++)
		if (ibft_prefix(&i->nics[n]) > 128 || i->nics[n].vlan > 4094)
			abort();
	if (ibft_choose(i, &c, &e))
		return;
	if (!c.count || c.count + c.other_count > i->target_count || !c.paths[0]->has_lun ||
	    !c.paths[0]->ip.family || !c.paths[0]->name[0])
		abort();
}

static void check_print(const struct ibft *i)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	if (!out)
		return;
	ibft_print(i, "tcp", NULL, out);
	fclose(out);
	for (char *line = text; *line;) {
		char *end = strchr(line, '\n');
		if (!end)
			abort();
		if (strncmp(line, "# ", 2) && strncmp(line, "iface.", 6) &&
		    strncmp(line, "node.", 5))
			abort();
		line = end + 1;
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ibft table;
	const uint8_t *end = data + size;
	memset(&table, 0, sizeof table);
	while (data < end) {
		const uint8_t *next = memchr(data, '\n', (size_t)(end - data));
		const uint8_t *stop = next ? next : end;
		char object[24] = "", attribute[32] = "";
		int at = 0;
		char head[64];
		snprintf(head, sizeof head, "%.*s", (int)(stop - data < 63 ? stop - data : 63),
			 (const char *)data);
		if (sscanf(head, "%23s %31s%n", object, attribute, &at) == 2 && at < stop - data)
			ibft_take(&table, object, attribute, (const char *)data + at + 1,
				  (size_t)(stop - data - at - 1));
		data = next ? next + 1 : end;
	}
	check(&table);
	check_print(&table);
	return 0;
}
