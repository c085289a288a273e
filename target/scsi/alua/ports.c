// SPDX-License-Identifier: BSD-2-Clause
// The target ports of a logical unit with their target port groups and names. Changed on the
// control thread, read anywhere, under lu->lock.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/scsi/alua/access.h"

// Index of the port, or its insertion point.
static uint32_t port_index(const struct alua *a, uint16_t relative_port)
{
	uint32_t i = 0;
	while (i < a->nports && a->ports[i].relative_port < relative_port)
		i++;
	return i;
}

static bool has_port(const struct alua *a, uint32_t i, uint16_t relative_port)
{
	return i < a->nports && a->ports[i].relative_port == relative_port;
}

static int port_insert(struct alua *a, uint16_t relative_port, uint16_t group, uint8_t protocol,
		       char *name)
{
	uint32_t i = port_index(a, relative_port);
	if (!has_port(a, i, relative_port)) {
		struct alua_port *more = realloc(a->ports, (a->nports + 1) * sizeof *more);
		if (!more)
			return -ENOMEM;
		a->ports = more;
		memmove(more + i + 1, more + i, (a->nports - i) * sizeof *more);
		a->nports++;
	} else {
		free(a->ports[i].name);
	}
	a->ports[i] = (struct alua_port){ relative_port, group, protocol, name };
	return 0;
}

int alua_port_set(struct lu *lu, uint16_t relative_port, uint16_t group, uint8_t protocol,
		  const char *port_name, struct err *e)
{
	if (alua_slot_of(lu, group) == ALUA_GROUPS_MAX)
		return err_set(e, -ENOENT, "%s: port %u: no ALUA group %u", lu->name, relative_port,
			       group);
	char *name = strdup(port_name ? port_name : "");
	pthread_mutex_lock(&lu->lock);
	int res = name ? port_insert(lu->alua, relative_port, group, protocol, name) : -ENOMEM;
	pthread_mutex_unlock(&lu->lock);
	if (!res)
		return 0;
	free(name);
	return err_set(e, res, "%s: port %u: out of memory", lu->name, relative_port);
}

void alua_port_remove(struct lu *lu, uint16_t relative_port)
{
	struct alua *a = lu->alua;
	pthread_mutex_lock(&lu->lock);
	uint32_t i = port_index(a, relative_port);
	if (has_port(a, i, relative_port)) {
		free(a->ports[i].name);
		a->nports--;
		memmove(a->ports + i, a->ports + i + 1, (a->nports - i) * sizeof *a->ports);
	}
	pthread_mutex_unlock(&lu->lock);
}

bool alua_port_name(struct lu *lu, uint16_t relative_port, char *ret, size_t size,
		    uint8_t *ret_protocol)
{
	const struct alua *a = lu->alua;
	pthread_mutex_lock(&lu->lock);
	uint32_t i = port_index(a, relative_port);
	bool is_there = has_port(a, i, relative_port);
	if (is_there) {
		snprintf(ret, size, "%s", a->ports[i].name);
		*ret_protocol = a->ports[i].protocol;
	}
	pthread_mutex_unlock(&lu->lock);
	return is_there;
}
