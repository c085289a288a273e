// SPDX-License-Identifier: BSD-2-Clause
// The table of a scripted role above a mover of the target; the including file defines the
// functions.
#pragma once

#include "transport/iscsi/datamover.h"

static struct dm_task *on_command(struct dm *d, const struct iscsi_pdu *pdu, const uint8_t *bhs,
				  const uint8_t *ahs);
static void on_begin(struct dm *d, struct dm_task *t);
static int on_control(struct dm *d, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		      const uint8_t *data, struct err *e);
static void on_data(struct dm *d, struct dm_task *t, int res);
static void on_part(struct dm *d, struct dm_task *t, int res);
static void on_released(struct dm *d, struct dm_task *t);
static void on_sent(struct dm *d);
static void on_closed(struct dm *d, const struct err *e);

// A hint, unused by such a role.
static void on_ahead(struct dm *d, const uint8_t *bhs)
{
}

static const struct dm_up up = {
	.command = on_command,
	.begin = on_begin,
	.ahead = on_ahead,
	.control = on_control,
	.data = on_data,
	.part = on_part,
	.released = on_released,
	.sent = on_sent,
	.closed = on_closed,
};
