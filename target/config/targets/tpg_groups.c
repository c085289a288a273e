// SPDX-License-Identifier: BSD-2-Clause
// Groups of settings of a portal group. The rows of the first two are the fabric's.
#include <stdio.h>
#include <string.h>

#include "target/config/targets/credentials.h"

static const struct fabric_ops *fabric_of(const struct node *n)
{
	return NODE_OF(const struct tpg, n)->kind->fabric();
}

static int check_attributes(struct config *c, struct node *n, struct err *e)
{
	return fabric_of(n)->group.check(NODE_OF(struct tpg, n)->own, e);
}

// Parameters without an effect are only saved.
static int set_parameter(struct node *n, const struct attr_row *row, const char *text,
			 struct err *e)
{
	if (!(row->flags & ATTR_IGNORED))
		return fabric_of(n)->params.set(NODE_OF(struct tpg, n)->own, row, text, e);
	if (!n->kept)
		n->kept = json_object_new_object();
	json_put_text(json_part(n->kept, "parameters"), row->name, text);
	return 0;
}

static size_t get_parameter(struct node *n, const struct attr_row *row, char *out, size_t size)
{
	if (!(row->flags & ATTR_IGNORED))
		return fabric_of(n)->params.get(NODE_OF(struct tpg, n)->own, row, out, size);
	const char *text = json_text(json_field(n->kept, "parameters"), row->name);
	snprintf(out, size, "%s", text ? text : row->default_text);
	return strlen(out);
}

// clang-format off
enum { ATTRIBUTE, PARAMETER };
struct group_row tpg_groups[] = {
	[ATTRIBUTE] = { .name = "attribute", .form = SAVED_NUMBERS, .part = "attributes",
			.at = offsetof(struct tpg, own), .check = check_attributes },
	[PARAMETER] = { .name = "parameter", .form = SAVED_STRINGS, .part = "parameters",
			.at = offsetof(struct tpg, own), .set = set_parameter,
			.get = get_parameter },
	AUTH_GROUP(struct tpg),
	{ 0 },
};
// clang-format on

void tpg_groups_use(const struct fabric_ops *fabric)
{
	tpg_groups[ATTRIBUTE].rows = fabric->group.rows;
	tpg_groups[PARAMETER].get_rows = fabric->params.rows;
	tpg_groups[ATTRIBUTE].size = tpg_groups[PARAMETER].size = fabric->group.size;
}
