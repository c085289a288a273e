// SPDX-License-Identifier: BSD-2-Clause
// boot-info: what would keep a machine from booting from the LUN, or cut it off later. Each
// warning: what is, what follows, and the cure.
#include <string.h>

#include "cli/boot/boot.h"

// In iPXE's scripts, options of dnsmasq, kernel words, or URLs.
static const char odd_in_words[] = " \"'$&|:@,/%;#`\\";

enum { CHAP_MD5 = 32, SLOW_SECONDS = 120, DECIMAL_LUNS = 10, BIOS_BLOCK = 512 };

static void storage(struct boot *b)
{
	struct json_object *o = *b->storage ? boot_node(b, b->storage) : NULL;
	if (!o)
		boot_warn(b, "%.200s: its storage object is missing", b->path);
	else if (strcmp(text_field(o, "state"), "open"))
		boot_warn(b, "%.200s is waiting, the LUN cannot be read: %.200s", b->storage,
			  text_field(o, "reason"));
	json_object_put(o);
	o = *b->storage ? boot_settings_of(b, b->storage, "attribute") : NULL;
	if (boot_number(o, "block_size") > BIOS_BLOCK)
		boot_warn(
			b,
			"its blocks have %ld bytes: BIOS firmware does not boot from it, UEFI may",
			boot_number(o, "block_size"));
	json_object_put(o);
}

// No ACL lets the initiator in, or it does not see the LUN.
static void admission(struct boot *b)
{
	if (!b->is_known && !b->is_open)
		boot_warn(b,
			  "no ACL maps this LUN: put the machine's name in place of INITIATOR "
			  "(%.200s/acls create NAME)",
			  b->group);
	else if (!b->has_acl && !b->is_open)
		boot_warn(b, "no ACL admits %.200s (%.200s/acls create %.200s)", b->initiator,
			  b->group, b->initiator);
	else if (b->has_acl && !b->is_mapped)
		boot_warn(
			b,
			"the ACL of %.200s does not map this LUN (%.200s/acls/%.200s create %u %u)",
			b->initiator, b->group, b->initiator, b->tpg_lun, b->tpg_lun);
	if (b->is_readonly)
		boot_warn(b,
			  "the LUN is read-only for %.200s: the system needs an overlay, or "
			  "does not start",
			  b->initiator);
	const char *allowed = boot_setting(b->settings.group_attr, "allowed_addresses");
	if (*allowed)
		boot_warn(b,
			  "only %.200s may log in (allowed_addresses): the machine's address by "
			  "DHCP must be one of these",
			  allowed);
}

static void group_state(struct boot *b)
{
	struct json_object *o = boot_node(b, b->group);
	if (o && json_field(o, "enable") && !flag_field(o, "enable"))
		boot_warn(b, "%.200s is disabled: it refuses logins (%.200s enable)", b->group,
			  b->group);
	json_object_put(o);
}

// By the name and secret of the ACL, else of the portal group.
static void chap(struct boot *b)
{
	bool is_own = *boot_setting(b->settings.acl_auth, "userid");
	struct json_object *auth = is_own ? b->settings.acl_auth : b->settings.group_auth;
	bool has_secret = *boot_setting(auth, "password") || *boot_setting(auth, "password_file");
	if (boot_needs_chap(b) && (!*b->user || !has_secret))
		boot_warn(b,
			  "CHAP is required and has no name or secret: every login is refused "
			  "(%.200s%s%.200s set auth userid=NAME password=SECRET)",
			  b->group, b->has_acl ? "/acls/" : "", b->has_acl ? b->initiator : "");
	if (strpbrk(b->user, odd_in_words) || strpbrk(b->mutual_user, odd_in_words))
		boot_warn(b,
			  "the CHAP name '%.100s' has blanks or punctuation that iPXE's scripts, "
			  "dnsmasq or kernel words read otherwise: choose letters and digits",
			  b->user);
}

static void algorithms(struct boot *b)
{
	long known = boot_number(b->settings.group_attr, "chap_algorithms");
	if (*b->user && known && !(known & CHAP_MD5))
		boot_warn(b,
			  "chap_algorithms has no MD5, the only one of iPXE: it is refused (%.200s "
			  "set attribute chap_algorithms=%ld)",
			  b->group, known | CHAP_MD5);
	if (boot_flag(b->settings.discovery, "enable"))
		boot_warn(b, "discovery needs CHAP: dracut's netroot= asks for the targets without "
			     "it before it logs in, and fails; a login from the iBFT works");
}

// What cuts off a machine that is slow, or stands still for a while.
static void timeouts(struct boot *b)
{
	struct json_object *a = b->has_acl ? b->settings.acl_attr : b->settings.group_attr;
	long data = boot_number(a, "dataout_timeout");
	long idle = boot_number(a, "nopin_timeout"),
	     reply = boot_number(a, "nopin_response_timeout");
	char cure[BOOT_PATH_SIZE + BOOT_NAME_SIZE + 32] = "";
	if (b->has_acl)
		snprintf(cure, sizeof cure, " (%s/acls/%s preset boot)", b->group, b->initiator);
	if (b->has_acl)
		data *= boot_number(a, "dataout_timeout_retries");
	if (data && data < SLOW_SECONDS)
		boot_warn(b,
			  "a machine that owes data for %ld s loses its session "
			  "(dataout_timeout), and with it its root, unless it logs in again%s",
			  data, cure);
	if (idle && idle + reply < SLOW_SECONDS)
		boot_warn(b,
			  "a machine that stands still for %ld s loses its session (nopin_timeout, "
			  "nopin_response_timeout)%s",
			  idle + reply, cure);
}

static bool has_odd_character(const char *name)
{
	return name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.:-")];
}

static void names(struct boot *b)
{
	if (has_odd_character(b->target))
		boot_warn(b,
			  "the target's name has a character that a root path cannot carry "
			  "unchanged (RFC 4173): %.200s",
			  b->target);
	if (b->is_known && has_odd_character(b->initiator))
		boot_warn(b,
			  "the initiator's name has a character that firmware may read otherwise: "
			  "%.200s",
			  b->initiator);
}

void boot_warn_all(struct boot *b)
{
	group_state(b);
	storage(b);
	admission(b);
	if (!b->is_srp && (b->has_acl || b->is_open)) {
		chap(b);
		timeouts(b);
	}
	if (!b->is_srp) {
		algorithms(b);
		names(b);
	}
	if (b->lun >= DECIMAL_LUNS)
		boot_warn(b,
			  "LUN %u is %x to firmware, which reads hexadecimal digits, and %u to "
			  "Linux: a LUN below %d is the same to both",
			  b->lun, boot_firmware_lun(b->lun), b->lun, DECIMAL_LUNS);
}
