// SPDX-License-Identifier: BSD-2-Clause
// doctor: what on this machine keeps disks from being served over RDMA, with what to do about it.
// One thread; reads files of sysfs and procfs, changes nothing, needs no privilege: what may not
// be read is skipped and told. Everything blocks.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/err.h"

struct json_object;

enum verdict { DOCTOR_OK, DOCTOR_SKIP, DOCTOR_WARN, DOCTOR_FAIL };

struct doctor {
	const char *root;	      // put in front of every path; "" for this machine's own files
	const char *check;	      // name of the one that runs now
	struct json_object *findings; // array of {check, verdict, object, what, why, fix}
	unsigned counts[DOCTOR_FAIL + 1];
	unsigned sample_ms; // time between two samples of counters; 0: one sample
	// Asks the daemon, as client_call(); may be NULL or fail: then what it would tell is
	// skipped. params is taken over, *ret is for json_object_put().
	int (*ask)(void *arg, const char *method, struct json_object *params,
		   struct json_object **ret, struct err *e);
	void *ask_arg;
};

struct doctor_check {
	const char *name, *help;
	void (*run)(struct doctor *d);
};
extern const struct doctor_check doctor_checks[]; // ends with a NULL name

// Runs one check, or all when name is NULL. -ENOENT with text: no such check. d->findings and
// counts are added to; the caller gives findings back with json_object_put().
int doctor_run(struct doctor *d, const char *name, struct err *e);

// How many children a node of tree.ls has, and their list, borrowed.
size_t doctor_children(struct json_object *node, struct json_object **ret);

// What initiators here find at a portal ("host[:port]") elsewhere: discovery over TCP and iSER by
// farblock-initiator.
void doctor_remote(struct doctor *d, const char *portal);
// Logs in through every portal of the daemon, to a target and a RAM disk that are there for some
// seconds, compares data and measures. Changes the configuration and takes that back; d->ask is
// there. A negative errno with text: the daemon does not let it.
int doctor_selftest(struct doctor *d, struct err *e);

// A line for each finding, "[ ok ] check object: what", below it why and how to mend it.
void doctor_show(const struct doctor *d, FILE *out);
// The table of link rates with what to expect of them.
void doctor_show_rates(FILE *out);
struct json_object *doctor_rates_json(void); // the same, for json_object_put()

// ---- for checks ----

struct finding {
	enum verdict verdict;
	const char *object;    // what was looked at, "" for the machine
	const char *why, *fix; // NULL: nothing to say. fix is a command or an edit.
};
// What is said from here on is said by that check.
void doctor_begin(struct doctor *d, const char *check);
// what: one line. Everything is copied.
void doctor_say(struct doctor *d, const struct finding *f, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

// The text of a file without the newline at its end. False: absent or not readable; errno says why.
bool doctor_read(const struct doctor *d, char *ret, size_t size, const char *path, ...)
	__attribute__((format(printf, 4, 5)));
// Whether a path is there.
bool doctor_exists(const struct doctor *d, const char *path, ...)
	__attribute__((format(printf, 2, 3)));

// The path below d->root. False: too long.
bool doctor_place(const struct doctor *d, char ret[PATH_MAX], const char *path);

// Names in a folder, sorted, "." and ".." left out; at most DOCTOR_NAMES_MAX.
enum { DOCTOR_NAMES_MAX = 128, DOCTOR_NAME_SIZE = 64 };
struct doctor_names {
	unsigned count;
	char name[DOCTOR_NAMES_MAX][DOCTOR_NAME_SIZE];
};
void doctor_list(const struct doctor *d, struct doctor_names *ret, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

// A port of an RDMA device.
struct doctor_port {
	char device[DOCTOR_NAME_SIZE], number[8];
	char object[80]; // "mlx4_0/1"
	char path[160];	 // /sys/class/infiniband/DEVICE/ports/NUMBER
	bool is_infiniband;
};
void doctor_each_port(struct doctor *d, void (*fn)(struct doctor *d, const struct doctor_port *p));

enum { DOCTOR_FIX_SIZE = 400 };
// text with the names that stand in it in capitals, DEVICE PORT NETDEV, made those of a port or of
// an interface (NULL: left as they are). Returns ret.
const char *doctor_fill(char ret[DOCTOR_FIX_SIZE], const char *text, const struct doctor_port *p,
			const char *netdev);
// Whether an interface has an IPv4 route or an IPv6 address.
bool doctor_has_address(struct doctor *d, const char *netdev);
// What the daemon says to method without parameters, for json_object_put(); NULL: it does not
// answer.
struct json_object *doctor_ask(struct doctor *d, const char *method);
// What it tells of one object (tree.info), the same.
struct json_object *doctor_info(struct doctor *d, const char *path);
// Its process id; 0: it does not answer.
int doctor_daemon_pid(struct doctor *d);
// The text of a member, "" if there is none.
const char *doctor_text(struct json_object *o, const char *key);
// Calls fn for each node of a class of the daemon's tree, with its path. False: it does not answer.
bool doctor_each_node(struct doctor *d, const char *class, void *arg,
		      void (*fn)(struct doctor *d, void *arg, const char *path,
				 struct json_object *node));

// Whether the file that the disk object serves is no longer at path, which is told.
bool doctor_removed(struct doctor *d, const char *object, const char *path);
// Whether there is memory for RAM disks of so many bytes in all.
void doctor_ram_disks(struct doctor *d, unsigned long long bytes);

// The checks, a file for each subject.
void check_device(struct doctor *d);
void check_access(struct doctor *d);
void check_firmware(struct doctor *d);
void check_pcie(struct doctor *d);
void check_state(struct doctor *d);
void check_cable(struct doctor *d);
void check_link(struct doctor *d);
void check_subnet(struct doctor *d);
void check_rate(struct doctor *d);
void check_mtu(struct doctor *d);
void check_ipoib(struct doctor *d);
void check_pkey(struct doctor *d);
void check_gid(struct doctor *d);
void check_prefix(struct doctor *d);
void check_conflicts(struct doctor *d);
void check_memlock(struct doctor *d);
void check_modules(struct doctor *d);
void check_counters(struct doctor *d);
void check_netns(struct doctor *d);
void check_power(struct doctor *d);
void check_storage(struct doctor *d);
void check_disks(struct doctor *d);
void check_space(struct doctor *d);
void check_logins(struct doctor *d);
void check_names(struct doctor *d);
void check_portals(struct doctor *d);
