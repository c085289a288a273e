// SPDX-License-Identifier: BSD-2-Clause
// See path_log.h.
#include "initiator/holder/path_log.h"

#include <string.h>

static bool is_said(const struct path_log *l, const char *text)
{
	for (unsigned i = 0; i < l->count; i++)
		if (!strcmp(l->said[i], text))
			return true;
	return false;
}

bool path_log_is_news(struct path_log *l, enum disk_path_state s, const struct err *why,
		      bool is_unsteady)
{
	if (s == DISK_PATH_UP || s == DISK_PATH_STANDBY) {
		if (is_unsteady)
			return false;
		l->count = 0;
		return true;
	}
	if (!why->code)
		return !l->count;
	if (l->count == PATH_LOG_REASONS || is_said(l, why->text))
		return false;
	memcpy(l->said[l->count++], why->text, sizeof why->text);
	return true;
}
