// SPDX-License-Identifier: BSD-2-Clause
// The settings of target portal groups and of node ACLs as rows: targetcli's names first,
// then ours. Constant tables.
#include "target/iscsi/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/tcp/addr.h"

#define TPG(field)     offsetof(struct tpg_attr, field)
#define ACL(field)     offsetof(struct acl_attr, field)
#define TEXT_OF(field) sizeof(((struct tpg_attr *)0)->field)

// clang-format off
const struct attr_row tpg_attr_rows[] = {
	{ "authentication", ATTR_BOOL, TPG(authentication), 0, 1, "1", NULL,
	  "1: require CHAP", NULL, 0 },
	{ "generate_node_acls", ATTR_BOOL, TPG(generate_node_acls), 0, 1, "0", NULL,
	  "1: demo mode: initiators without an ACL can log in and see every LUN", NULL, 0 },
	{ "demo_mode_write_protect", ATTR_BOOL, TPG(demo_mode_write_protect), 0, 1, "1", NULL,
	  "1: read-only access for initiators without an ACL", NULL, 0 },
	{ "prod_mode_write_protect", ATTR_BOOL, TPG(prod_mode_write_protect), 0, 1, "0", NULL,
	  "1: read-only access for initiators with an ACL", NULL, 0 },
	{ "demo_mode_discovery", ATTR_BOOL, TPG(demo_mode_discovery), 0, 1, "1", NULL,
	  "1: show this target in discovery without an ACL", NULL, 0 },
	{ "cache_dynamic_acls", ATTR_BOOL, TPG(cache_dynamic_acls), 0, 1, "0", NULL,
	  "keep generated ACLs after logout", NULL, ATTR_IGNORED, NULL, NULL,
	  "generated ACLs keep no state" },
	{ "tpg_enabled_sendtargets", ATTR_BOOL, TPG(tpg_enabled_sendtargets), 0, 1, "1", NULL,
	  "1: show this portal group in discovery only while it is enabled", NULL, 0 },
	{ "login_timeout", ATTR_UINT, TPG(login_timeout), 5, 30, "15", "s",
	  "time limit of a login", NULL, 0 },
	{ "netif_timeout", ATTR_UINT, TPG(netif_timeout), 2, 15, "2", "s",
	  "obsolete", NULL, ATTR_IGNORED | ATTR_SPARSE },
	{ "default_cmdsn_depth", ATTR_UINT, TPG(default_cmdsn_depth), 1, 512, "64", "commands",
	  "command window of a session", NULL, ATTR_RESTART },
	{ "default_erl", ATTR_UINT, TPG(default_erl), 0, 2, "0", NULL,
	  "error recovery level", NULL, ATTR_IGNORED, NULL, NULL,
	  "only level 0 is supported" },
	{ "t10_pi", ATTR_BOOL, TPG(t10_pi), 0, 1, "0", NULL,
	  "T10 protection information", NULL, ATTR_IGNORED, NULL, NULL,
	  "protection information is not supported" },
	{ "fabric_prot_type", ATTR_UINT, TPG(fabric_prot_type), 0, 3, "0", NULL,
	  "T10 protection type of the fabric", NULL, ATTR_IGNORED, NULL, NULL,
	  "protection information is not supported" },
	{ "login_keys_workaround", ATTR_BOOL, TPG(login_keys_workaround), 0, 1, "1", NULL,
	  "tolerate initiators that negotiate keys twice", NULL, ATTR_IGNORED },
	{ "chap_algorithms", ATTR_UINT, TPG(chap_algorithms), 32, 480, "480", NULL,
	  "accepted CHAP digests, a sum: 32 MD5, 64 SHA-1, 128 SHA-256, 256 SHA3-256", NULL,
	  ATTR_OWN },
	{ "redirect", ATTR_STRING, TPG(redirect), 0, TEXT_OF(redirect), "", NULL,
	  "host[:port] to redirect logins to; empty: no redirection", NULL,
	  ATTR_OWN },
	{ "allowed_addresses", ATTR_STRING, TPG(allowed_addresses), 0, TEXT_OF(allowed_addresses),
	  "", NULL, "addresses[/prefix] that may log in, separated by commas; empty: any",
	  NULL, ATTR_OWN },
	{ "nopin_timeout", ATTR_UINT, TPG(nopin_timeout), 0, 60, "15", "s",
	  "idle time before a NOP-In, for initiators without an ACL; 0: none", NULL,
	  ATTR_OWN },
	{ "nopin_response_timeout", ATTR_UINT, TPG(nopin_response_timeout), 3, 60, "30", "s",
	  "time to answer a NOP-In before the connection is closed", NULL, ATTR_OWN },
	{ "dataout_timeout", ATTR_UINT, TPG(dataout_timeout), 2, 60, "30", "s",
	  "time limit of requested data-out", NULL, ATTR_OWN },
	{ "iser_unsolicited_data", ATTR_BOOL, TPG(iser_unsolicited_data), 0, 1, "0", NULL,
	  "1: the parameter InitialR2T applies to iSER too; 0: iSER uses Yes", NULL,
	  ATTR_OWN | ATTR_RESTART },
	{ 0 },
};

