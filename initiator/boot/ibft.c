// SPDX-License-Identifier: BSD-2-Clause
// The iBFT: its objects and their attributes, which are rows; reading its directory.
#include "initiator/boot/ibft.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "initiator/boot/value.h"

#define PAGE 4096 // what a file of sysfs has at most

#define OF(type, field) offsetof(struct ibft_##type, field)
// clang-format off
static const struct ibft_row initiator_rows[] = {
	{"index", ibft_number, OF(initiator, object.index), 255},
	{"flags", ibft_number, OF(initiator, object.flags), 255},
	{"initiator-name", ibft_name, OF(initiator, name), IBFT_NAME_MAX},
	{0},
};
static const struct ibft_row nic_rows[] = {
	{"index", ibft_number, OF(nic, object.index), 255},
	{"flags", ibft_number, OF(nic, object.flags), 255},
	{"ip-addr", ibft_address, OF(nic, ip)},
	{"prefix-len", ibft_number, OF(nic, prefix), 128},
	{"subnet-mask", ibft_mask, OF(nic, mask_prefix)},
	{"gateway", ibft_address, OF(nic, gateway)},
	{"primary-dns", ibft_address, OF(nic, dns)},
	{"secondary-dns", ibft_address, OF(nic, dns2)},
	{"dhcp", ibft_address, OF(nic, dhcp)},
	{"origin", ibft_number, OF(nic, origin), 255},
	{"vlan", ibft_number, OF(nic, vlan), 4094},
	{"mac", ibft_mac, OF(nic, mac), .has = OF(nic, has_mac)},
	{0},
};
static const struct ibft_row target_rows[] = {
	{"index", ibft_number, OF(target, object.index), 255},
	{"flags", ibft_number, OF(target, object.flags), 255},
	{"ip-addr", ibft_address, OF(target, ip)},
	{"port", ibft_number, OF(target, port), 65535},
	{"lun", ibft_lun},
	{"nic-assoc", ibft_number, OF(target, nic), 255, OF(target, has_nic)},
	{"target-name", ibft_name, OF(target, name), IBFT_NAME_MAX},
	{"chap-type", ibft_number, OF(target, chap_type), 2},
	{"chap-name", ibft_chap, OF(target, user), IBFT_CHAP_MAX},
	{"chap-secret", ibft_chap, OF(target, secret), IBFT_CHAP_MAX},
	{"rev-chap-name", ibft_chap, OF(target, mutual_user), IBFT_CHAP_MAX},
	{"rev-chap-name-secret", ibft_chap, OF(target, mutual_secret), IBFT_CHAP_MAX},
	{0},
};
// clang-format on

// clang-format off
static const struct kind {
	const char *prefix;
	const struct ibft_row *rows;
	size_t objects, size; // of the list in struct ibft, of one object
	size_t count;         // of the counter; 0: there is one object, without a number
} kinds[] = {
	{"initiator", initiator_rows, offsetof(struct ibft, initiator)},
	{"ethernet", nic_rows, offsetof(struct ibft, nics), sizeof(struct ibft_nic),
	 offsetof(struct ibft, nic_count)},
	{"target", target_rows, offsetof(struct ibft, targets), sizeof(struct ibft_target),
	 offsetof(struct ibft, target_count)},
};
// clang-format on

_Static_assert(offsetof(struct ibft_nic, object) == 0 &&
		       offsetof(struct ibft_target, object) == 0 &&
		       offsetof(struct ibft_initiator, object) == 0,
	       "an object is the first field of each");

// ---- objects ----

static const struct kind *kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)))
			return &kinds[i];
	return NULL;
}

// Decimal, up to 255: the table has a byte for it. -1: something else.
static int number_of(const char *text)
{
	size_t len = strlen(text);
	if (!len || len > 3 || strspn(text, "0123456789") != len || (len > 1 && *text == '0'))
		return -1;
	int n = atoi(text);
	return n < 256 ? n : -1;
}

static struct ibft_object *at(struct ibft *i, const struct kind *k, unsigned index)
{
	return (struct ibft_object *)((char *)i + k->objects + index * k->size);
}

