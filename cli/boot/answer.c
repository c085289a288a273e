// SPDX-License-Identifier: BSD-2-Clause
// boot-info: the parts of the answer: warnings, ways to the LUN, their lines.
#include <stdarg.h>
#include <stdlib.h>

#include "cli/boot/boot.h"

void boot_warn(struct boot *b, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		json_object_array_add(b->warnings, json_object_new_string(text));
	free(text);
}

struct json_object *boot_way(struct boot *b, const char *transport, const char *portal)
{
	struct json_object *way = json_object_new_object();
	json_object_object_add(way, "transport", json_object_new_string(transport));
	json_object_object_add(way, "portal", json_object_new_string(portal));
	json_object_array_add(b->ways, way);
	return way;
}

void boot_line(struct json_object *way, const char *section, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		json_add_text(json_list(way, section), text);
	free(text);
}

unsigned boot_firmware_lun(unsigned lun)
{
	return lun < 256 ? lun : lun | 0x4000;
}
