// SPDX-License-Identifier: BSD-2-Clause
// boot-info: lines of SRP, from what the portals tell to attach (info of a portal): the kernel's
// ib_srp, farblock-initiator, and by service id of InfiniBand iPXE.
#include <stdlib.h>
#include <string.h>

#include "cli/boot/boot.h"

// "ib." and both halves of an initiator port's name, which an ACL may have.
static bool is_port(const char *name)
{
	return !strncmp(name, "ib.", 3) && strlen(name) == 3 + 32;
}

// The value of a field of an add_target string.
static void field(const char *text, const char *name, char ret[40])
{
	const char *at = strstr(text, name);
	*ret = 0;
	if (at && (at == text || at[-1] == ','))
		snprintf(ret, 40, "%.*s", (int)strcspn(at + strlen(name), ","), at + strlen(name));
}

// iPXE: sgid, id_ext and GUID of the initiator, dgid, pkey, service id, LUN, id_ext and GUID of the
// target; empty ones have defaults.
static void ipxe(const struct boot *b, struct json_object *way, const char *add_target)
{
	char dgid[40], pkey[40], service[40], ext[40], guid[40];
	bool has_port = is_port(b->initiator);
	field(add_target, "dgid=", dgid);
	field(add_target, "pkey=", pkey);
	field(add_target, "service_id=", service);
	field(add_target, "id_ext=", ext);
	field(add_target, "ioc_guid=", guid);
	if (!*dgid)
		return;
	boot_line(way, "ipxe", "#!ipxe");
	boot_line(way, "ipxe", "sanboot ib_srp::%.16s:%.16s:%s:%s:%s:%x:%s:%s",
		  has_port ? b->initiator + 3 : "", has_port ? b->initiator + 19 : "", dgid, pkey,
		  service, boot_firmware_lun(b->lun), ext, guid);
}

// The portal gives a URL of the target's first LUN.
static void user_space(const struct boot *b, struct json_object *way, const char *url,
		       const char *ip)
{
	const char *slash = strrchr(url, '/');
	if (slash)
		boot_line(way, "farblock_initiator", "farblock.root=user:%.*s/%u %s",
			  (int)(slash - url), url, b->lun, ip);
}

// Ways by service id have no address: they are those of their portal's.
static bool is_wanted(const struct boot *b, const char *portal, const char *add_target)
{
	char dest[TCP_ADDR_TEXT];
	struct tcp_addr a;
	const char *at = strstr(add_target, ",dest=");
	snprintf(dest, sizeof dest, "%.*s", at ? (int)strcspn(at + 6, ",") : 0, at ? at + 6 : "");
	if (!b->has_portal || (!tcp_addr_parse(&a, portal, 0, NULL) && boot_wants(b, &a)))
		return true;
	return at && !tcp_addr_parse(&a, dest, 0, NULL) && boot_wants(b, &a);
}

static void put(struct boot *b, const char *portal, struct json_object *o)
{
	static const char zeros[] = "0000000000000000";
	const char *add_target = text_field(o, "add_target"), *url = text_field(o, "url");
	const char *ext = is_port(b->initiator) ? b->initiator + 3 : zeros;
	const char *dest = strstr(add_target, ",dest=");
	const char *ip = boot_ip_word(dest ? dest + strlen(",dest=") : "");
	// An ACL's port identifier needs its own extension.
	bool has_ext = strstr(add_target, ",initiator_ext=") || !strncmp(ext, zeros, 16);
	struct json_object *way = boot_way(b, dest ? "SRP" : "SRP by service id", portal);
	ipxe(b, way, add_target);
	boot_line(way, "farblock", "farblock.root=srp:%s%s%.16s%s%s", add_target,
		  has_ext ? "" : ",initiator_ext=", has_ext ? "" : ext, dest ? " " : "",
		  dest ? ip : "");
	user_space(b, way, url, ip);
}

// What one path differs in from another: its address; without one, all of it.
static void part_of(const char *word, char *ret, size_t size)
{
	const char *dest = strstr(word, ",dest=");
	snprintf(ret, size, "%.*s", dest ? (int)strcspn(dest + 1, ",") + 1 : (int)strlen(word),
		 dest ?: word);
}

// ib_srp logs in to a target once by each port of an adapter, unless initiator_ext differs.
static bool add_path(struct boot_paths *p, const char *line, bool is_kernel)
{
	char word[600], part[600], ext[40] = "";
	snprintf(word, sizeof word, "%.*s", (int)strcspn(line, " "), line);
	part_of(word, part, sizeof part);
	if (boot_has_path(p, part))
		return false;
	if (is_kernel && !strstr(word, ",initiator_ext="))
		snprintf(ext, sizeof ext, ",initiator_ext=%016x", p->count + 1);
	snprintf(part, sizeof part, "%.550s%s", word, ext);
	return boot_add_path(p, part);
}

// One word for each path, and that of the machine's address, of IPv4 if one has it.
static bool section_of_paths(struct boot *b, const char *section, bool is_kernel,
			     struct json_object **way)
{
	struct boot_paths p = { 0 };
	const char *ip = "";
	json_each (one, b->ways)
		json_each (line, json_field(one, section)) {
			const char *text = json_object_get_string(line);
			if (add_path(&p, text, is_kernel) && !strstr(ip, "dhcp"))
				ip = strstr(text, " ip=") ?: ip;
		}
	if (p.count < 2)
		return false;
	if (!*way)
		*way = boot_way(b, "several paths", "all portals");
	boot_line(*way, section, "%s%s", p.words, ip);
	if (is_kernel)
		boot_warn_of_paths(b, &p);
	return true;
}

static void all_ways(struct boot *b)
{
	struct json_object *way = NULL;
	bool has_kernel = section_of_paths(b, "farblock", true, &way);
	section_of_paths(b, "farblock_initiator", false, &way);
	if (has_kernel && is_port(b->initiator))
		boot_warn(
			b,
			"several paths need as many ports of adapters: the kernel's SRP initiator "
			"logs in once by each of them as %s (or an ACL for each path, with another "
			"initiator_ext)",
			b->initiator);
}

static void add_portal(struct boot *b, struct json_object *info, const char *name)
{
	if (b->leaves_waiting_out && !strcmp(text_field(info, "state"), "waiting"))
		return;
	json_each (one, json_field(info, "attach"))
		if (is_wanted(b, name, text_field(one, "add_target")))
			put(b, name, one);
}

int boot_srp_ways(struct boot *b, struct err *e)
{
	int r = boot_each_portal(b, add_portal, e);
	if (r < 0)
		return r;
	all_ways(b);
	return 0;
}
