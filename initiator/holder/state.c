// SPDX-License-Identifier: BSD-2-Clause
// What an attachment is: its state file and its answer. The program's thread.
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/json/json.h"
#include "core/whole_file.h"
#include "initiator/holder/holder_priv.h"
#include "initiator/holder/status.h"

struct json_object *holder_state(struct holder *h)
{
	// Whether a used device is unused yet is asked every second.
	bool is_detaching = chore_is_busy(&h->chore) &&
			    (!h->detaching.is_retry || atomic_load(&h->detaching.is_unused));
	struct holder_status s = {
		.name = h->config->name,
		.login = h->config->login,
		.disk = h->disk,
		.no_path_retry = h->config->disk.no_path_retry,
		.via = h->via->name,
		.carrier = &h->info,
		.state = is_detaching			? "detaching"
			 : atomic_load(&h->is_stale)	? "another-disk"
			 : atomic_load(&h->has_no_path) ? "no-path"
							: NULL,
	};
	return holder_status(&s);
}

int holder_write_state(struct holder *h, struct err *e)
{
	static const struct whole_file_ways ways = { .suffix = ".new" };
	struct json_object *o = holder_state(h);
	size_t len;
	char *text = o ? json_write(o, &len) : NULL;
	int r = text ? whole_file_replace(h->files.state, text, len, &ways, e)
		     : err_set(e, -ENOMEM, "out of memory");
	free(text);
	json_object_put(o);
	if (r >= 0)
		holder_tell_udev(h->info.device);
	return r < 0 ? r : 0;
}

void holder_release(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}