// Keeps the objects in the order of their numbers, whatever the order of the directory.
static struct ibft_object *insert(struct ibft *i, const struct kind *k, unsigned number)
{
	unsigned *count = (unsigned *)((char *)i + k->count), to = 0;
	while (to < *count && at(i, k, to)->number < number)
		to++;
	if (to < *count && at(i, k, to)->number == number)
		return at(i, k, to);
	if (*count == IBFT_OBJECTS_MAX)
		return NULL;
	memmove(at(i, k, to + 1), at(i, k, to), (*count - to) * k->size);
	memset(at(i, k, to), 0, k->size);
	at(i, k, to)->number = number;
	++*count;
	return at(i, k, to);
}

struct ibft_object *ibft_object(struct ibft *i, const char *name)
{
	const struct kind *k = kind_of(name);
	const char *rest = k ? name + strlen(k->prefix) : NULL;
	if (!k)
		return NULL;
	if (!k->count)
		return *rest ? NULL : at(i, k, 0);
	int number = number_of(rest);
	return number < 0 ? NULL : insert(i, k, (unsigned)number);
}

// ---- attributes ----

static const struct ibft_row *row_of(const struct kind *k, const char *name)
{
	const struct ibft_row *r = k->rows;
	while (r->name && strcmp(r->name, name))
		r++;
	return r->name ? r : NULL;
}

void ibft_take(struct ibft *i, const char *object, const char *attribute, const char *text,
	       size_t len)
{
	char value[PAGE + 1];
	struct ibft_object *o = ibft_object(i, object);
	const struct ibft_row *r = o ? row_of(kind_of(object), attribute) : NULL;
	struct err e;
	if (!r || o->fault.code)
		return;
	if (len && text[len - 1] == '\n')
		len--;
	if (len > PAGE || memchr(text, 0, len)) {
		err_set(&o->fault, -EINVAL, "%s/%s: must be a text of up to %d bytes", object,
			attribute, PAGE);
		return;
	}
	memcpy(value, text, len);
	value[len] = 0;
	if (len && r->take(value, o, r, &e)) {
		o->fault = e;
		err_prefix(&o->fault, "%s/%s", object, attribute);
	}
	explicit_bzero(value, sizeof value);
}

// ---- files ----

// -ENOENT: absent, as attributes may be.
static ssize_t read_file(int dir, const char *name, char ret[PAGE])
{
	struct stat st;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	ssize_t n = fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	if (!n) {
		n = read(fd, ret, PAGE);
		n = n < 0 ? -errno : n;
	}
	close(fd);
	return n;
}

static void read_object(struct ibft *i, int dir, const char *name)
{
	char text[PAGE];
	struct ibft_object *o = ibft_object(i, name);
	const struct kind *k = kind_of(name);
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		err_errno(&o->fault, -errno, "%s", name);
	for (const struct ibft_row *r = k->rows; r->name && fd >= 0; r++) {
		ssize_t n = read_file(fd, r->name, text);
		if (n >= 0)
			ibft_take(i, name, r->name, text, (size_t)n);
		else if (n != -ENOENT && !o->fault.code)
			err_errno(&o->fault, (int)n, "%s/%s", name, r->name);
	}
	if (fd >= 0)
		close(fd);
	explicit_bzero(text, sizeof text);
}

static int fail(const char *dir, int code, struct err *e)
{
	if (code != -ENOENT)
		return err_errno(e, code, "%s", dir);
	return err_set(e, code,
		       "%s: no iBFT (modprobe iscsi_ibft; only firmware that has booted by iSCSI "
		       "leaves one)",
		       dir);
}

int ibft_read(struct ibft *ret, const char *dir, struct err *e)
{
	bool has_objects = false;
	*ret = (struct ibft){ 0 };
	DIR *d = opendir(dir);
	if (!d)
		return fail(dir, -errno, e);
	for (struct dirent *n; (n = readdir(d));)
		if (ibft_object(ret, n->d_name)) {
			read_object(ret, dirfd(d), n->d_name);
			has_objects = true;
		}
	closedir(d);
	if (ret->target_count)
		return 0;
	return has_objects ? err_set(e, -ENOENT, "%s: the iBFT has no target", dir)
			   : fail(dir, -ENOENT, e);
}

void ibft_wipe(struct ibft *i)
{
	explicit_bzero(i, sizeof *i);
}
