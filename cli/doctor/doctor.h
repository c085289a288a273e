// SPDX-License-Identifier: BSD-2-Clause
// doctor: finds problems of this machine and suggests fixes. One thread; reads files of sysfs and
// procfs, changes nothing, needs no privileges: checks without access are reported as skipped.
// Everything blocks.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/err.h"

struct json_object;
struct tcp_addr;

enum verdict { DOCTOR_OK, DOCTOR_SKIP, DOCTOR_WARN, DOCTOR_FAIL };

struct doctor {
	const char *root;	      // prefix of every path; "" for this machine's own files
	const char *check;	      // name of the running check
	struct json_object *findings; // array of {check, verdict, object, what, why, fix}
	unsigned counts[DOCTOR_FAIL + 1];
	unsigned sample_ms; // time between two samples of counters; 0: one sample
	// Asks the daemon, as client_call(); may be NULL or fail: checks that need it are then
	// skipped. Takes over params; *ret is for json_object_put().
	int (*ask)(void *arg, const char *method, struct json_object *params,
		   struct json_object **ret, struct err *e);
	void *ask_arg;
};

struct doctor_port;

// A check runs once, for each port of the RDMA devices, or for each device.
typedef void doctor_run_fn(struct doctor *d);
typedef void doctor_port_fn(struct doctor *d, const struct doctor_port *p);
typedef void doctor_device_fn(struct doctor *d, const char *device);

struct doctor_check {
	const char *name, *help;
	doctor_run_fn *run;
	doctor_port_fn *each_port;
	doctor_device_fn *each_device;
};
extern const struct doctor_check doctor_checks[]; // ends with a NULL name

// Runs one check, or all if name is NULL. -ENOENT with text: no such check. Adds to d->findings and
// counts; the caller releases findings with json_object_put().
int doctor_run(struct doctor *d, const char *name, struct err *e);

// Checks a portal of another machine by discovery with farblock-initiator: "host[:port]" over TCP
// and iSER, and over SRP at the default port; "srp://host[:port]" over SRP alone.
void doctor_remote(struct doctor *d, const char *portal);
// Logs in through every portal of the daemon, to a temporary target and RAM disk, compares data and
// measures. Changes the configuration and restores it; d->ask is not NULL. A negative errno with
// text: the daemon refused.
int doctor_selftest(struct doctor *d, struct err *e);

// A line for each finding, "[ ok ] check object: what", followed by why and fix.
void doctor_show(const struct doctor *d, FILE *out);
// The table of link rates with expected throughput.
void doctor_show_rates(FILE *out);
struct json_object *doctor_rates_json(void); // the same, for json_object_put()

// ---- for checks ----

struct finding {
	enum verdict verdict;
	const char *object;    // the object of the check, "" for the machine
	const char *why, *fix; // may be NULL. fix is a command or an edit.
};
// A finding that is fine, or of this verdict with its consequence and a fix.
struct finding doctor_judge(bool is_fine, enum verdict verdict, const char *object, const char *why,
			    const char *fix);
// Begins a check: later findings belong to it.
void doctor_begin(struct doctor *d, const char *check);
// Adds a finding; what is one line. Copies everything.
void doctor_say(struct doctor *d, const struct finding *f, const char *what, ...)
	__attribute__((format(printf, 3, 4)));
#define doctor_ok(d, object, ...)                                                                  \
	doctor_say(d, &(struct finding){ DOCTOR_OK, object, NULL, NULL }, __VA_ARGS__)
#define doctor_skip(d, object, ...)                                                                \
	doctor_say(d, &(struct finding){ DOCTOR_SKIP, object, NULL, NULL }, __VA_ARGS__)

// The text of a file without the newline at its end. False: absent or not readable; sets errno.
bool doctor_read(const struct doctor *d, char *ret, size_t size, const char *path, ...)
	__attribute__((format(printf, 4, 5)));
// Whether a path exists.
bool doctor_exists(const struct doctor *d, const char *path, ...)
	__attribute__((format(printf, 2, 3)));

// "8 MiB", "1.50 GiB", below 1 KiB "N bytes". Returns out.
enum { DOCTOR_SIZE_SIZE = 24 };
const char *doctor_size(char out[DOCTOR_SIZE_SIZE], unsigned long long bytes);

// The path below d->root. False: too long.
bool doctor_place(const struct doctor *d, char ret[PATH_MAX], const char *path);

// Names in a directory, sorted, "." and ".." left out; at most DOCTOR_NAMES_MAX.
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
void doctor_each_port(struct doctor *d, doctor_port_fn *fn);

enum { DOCTOR_FIX_SIZE = 400 };
// Replaces DEVICE and PORT in text by those of a port, NETDEV by an interface (NULL: no
// replacement). Returns ret.
const char *doctor_fill(char ret[DOCTOR_FIX_SIZE], const char *text, const struct doctor_port *p,
			const char *netdev);
// The daemon's answer to a method without parameters, for json_object_put(); NULL: none.
struct json_object *doctor_ask(struct doctor *d, const char *method);
// The same for tree.info of one object.
struct json_object *doctor_info(struct doctor *d, const char *path);
// The daemon's process id; 0: it does not answer.
int doctor_daemon_pid(struct doctor *d);
// Calls fn for each node of a class (NULL: all) of the daemon's tree (NULL: none), with its path,
// "" of the root.
typedef void doctor_node_fn(struct doctor *d, void *arg, const char *path,
			    struct json_object *node);
void doctor_each_node(struct doctor *d, struct json_object *tree, const char *class, void *arg,
		      doctor_node_fn *fn);
// The portals of the tree of a class ("portal", "srpt_portal") that are not waiting: an object of
// their summaries by name, since targets share portals; for json_object_put().
struct json_object *doctor_portals(struct doctor *d, struct json_object *tree, const char *class);
// Parses a portal's name as an address to connect to from this machine. False: not an address.
bool doctor_portal_address(struct tcp_addr *ret, const char *name);

// Reports a disk whose file is no longer at path. False: the file is there.
bool doctor_removed(struct doctor *d, const char *object, const char *path);
// Compares the total size of RAM disks with memory.
void doctor_ram_disks(struct doctor *d, unsigned long long bytes);

// What a network interface or an RDMA port has carried, in bytes, and what it carries at most in a
// second in one direction.
enum { DOCTOR_LINKS_MAX = 64 };
#define DOCTOR_LINK_FULL 0.85 // of the rate: packets, and what is lost between them, take the rest
struct doctor_links {
	unsigned count;
	struct doctor_link {
		char name[80];
		double rate, received, sent;
	} link[DOCTOR_LINKS_MAX];
};
// Reads those with a known rate.
void doctor_links_read(struct doctor *d, struct doctor_links *ret);
// Reports those that were full between two readings, seconds apart; returns how many.
unsigned doctor_links_full(struct doctor *d, const struct doctor_links *now,
			   const struct doctor_links *before, double seconds);
// Bytes of data a second in one direction; 0: unknown.
double doctor_port_rate(struct doctor *d, const struct doctor_port *p);

// The checks, a file for each subject.
doctor_run_fn check_device, check_access, check_ipoib, check_prefix, check_conflicts, check_memlock,
	check_modules, check_counters, check_netns, check_power, check_storage, check_disks,
	check_space, check_logins, check_names, check_portals, check_srp, check_limit;
doctor_port_fn check_state, check_cable, check_link, check_subnet, check_rate, check_mtu,
	check_pkey, check_gid;
doctor_device_fn check_firmware, check_pcie;
