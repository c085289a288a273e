// SPDX-License-Identifier: BSD-2-Clause
// boot-info: what firmware, a DHCP server, initramfs and boot loader of a machine need to boot from
// a LUN. find.c finds the LUN as its initiator sees it, places.c the addresses of its portals,
// warn.c what would keep it from booting; iscsi.c, firmware.c, paths.c and srp.c write the lines,
// carry.c says which names these cannot have, info.c calls these, show.c prints. Everything blocks,
// on the shell's thread.
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/shell/shell.h"
#include "transport/tcp/addr.h"

// Secrets are never printed: these stand for them.
#define BOOT_SECRET	  "SECRET"
#define BOOT_OTHER_SECRET "TARGET-PASSWORD"

enum {
	BOOT_NAME_SIZE = 224,
	BOOT_PATH_SIZE = 600,
	BOOT_PLACES_MAX = 32,
	BOOT_ROOT_PATH_SIZE = 400,
	BOOT_URL_SIZE = 700
};

// Who reads a line that has names in it.
enum boot_reader { BOOT_IPXE, BOOT_DNSMASQ, BOOT_WORDS, BOOT_GRUB, BOOT_READERS };

// An address at which initiators reach a portal.
struct boot_place {
	char portal[96];	   // its name in the tree
	char address[80], port[8]; // IPv6 in brackets
	bool has_tcp, has_iser;	   // of iSCSI
	bool has_device;	   // iSER by an RDMA device, not only by software iWARP
	bool is_wanted;		   // not there only for the TCP at the same address
	bool is_waiting;	   // of a portal that does not listen
};

// What the user asks for; all but the path may be NULL.
struct boot_wish {
	const char *path;      // absolute, of a LUN, or a node with a single one
	const char *initiator; // default: the only one that the LUN is mapped to, or the first
	const char *portal;    // ADDRESS[:PORT]: only ways by this
	const char *mac;       // of the machine: lines for dnsmasq are for it alone
	const char *section;   // only its warnings
};

// Settings of a node: its group's rows, as tree.get returns them; NULL: no such node.
struct boot_settings {
	struct json_object *group_attr, *group_auth, *acl_attr, *acl_auth, *discovery;
};

struct boot {
	struct shell *s;
	const struct boot_wish *wish;
	bool has_portal;	// of the wish:
	struct tcp_addr portal; // ... port 0: each
	char mac[18];		// ... in small letters, "": none
	char known[160];	// addresses that are not the wanted one, for the error
	bool is_srp;
	char path[BOOT_PATH_SIZE];  // of the LUN
	char group[BOOT_PATH_SIZE]; // of its portal group; SRP: its target
	char target[BOOT_NAME_SIZE];
	char storage[BOOT_PATH_SIZE]; // of the storage object, "": missing
	unsigned tpg, tpg_lun;
	unsigned lun;			// as the initiator sees it
	char initiator[BOOT_NAME_SIZE]; // "INITIATOR": unknown
	bool is_known;			// ... not that
	bool has_acl, is_mapped, is_readonly;
	bool is_open;			  // initiators without an ACL may log in
	char user[256], mutual_user[256]; // of CHAP, "": none
	struct boot_settings settings;
	unsigned place_count;
	struct boot_place places[BOOT_PLACES_MAX];
	bool leaves_waiting_out; // since another portal listens
	bool is_left_out[BOOT_READERS];
	struct json_object *warnings, *ways; // arrays of the answer, borrowed
};

// Finds out everything about the LUN. *ret: an object with warnings and ways, for
// json_object_put(). -ENOENT, -EINVAL with text, errors of the daemon.
int boot_info_of(struct shell *s, const struct boot_wish *w, struct json_object **ret,
		 struct err *e);
// The same for a path and an initiator (NULL: chosen) alone.
int boot_info(struct shell *s, const char *path, const char *initiator, struct json_object **ret,
	      struct err *e);
// Prints the lines of one section, of the first way that has it, and on standard error the
// warnings. -ENOENT, and -EINVAL where INITIATOR would stand for a name, with text and no lines.
int boot_show_section(struct json_object *o, const char *name, FILE *out, struct err *e);
// Prints the warnings on standard error.
void boot_show_warnings(struct json_object *o);
// Prints all of it.
void boot_show(struct json_object *info, FILE *out);

