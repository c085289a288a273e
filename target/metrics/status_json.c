// SPDX-License-Identifier: BSD-2-Clause
// The text of /status.json, see status_json.h.
#include "target/metrics/status_json.h"

#include <string.h>
#include <sys/utsname.h>

#include "core/worker.h"
#include "target/config/config.h"
#include "core/json/json.h"
#include "target/config/report/report.h"
#include "target/metrics/health.h"
#include "target/metrics/history.h"

char *status_json(struct config *c, const struct history *h, uint64_t started_ns, size_t *ret_len)
{
	struct json_object *o = report_status(c, true);
	struct utsname host;
	if (!uname(&host))
		json_put_text(o, "host", host.nodename);
	json_object_object_add(o, "uptime_s",
			       json_object_new_uint64((clock_ns() - started_ns) / 1000000000));
	json_object_object_add(o, "health", health_json(c));
	json_object_object_add(o, "history", history_json(h));
	json_object_object_add(o, "refusals", report_refusals());
	const char *text = json_object_to_json_string_length(
		o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, ret_len);
	char *ret = text ? strdup(text) : NULL;
	json_object_put(o);
	return ret;
}
