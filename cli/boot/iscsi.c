// SPDX-License-Identifier: BSD-2-Clause
// boot-info: lines of iSCSI over TCP and of iSER, at each address.
#include <string.h>

#include "cli/boot/boot.h"

enum { CHAP_WORDS_MAX = 700 };

static void url(const struct boot *b, const struct boot_place *p, bool is_iser,
		char ret[BOOT_URL_SIZE])
{
	snprintf(ret, BOOT_URL_SIZE, "%s://%s%s%s:%s/%s/%u", is_iser ? "iser" : "iscsi", b->user,
		 *b->user ? "@" : "", p->address, p->port, b->target, b->lun);
}

// ---- kernel words ----

static void grub(struct json_object *way, const char *words)
{
	boot_line(way, "grub", "GRUB_CMDLINE_LINUX=\"%s\"", words);
}

// in: what the words of the target's name and secret have behind the prefix.
static void chap_words(const struct boot *b, const char *prefix, const char *in, char *ret,
		       size_t size)
{
	int n = 0;
	*ret = 0;
	if (*b->user)
		n = snprintf(ret, size, " %susername=%s %spassword=" BOOT_SECRET, prefix, b->user,
			     prefix);
	if (*b->mutual_user && n > 0 && (size_t)n < size)
		snprintf(ret + n, size - (size_t)n,
			 " %s%susername=%s %s%spassword=" BOOT_OTHER_SECRET, prefix, in,
			 b->mutual_user, prefix, in);
}

static void dracut(struct boot *b, const struct boot_place *p, bool is_iser,
		   struct json_object *way)
{
	char chap[CHAP_WORDS_MAX];
	if (!boot_can_carry(b, BOOT_WORDS, true))
		return;
	chap_words(b, "rd.iscsi.", "in.", chap, sizeof chap);
	boot_line(way, "dracut",
		  "%s rd.neednet=1 rd.iscsi.initiator=%s%s%s netroot=iscsi:%s::%s:%u:%s",
		  boot_is_6(p->address) ? "ip=auto6" : "ip=dhcp", b->initiator, chap,
		  is_iser ? " rd.iscsi.param=iface.transport_name=iser" : "", p->address, p->port,
		  b->lun, b->target);
}

static void user_space(struct boot *b, const struct boot_place *p, bool is_iser,
		       struct json_object *way)
{
	char text[BOOT_URL_SIZE];
	url(b, p, is_iser, text);
	if (!boot_is_6(p->address))
		boot_line(way, "farblock_initiator_ibft", "farblock.root=user:ibft");
	if (boot_can_carry(b, BOOT_WORDS, true))
		boot_line(way, "farblock_initiator",
			  "farblock.root=user:%s farblock.initiator=%s %s", text, b->initiator,
			  boot_ip_word(p->address));
}

// What farblock's boot scripts take, which have CHAP from elsewhere; protocol: iscsi (TCP) or iser,
// more: further words, with a blank before each.
static void own_words(struct boot *b, const struct boot_place *p, const char *protocol,
		      const char *more, struct json_object *way)
{
	char words[BOOT_ROOT_PATH_SIZE + 700];
	if (!boot_can_carry(b, BOOT_WORDS, false))
		return;
	snprintf(words, sizeof words, "farblock.root=%s:%s:6:%s:%u:%s farblock.initiator=%s%s %s",
		 protocol, p->address, p->port, b->lun, b->target, b->initiator, more,
		 boot_ip_word(p->address));
	boot_line(way, "farblock", "%s", words);
	if (boot_is_6(p->address) && boot_can_carry(b, BOOT_GRUB, false))
		grub(way, words);
}

// The firmware's table: iPXE writes an address of IPv6 into it that is wrong.
static void tcp_tables(struct json_object *way)
{
	boot_line(way, "farblock_ibft", "farblock.root=ibft");
	boot_line(way, "initramfs_tools_ibft", "iscsi_auto");
	boot_line(way, "dracut_ibft", "rd.iscsi.firmware=1 ip=dhcp rd.neednet=1");
	grub(way, "farblock.root=ibft");
}

