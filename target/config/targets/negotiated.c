// SPDX-License-Identifier: BSD-2-Clause
// The read-only group parameter of an ACL: the negotiated values of its initiator's session.
// Control thread; visits the workers.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/targets/acl.h"
#include "target/fabric/fabric.h"
#include "target/fabric/sessions.h"

static bool is_of(const struct session_info *s, const struct node *acl)
{
	return !s->is_discovery && !strcmp(s->acl, acl->name) && s->tpg == tpg_of(acl)->tag &&
	       !strcmp(s->target, target_name(acl));
}

static size_t put_value(const struct session_info *s, const char *name, char *out, size_t size)
{
	const struct session_field *f = s->negotiated, *end = f + s->negotiated_count;
	while (f < end && strcmp(f->name, name))
		f++;
	if (f == end)
		return (size_t)snprintf(out, size, "%s", "");
	if (f->is_number)
		return (size_t)snprintf(out, size, "%" PRIu64, f->number);
	return (size_t)snprintf(out, size, "%s", f->text);
}

size_t negotiated_get(struct node *n, const struct attr_row *row, char *out, size_t size)
{
	struct session_info *list = NULL;
	unsigned count = 0, i = 0;
	sessions_list(&list, &count); // none without memory
	while (i < count && !is_of(&list[i], n))
		i++;
	size_t len = i < count ? put_value(&list[i], row->name, out, size)
			       : (size_t)snprintf(out, size, "No Active %s Session",
						  node_fabric(n)->title);
	free(list);
	return len;
}
