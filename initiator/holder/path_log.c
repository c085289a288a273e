// SPDX-License-Identifier: BSD-2-Clause
// See path_log.h.
#include "initiator/holder/path_log.h"

#include <string.h>

static bool is_other(char *said, const struct err *why)
{
	if (!strcmp(said, why->text))
		return false;
	memcpy(said, why->text, sizeof why->text);
	return true;
}

bool path_log_is_news(struct path_log *l, enum disk_path_state s, const struct err *why)
{
	if (s == DISK_PATH_UP || s == DISK_PATH_STANDBY) {
		*l = (struct path_log){ 0 };
		return true;
	}
	if (!why->code)
		return !l->is_down;
	l->is_down = true;
	return is_other(s == DISK_PATH_FAULTY ? l->faulty : l->connecting, why);
}
