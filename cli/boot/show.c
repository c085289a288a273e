// SPDX-License-Identifier: BSD-2-Clause
// boot-info: the text of the answer.
#include <errno.h>
#include <string.h>

#include "cli/boot/boot.h"

// clang-format off
// The sections of a way, in the order of the text.
static const struct {
	const char *name, *title;
} sections[] = {
	{"ipxe", "iPXE script"},
	{"root_path", "DHCP root path (option 17), for firmware of other makers"},
	{"dnsmasq", "dnsmasq, in place of the script"},
	{"farblock_ibft", "kernel command line, login from the iBFT, with farblock-initramfs or farblock-dracut"},
	{"initramfs_tools_ibft", "kernel command line, login from the iBFT, with open-iscsi in initramfs-tools"},
	{"dracut_ibft", "kernel command line, login from the iBFT, with open-iscsi in dracut"},
	{"farblock_initiator_ibft", "kernel command line, login from the iBFT, with farblock-initiator in user space"},
	{"farblock", "kernel command line without an iBFT, with farblock-initramfs or farblock-dracut"},
	{"initramfs_tools", "kernel command line without an iBFT, with open-iscsi in initramfs-tools"},
	{"dracut", "kernel command line without an iBFT, with open-iscsi in dracut"},
	{"farblock_initiator", "kernel command line without an iBFT, with farblock-initiator in user space (farblock.via=ublk or nbd chooses the device)"},
	{"grub", "GRUB: in /etc/default/grub of the machine, then update-grub or grub2-mkconfig (any of these command lines)"},
};
// clang-format on

// The way before it over the same address has most of the same sections.
static void show_way(struct json_object *way, struct json_object *before, FILE *out)
{
	bool leaves_out = false;
	fprintf(out, "\n==== %s, %s ====\n", text_field(way, "transport"),
		text_field(way, "portal"));
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
		struct json_object *lines = json_field(way, sections[i].name);
		if (!json_count(lines))
			continue;
		if (json_object_equal(lines, json_field(before, sections[i].name))) {
			leaves_out = true;
			continue;
		}
		fprintf(out, "\n%s:\n", sections[i].title);
		json_each (line, lines)
			fprintf(out, "  %s\n", json_object_get_string(line));
	}
	if (leaves_out)
		fprintf(out, "\nThe rest is as above.\n");
}

static bool is_section(const char *name)
{
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
		if (!strcmp(sections[i].name, name))
			return true;
	return false;
}

// Whether INITIATOR stands for it.
static bool lacks_name(struct json_object *o, struct json_object *lines)
{
	json_each (line, lines)
		if (!*text_field(o, "initiator") &&
		    strstr(json_object_get_string(line), "INITIATOR"))
			return true;
	return false;
}

void boot_show_warnings(struct json_object *o)
{
	json_each (warning, json_field(o, "warnings"))
		fprintf(stderr, "Warning: %s.\n", json_object_get_string(warning));
}

int boot_show_section(struct json_object *o, const char *name, FILE *out, struct err *e)
{
	fflush(out);
	boot_show_warnings(o);
	json_each (way, json_field(o, "ways")) {
		struct json_object *lines = is_section(name) ? json_field(way, name) : NULL;
		if (!json_count(lines))
			continue;
		if (lacks_name(o, lines))
			return err_set(
				e, -EINVAL,
				"section %.40s needs the machine's name, and no ACL maps this "
				"LUN (initiator=NAME)",
				name);
		json_each (line, lines)
			fprintf(out, "%s\n", json_object_get_string(line));
		return 0;
	}
	return err_set(e, -ENOENT,
		       "%s has no section '%.40s' (boot-info --json names those it has)",
		       text_field(o, "target"), name);
}

void boot_show(struct json_object *o, FILE *out)
{
	struct json_object *before = NULL;
	const char *user = text_field(o, "user"), *initiator = text_field(o, "initiator");
	fprintf(out, "LUN %s of %s (%s)%s%s%s.\n", text_field(o, "lun"), text_field(o, "target"),
		text_field(o, "storage_object"), *initiator ? " for " : "", initiator,
		flag_field(o, "read_only") ? ", read-only" : "");
	if (*user)
		fprintf(out,
			"CHAP name %s. Put its secret in place of SECRET: best on the DHCP server "
			"or "
			"in the iPXE script, since every user can read kernel words in "
			"/proc/cmdline. Without an iBFT farblock's initramfs takes both from "
			"node.session.auth of /etc/iscsi/iscsid.conf. Firmware takes 12 to 16 "
			"characters.\n",
			user);
	json_each (warning, json_field(o, "warnings"))
		fprintf(out, "Warning: %s.\n", json_object_get_string(warning));
	json_each (way, json_field(o, "ways")) {
		show_way(way, before, out);
		before = way;
	}
}