// The words of open-iscsi's script, which have no way to an address of IPv6.
static void initramfs_tools(struct boot *b, const struct boot_place *p, struct json_object *way)
{
	char chap[CHAP_WORDS_MAX];
	if (!boot_can_carry(b, BOOT_WORDS, true))
		return;
	chap_words(b, "iscsi_", "in_", chap, sizeof chap);
	boot_line(way, "initramfs_tools",
		  "ip=dhcp iscsi_initiator=%s iscsi_target_name=%s iscsi_target_ip=%s "
		  "iscsi_target_port=%s iscsi_target_group=%u%s",
		  b->initiator, b->target, p->address, p->port, b->tpg, chap);
}

static void tcp_way(struct boot *b, const struct boot_place *p)
{
	char name[200];
	snprintf(name, sizeof name, "%s:%s", p->address, p->port);
	struct json_object *way = boot_way(b, "TCP", name);
	boot_firmware(b, p, way);
	if (!boot_is_6(p->address)) {
		tcp_tables(way);
		initramfs_tools(b, p, way);
	}
	own_words(b, p, "iscsi", "", way);
	dracut(b, p, false, way);
	user_space(b, p, false, way);
}

static void iser_way(struct boot *b, const struct boot_place *p)
{
	char name[200];
	const struct boot_place *tcp = boot_tcp_at(b, p);
	const char *device = p->has_device ? "" : " farblock.rdma=siw";
	snprintf(name, sizeof name, "%s:%s", p->address, p->port);
	struct json_object *way = boot_way(b, "iSER", name);
	if (tcp)
		boot_firmware(b, tcp, way);
	if (tcp && !boot_is_6(p->address)) {
		char words[80];
		snprintf(words, sizeof words, "farblock.root=iser:ibft%s", device);
		boot_line(way, "farblock_ibft", "%s", words);
		grub(way, words);
	}
	own_words(b, p, "iser", device, way);
	dracut(b, p, true, way);
	user_space(b, p, true, way);
}

// ---- all paths ----

// Firmware and initiator take several paths at once.
static void all_ways(struct boot *b)
{
	struct boot_paths san = { 0 }, user = { 0 };
	char text[BOOT_URL_SIZE], word[BOOT_URL_SIZE + 30];
	const char *first = NULL, *first_tcp = NULL; // of IPv4 if there is one
	for (unsigned i = 0; i < b->place_count; i++) {
		const struct boot_place *p = &b->places[i];
		if (!p->is_wanted)
			continue;
		url(b, p, p->has_iser && !p->has_tcp, text);
		snprintf(word, sizeof word, "farblock.root=user:%s", text);
		if (!boot_add_path(&user, word))
			continue;
		if (!first || boot_is_6(first))
			first = p->address;
		if (!p->has_tcp)
			continue;
		boot_root_path(b, p, text);
		boot_add_path(&san, text); // shorter than the word
		if (!first_tcp || boot_is_6(first_tcp))
			first_tcp = p->address;
	}
	struct json_object *way = boot_way(b, "several paths", "all portals");
	if (san.count > 1)
		boot_ipxe(b, first_tcp, san.words, way);
	if (boot_can_carry(b, BOOT_WORDS, true))
		boot_line(way, "farblock_initiator", "%s farblock.initiator=%s %s", user.words,
			  b->initiator, boot_ip_word(first));
	boot_warn_of_paths(b, &user);
}

static void warn_of_ipv6(struct boot *b)
{
	for (unsigned i = 0; i < b->place_count; i++) {
		const struct boot_place *p = &b->places[i];
		if (!p->is_wanted || !boot_is_6(p->address))
			continue;
		boot_warn(
			b,
			"portal %s: IPv6: ip=off is the word of initramfs-tools, that of dracut is "
			"ip=auto6; no lines for the firmware's table, in which iPXE writes a "
			"wrong address",
			p->portal);
		return;
	}
}

void boot_iscsi_ways(struct boot *b)
{
	unsigned wanted = 0;
	for (unsigned i = 0; i < b->place_count; i++) {
		if (!b->places[i].is_wanted)
			continue;
		wanted++;
		if (b->places[i].has_tcp)
			tcp_way(b, &b->places[i]);
		if (b->places[i].has_iser)
			iser_way(b, &b->places[i]);
	}
	if (wanted > 1)
		all_ways(b);
	warn_of_ipv6(b);
	boot_warn_of_dnsmasq(b);
}
