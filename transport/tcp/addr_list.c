// SPDX-License-Identifier: BSD-2-Clause
// Lists of addresses and prefixes.
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/tcp/addr.h"

static bool is_prefix(const char *text, int max)
{
	return isdigit((unsigned char)*text) && strlen(text) <= 3 &&
	       !text[strspn(text, "0123456789")] && atoi(text) <= max;
}

static int check_item(char *item, struct err *e)
{
	struct tcp_addr addr;
	char *slash = strchr(item, '/');
	if (slash)
		*slash++ = 0;
	item += strspn(item, " ");
	int r = tcp_addr_parse(&addr, item, 0, NULL);
	if (r < 0)
		return err_set(e, -EINVAL,
			       "'%.60s' is not an address (such as 192.0.2.0/24 or fd00::/8)",
			       item);
	int max = addr.sa.sa_family == AF_INET ? 32 : 128;
	if (slash && !is_prefix(slash, max))
		return err_set(e, -EINVAL, "'%s' is not a prefix length (0..%d)", slash, max);
	return 0;
}

int tcp_addr_list_check(const char *list, struct err *e)
{
	char text[TCP_ADDR_LIST_MAX], *rest = text, *item;
	int r = 0;
	snprintf(text, sizeof text, "%s", list);
	while (*list && !r && (item = strsep(&rest, ",")))
		r = check_item(item, e);
	return r;
}