const struct attr_row acl_attr_rows[] = {
	{ "authentication", ATTR_INT, ACL(authentication), -1, 1, "-1", NULL,
	  "1: require CHAP; 0: do not require it; -1: inherit from the portal group", NULL, 0 },
	{ "dataout_timeout", ATTR_UINT, ACL(dataout_timeout), 2, 60, "3", "s",
	  "time limit of requested data-out", NULL, 0 },
	{ "dataout_timeout_retries", ATTR_UINT, ACL(dataout_timeout_retries), 1, 15, "5", NULL,
	  "number of dataout_timeouts before the connection is closed", NULL, 0 },
	{ "nopin_timeout", ATTR_UINT, ACL(nopin_timeout), 0, 60, "15", "s",
	  "idle time before a NOP-In; 0: none", NULL, 0 },
	{ "nopin_response_timeout", ATTR_UINT, ACL(nopin_response_timeout), 3, 60, "30", "s",
	  "time to answer a NOP-In before the connection is closed", NULL, 0 },
	{ "default_erl", ATTR_UINT, ACL(default_erl), 0, 2, "0", NULL,
	  "error recovery level", NULL, ATTR_IGNORED, NULL, NULL,
	  "only level 0 is supported" },
	{ "random_datain_pdu_offsets", ATTR_BOOL, ACL(random_datain_pdu_offsets), 0, 1, "0", NULL,
	  "test aid of the kernel's target", NULL, ATTR_IGNORED },
	{ "random_datain_seq_offsets", ATTR_BOOL, ACL(random_datain_seq_offsets), 0, 1, "0", NULL,
	  "test aid of the kernel's target", NULL, ATTR_IGNORED },
	{ "random_r2t_offsets", ATTR_BOOL, ACL(random_r2t_offsets), 0, 1, "0", NULL,
	  "test aid of the kernel's target", NULL, ATTR_IGNORED },
	{ "cmdsn_depth", ATTR_UINT, ACL(cmdsn_depth), 0, 512, "0", "commands",
	  "command window of a session; 0: inherit from the portal group", NULL,
	  ATTR_RESTART | ATTR_OWN },
	{ 0 },
};

// A machine whose root disk is behind the ACL: between the login of its initramfs and the start of its
// iscsid nothing logs in again, so a session that is cut off then is lost for good. It may owe data for
// 300 s, and answer no ping; TCP's keepalive still ends the session of one that is gone for 120 s.
static const struct fabric_preset_value boot_values[] = {
	{ "dataout_timeout", "60" },
	{ "dataout_timeout_retries", "5" },
	{ "nopin_timeout", "0" },
	{ "nopin_response_timeout", "60" },
	{ 0 },
};
static const struct fabric_preset_value boot_of_group[] = {
	{ "login_timeout", "30" },
	{ 0 },
};
static const struct fabric_preset_value default_values[] = {
	{ "dataout_timeout", NULL },
	{ "dataout_timeout_retries", NULL },
	{ "nopin_timeout", NULL },
	{ "nopin_response_timeout", NULL },
	{ 0 },
};
const struct fabric_preset acl_presets[] = {
	{ "boot", "timeouts for a machine with its root disk here", boot_values, boot_of_group },
	{ "default", "the default timeouts", default_values, NULL },
	{ 0 },
};
// clang-format on

// ---- checks ----

static bool is_port(const char *text)
{
	size_t n = strspn(text, "0123456789");
	return n && n <= 5 && !text[n] && atoi(text) > 0 && atoi(text) < 65536;
}

// Checked now, since logins rely on it.
static int addresses_check(const char *list, struct err *e)
{
	int r = tcp_addr_list_check(list, e);
	return r < 0 ? err_prefix(e, "allowed_addresses"), r : 0;
}

// "name:port", where the port may be absent: a name has a letter, or it is a mistyped address.
static bool is_host_name(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-");
	bool has_port = text[n] == ':';
	return strcspn(text, letters) < n && *text != '.' && *text != '-' &&
	       (has_port ? is_port(text + n + 1) : !text[n]);
}

// What a login redirected there is sent as TargetAddress (RFC 7143, 13.8): IPv6 in brackets.
static int check_redirect(const char *text, struct err *e)
{
	struct tcp_addr addr;
	const char *colon = strchr(text, ':');
	bool is_bare = *text != '[' && colon && strchr(colon + 1, ':');
	if (!*text || is_host_name(text) ||
	    (!is_bare && !tcp_addr_parse(&addr, text, 0, NULL) && !tcp_addr_is_wildcard(&addr)))
		return 0;
	return err_set(e, -EINVAL,
		       "redirect: '%.60s' is not an address (such as 192.0.2.1:3260, "
		       "[2001:db8::1]:3260 or host.example:3260)",
		       text);
}

int tpg_settings_check(const void *own, struct err *e)
{
	const struct tpg_attr *attr = &((const struct tpg_settings *)own)->attr;
	int r = addresses_check(attr->allowed_addresses, e);
	return r ? r : check_redirect(attr->redirect, e);
}

void tpg_settings_init(void *own)
{
	iscsi_offer_init(&((struct tpg_settings *)own)->offer);
}

void tpg_settings_access(const void *own, struct fabric_access *ret)
{
	const struct tpg_attr *attr = &((const struct tpg_settings *)own)->attr;
	*ret = (struct fabric_access){
		.is_open = attr->generate_node_acls,
		.is_open_read_only = attr->demo_mode_write_protect,
		.is_acl_read_only = attr->prod_mode_write_protect,
		.needs_credentials = attr->authentication,
	};
}

int acl_settings_need_credentials(const void *own)
{
	return ((const struct acl_attr *)own)->authentication;
}
