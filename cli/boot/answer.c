// SPDX-License-Identifier: BSD-2-Clause
// boot-info: the parts of the answer: warnings, ways to the LUN, their lines.
#include <stdarg.h>
#include <stdlib.h>

#include "cli/boot/boot.h"

static void add(struct json_object *list, const char *fmt, va_list ap)
{
	char *text = NULL;
	if (vasprintf(&text, fmt, ap) < 0)
		return;
	json_add_text(list, text);
	free(text);
}

void boot_warn(struct boot *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add(b->warnings, fmt, ap);
	va_end(ap);
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
	va_list ap;
	va_start(ap, fmt);
	add(json_list(way, section), fmt, ap);
	va_end(ap);
}

unsigned boot_firmware_lun(unsigned lun)
{
	return lun < 256 ? lun : lun | 0x4000;
}

bool boot_is_6(const char *address)
{
	return *address == '[';
}

const char *boot_ip_word(const char *address)
{
	return boot_is_6(address) ? "ip=off" : "ip=dhcp";
}
