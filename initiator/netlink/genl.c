// SPDX-License-Identifier: BSD-2-Clause
// See genl.h.
#include "initiator/netlink/genl.h"

#include <errno.h>
#include <linux/genetlink.h>

void genl_begin(struct netlink_message *m, const struct genl *g, uint8_t command)
{
	struct genlmsghdr fixed = { .cmd = command, .version = 1 };
	netlink_begin(m, g->family, 0, &fixed, sizeof fixed);
}

static int take(const struct nlmsghdr *m, void *arg)
{
	const struct genl_wanted *w = arg;
	netlink_value(netlink_attribute(m, GENL_HDRLEN, w->type), w->value, w->len);
	return MNL_CB_OK;
}

int genl_do(struct genl *g, struct netlink_message *m, const struct genl_wanted *wanted)
{
	return netlink_do(&g->netlink, m, wanted ? take : NULL, (void *)wanted);
}

static int find_family(struct genl *g, const char *family)
{
	struct netlink_message m;
	uint16_t found = 0;
	struct genl_wanted wanted = { CTRL_ATTR_FAMILY_ID, sizeof found, &found };

	g->family = GENL_ID_CTRL;
	genl_begin(&m, g, CTRL_CMD_GETFAMILY);
	netlink_put_text(&m, CTRL_ATTR_FAMILY_NAME, family);
	int r = genl_do(g, &m, &wanted);
	g->family = found;
	return !r && !found ? -EBADMSG : r;
}

int genl_open(struct genl *g, const char *family, unsigned patience)
{
	int r = netlink_open(&g->netlink, NETLINK_GENERIC, 0, patience);
	if (r < 0)
		return r;
	r = find_family(g, family);
	if (r < 0)
		genl_close(g);
	return r;
}

void genl_close(struct genl *g)
{
	netlink_close(&g->netlink);
}
