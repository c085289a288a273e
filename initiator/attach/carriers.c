// SPDX-License-Identifier: BSD-2-Clause
// The carriers in the order of preference. The program's thread.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "initiator/attach/carrier.h"

static const struct carrier_ops *const rows[] = { &carrier_ublk, &carrier_nbd, &carrier_fuse,
						  &carrier_socket, NULL };

const struct carrier_ops *carrier_at(unsigned index)
{
	return index < sizeof rows / sizeof *rows ? rows[index] : NULL;
}

const struct carrier_ops *carrier_find(const char *name)
{
	for (unsigned i = 0; rows[i]; i++)
		if (!strcmp(rows[i]->name, name))
			return rows[i];
	return NULL;
}

const struct carrier_ops *carrier_choose(bool must_recover, struct err *e)
{
	char text[sizeof e->text] = "";
	size_t len = 0;
	for (unsigned i = 0; rows[i]; i++) {
		struct err why;
		if (!rows[i]->is_automatic || (must_recover && !rows[i]->can_recover))
			continue;
		if (!rows[i]->probe(&why))
			return rows[i];
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len ? "; " : "",
					why.text);
		if (len >= sizeof text)
			len = sizeof text - 1;
	}
	err_set(e, -ENODEV, "no way to make a %s disk: %.175s%s", must_recover ? "root" : "local",
		text, must_recover ? "" : "; --via socket works for any user");
	return NULL;
}