// ---- find.c ----
int boot_find(struct boot *b, const char *path, const char *initiator, struct err *e);
// tree.info of a node; NULL: no such node. For json_object_put().
struct json_object *boot_node(const struct boot *b, const char *path);
// The rows of a group of settings, for json_object_put(); NULL: no such node or group.
struct json_object *boot_settings_of(const struct boot *b, const char *path, const char *group);
// The value of a setting, "": absent.
const char *boot_setting(struct json_object *rows, const char *name);
bool boot_flag(struct json_object *rows, const char *name);
long boot_number(struct json_object *rows, const char *name);
// Whether logins of the initiator need CHAP.
bool boot_needs_chap(const struct boot *b);

// ---- answer.c ----
void boot_warn(struct boot *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
// Of an address with brackets if it is of IPv6; "" is not.
bool boot_is_6(const char *address);
// The word of initramfs-tools that gets the machine an address: by DHCP, or for IPv6 by router
// advertisements.
const char *boot_ip_word(const char *address);
// Adds a way to reach the LUN; borrowed.
struct json_object *boot_way(struct boot *b, const char *transport, const char *portal);
// Adds a line to a section of a way; show.c has the sections' titles.
void boot_line(struct json_object *way, const char *section, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
// The LUN as firmware reads it: the hex digits of the first two of its eight bytes [SAM-5 4.7.7].
unsigned boot_firmware_lun(unsigned lun);

// ---- wish.c ----

// Checks the wish and fills portal and mac. -EINVAL with text.
int boot_take_wish(struct boot *b, const struct boot_wish *w, struct err *e);
// Whether the wish, if any, is this address, of any port.
bool boot_wants_address(const struct boot *b, const struct tcp_addr *a);
// ... and port.
bool boot_wants(const struct boot *b, const struct tcp_addr *a);
// Keeps an address that is not wanted for the error.
void boot_keep_known(struct boot *b, const struct tcp_addr *a);
// -ENOENT with the addresses kept.
int boot_refuse_portal(const struct boot *b, struct err *e);
// The tag of the machine's lines for dnsmasq, which no other machine has.
enum { BOOT_TAG_SIZE = BOOT_NAME_SIZE + 16 };
void boot_tag(const struct boot *b, char ret[BOOT_TAG_SIZE]);

// ---- carry.c ----

// Whether the reader takes the names as they are, has_chap: those of CHAP, too. If not, a warning
// says so once.
bool boot_can_carry(struct boot *b, enum boot_reader reader, bool has_chap);
// The warning that the reader gets no lines, and why.
void boot_left_out(struct boot *b, enum boot_reader reader, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

// ---- firmware.c ----

void boot_root_path(const struct boot *b, const struct boot_place *p,
		    char ret[BOOT_ROOT_PATH_SIZE]);
// iPXE's script; the address says how it gets one itself, paths are root paths.
void boot_ipxe(struct boot *b, const char *address, const char *paths, struct json_object *way);
// All lines of the firmware at a place that has TCP.
void boot_firmware(struct boot *b, const struct boot_place *tcp, struct json_object *way);
void boot_warn_of_dnsmasq(struct boot *b);

// ---- paths.c ----

// As many as attach takes URLs (TOOL_ARGS_MAX); x86's kernel command line has 2047 characters, and
// has other words, too.
enum { BOOT_PATHS_MAX = 16, BOOT_PATHS_SIZE = 1500 };

struct boot_paths {
	char words[BOOT_PATHS_SIZE];
	unsigned count, left_out;
};

// Adds a path, if it fits; none is cut off.
bool boot_add_path(struct boot_paths *p, const char *word);
// Whether a path has this part, which ends at a comma or the end of the path.
bool boot_has_path(const struct boot_paths *p, const char *part);
void boot_warn_of_paths(struct boot *b, const struct boot_paths *p);

// ---- places.c: fills places and warns of portals that do not work ----
int boot_find_places(struct boot *b, struct err *e);
// Calls found with what info says of each portal of the group, NULL if that fails, and its name.
int boot_each_portal(struct boot *b,
		     void (*found)(struct boot *b, struct json_object *info, const char *name),
		     struct err *e);
// The place at the same address where firmware can log in by TCP; NULL: none.
const struct boot_place *boot_tcp_at(const struct boot *b, const struct boot_place *p);

// ---- warn.c ----
void boot_warn_all(struct boot *b);

// ---- lines ----
void boot_iscsi_ways(struct boot *b);		  // iscsi.c
int boot_srp_ways(struct boot *b, struct err *e); // srp.c
