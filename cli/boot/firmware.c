// SPDX-License-Identifier: BSD-2-Clause
// boot-info: lines of the firmware, which logs in by iSCSI over TCP: iPXE's script, root path and
// dnsmasq.
#include <string.h>

#include "cli/boot/boot.h"

// RFC 2132 2: an option's length is one byte; options of an encapsulation have two bytes of their
// own in it.
enum { OPTION_MAX = 255, ENCAPSULATED_MAX = OPTION_MAX - 2 };

// RFC 4173 5, which iPXE's sanboot takes, too.
void boot_root_path(const struct boot *b, const struct boot_place *p, char ret[BOOT_ROOT_PATH_SIZE])
{
	snprintf(ret, BOOT_ROOT_PATH_SIZE, "iscsi:%s::%s:%x:%s", p->address, p->port,
		 boot_firmware_lun(b->lun), b->target);
}

void boot_ipxe(struct boot *b, const char *address, const char *paths, struct json_object *way)
{
	if (!boot_can_carry(b, BOOT_IPXE, true))
		return;
	boot_line(way, "ipxe", "#!ipxe");
	// dhcp is of IPv4 alone.
	boot_line(way, "ipxe", boot_is_6(address) ? "ifconf -c ipv6" : "isset ${ip} || dhcp");
	boot_line(way, "ipxe", "set initiator-iqn %s", b->initiator);
	if (*b->user) {
		boot_line(way, "ipxe", "set username %s", b->user);
		boot_line(way, "ipxe", "set password " BOOT_SECRET);
	}
	if (*b->mutual_user) {
		boot_line(way, "ipxe", "set reverse-username %s", b->mutual_user);
		boot_line(way, "ipxe", "set reverse-password " BOOT_OTHER_SECRET);
	}
	boot_line(way, "ipxe", "sanboot %s", paths);
}

// dnsmasq refuses a file with an option that is too long.
static bool fits_options(struct boot *b, const char *path)
{
	const struct {
		const char *name, *value;
		size_t max;
	} all[] = {
		{"root path",	       path,	     OPTION_MAX	},
		{ "name of the initiator", b->initiator,	 OPTION_MAX	    },
		{ "CHAP name",	       b->user,	ENCAPSULATED_MAX},
		{ "mutual CHAP name",      b->mutual_user, ENCAPSULATED_MAX},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (strlen(all[i].value) <= all[i].max)
			continue;
		boot_left_out(b, BOOT_DNSMASQ, "the %s %.60s... has %zu bytes, must be at most %zu",
			      all[i].name, all[i].value, strlen(all[i].value), all[i].max);
		return false;
	}
	return true;
}

// All tags of a line must match. Options 175.190 to 193 are iPXE's.
static void dnsmasq(struct boot *b, struct json_object *way, const char *path)
{
	const struct {
		int option;
		const char *value;
	} chap[] = {
		{190,  b->user				 },
		{ 191, *b->user ? BOOT_SECRET : ""		   },
		{ 192, b->mutual_user			      },
		{ 193, *b->mutual_user ? BOOT_OTHER_SECRET : ""},
	};
	char tags[BOOT_TAG_SIZE + 16] = "tag:ipxe", name[BOOT_TAG_SIZE];
	if (!boot_can_carry(b, BOOT_DNSMASQ, true) || !fits_options(b, path))
		return;
	boot_line(way, "dnsmasq", "dhcp-match=set:ipxe,175");
	if (*b->mac) {
		boot_tag(b, name);
		snprintf(tags, sizeof tags, "tag:ipxe,tag:%s", name);
		boot_line(way, "dnsmasq", "dhcp-host=%s,set:%s", b->mac, name);
	}
	boot_line(way, "dnsmasq", "dhcp-option=%s,17,\"%s\"", tags, path);
	boot_line(way, "dnsmasq", "dhcp-option=%s,203,\"%s\"", tags, b->initiator);
	for (size_t i = 0; i < sizeof chap / sizeof *chap; i++)
		if (*chap[i].value)
			boot_line(way, "dnsmasq", "dhcp-option=%s,encap:175,%d,\"%s\"", tags,
				  chap[i].option, chap[i].value);
}

void boot_firmware(struct boot *b, const struct boot_place *tcp, struct json_object *way)
{
	char path[BOOT_ROOT_PATH_SIZE];
	boot_root_path(b, tcp, path);
	boot_ipxe(b, tcp->address, path, way);
	boot_line(way, "root_path", "%s", path);
	dnsmasq(b, way, path);
}

void boot_warn_of_dnsmasq(struct boot *b)
{
	const char *section = b->wish->section;
	bool has_lines = false;
	json_each (way, b->ways)
		has_lines = has_lines || json_field(way, "dnsmasq");
	if (has_lines && !*b->mac && (!section || !strcmp(section, "dnsmasq")))
		boot_warn(b, "by the lines for dnsmasq every iPXE machine of the network gets this "
			     "disk, and two of them destroy its file system (mac=ADDRESS: lines "
			     "for one machine)");
}
