// SPDX-License-Identifier: BSD-2-Clause
// Files of sysfs and procfs, below d->root.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"

__attribute__((format(printf, 3, 0))) static bool place(const struct doctor *d, char ret[PATH_MAX],
							const char *path, va_list ap)
{
	size_t len = strlen(d->root);
	if (len >= PATH_MAX)
		return false;
	memcpy(ret, d->root, len);
	int n = vsnprintf(ret + len, PATH_MAX - len, path, ap);
	return n >= 0 && (size_t)n < PATH_MAX - len;
}

const char *doctor_size(char out[DOCTOR_SIZE_SIZE], unsigned long long bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB" };
	unsigned unit = 0;
	while (unit < 5 && bytes >> 10 * (unit + 1))
		unit++;
	bool is_whole = !(bytes & ((1ull << 10 * unit) - 1));
	snprintf(out, DOCTOR_SIZE_SIZE, "%.*f %s", is_whole ? 0 : 2,
		 (double)bytes / (double)(1ull << 10 * unit), units[unit]);
	return out;
}

bool doctor_place(const struct doctor *d, char ret[PATH_MAX], const char *path)
{
	int n = snprintf(ret, PATH_MAX, "%s%s", d->root, path);
	return n >= 0 && n < PATH_MAX;
}

static bool is_text(unsigned char c)
{
	return c == '\n' || c == '\t' || (c >= ' ' && c < 0x7f);
}

bool doctor_read(const struct doctor *d, char *ret, size_t size, const char *path, ...)
{
	char full[PATH_MAX];
	va_list ap;
	va_start(ap, path);
	bool is_fine = place(d, full, path, ap);
	va_end(ap);
	*ret = 0;
	int fd = is_fine ? open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	if (fd < 0)
		return false;
	size_t have = 0;
	ssize_t n;
	while (have < size - 1 && (n = read(fd, ret + have, size - 1 - have)) > 0)
		have += (size_t)n;
	close(fd);
	while (have && (ret[have - 1] == '\n' || ret[have - 1] == ' '))
		have--;
	ret[have] = 0;
	// Drivers may return anything; terminals get printable text only.
	for (size_t i = 0; i < have; i++)
		if (!is_text((unsigned char)ret[i]))
			ret[i] = '?';
	return true;
}

bool doctor_exists(const struct doctor *d, const char *path, ...)
{
	char full[PATH_MAX];
	va_list ap;
	va_start(ap, path);
	bool is_fine = place(d, full, path, ap);
	va_end(ap);
	return is_fine && !access(full, F_OK);
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(a, b);
}

void doctor_list(const struct doctor *d, struct doctor_names *ret, const char *path, ...)
{
	char full[PATH_MAX];
	va_list ap;
	va_start(ap, path);
	bool is_fine = place(d, full, path, ap);
	va_end(ap);
	ret->count = 0;
	DIR *dir = is_fine ? opendir(full) : NULL;
	struct dirent *entry;
	while (dir && ret->count < DOCTOR_NAMES_MAX && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= DOCTOR_NAME_SIZE)
			continue;
		memcpy(ret->name[ret->count++], entry->d_name, strlen(entry->d_name) + 1);
	}
	if (dir)
		closedir(dir);
	qsort(ret->name, ret->count, sizeof ret->name[0], by_name);
}

const char *doctor_fill(char ret[DOCTOR_FIX_SIZE], const char *text, const struct doctor_port *p,
			const char *netdev)
{
	const struct {
		const char *word, *value;
	} rows[] = {
		{"DEVICE",  p ? p->device : NULL},
		{ "PORT",	  p ? p->number : NULL},
		{ "NETDEV", netdev		   },
	};
	size_t n = 0;
	while (*text && n < DOCTOR_FIX_SIZE - 1) {
		size_t i = 0, have = sizeof rows / sizeof rows[0];
		while (i < have &&
		       (!rows[i].value || strncmp(text, rows[i].word, strlen(rows[i].word))))
			i++;
		if (i == have) {
			ret[n++] = *text++;
			continue;
		}
		int more = snprintf(ret + n, DOCTOR_FIX_SIZE - n, "%s", rows[i].value);
		n = (size_t)more < DOCTOR_FIX_SIZE - n ? n + (size_t)more : DOCTOR_FIX_SIZE - 1;
		text += strlen(rows[i].word);
	}
	ret[n] = 0;
	return ret;
}

static void one_port(struct doctor *d, const char *device, const char *number, doctor_port_fn *fn)
{
	struct doctor_port p;
	char layer[32];
	snprintf(p.device, sizeof p.device, "%s", device);
	snprintf(p.number, sizeof p.number, "%.7s", number);
	snprintf(p.object, sizeof p.object, "%s/%s", p.device, p.number);
	snprintf(p.path, sizeof p.path, "/sys/class/infiniband/%s/ports/%s", p.device, p.number);
	doctor_read(d, layer, sizeof layer, "%s/link_layer", p.path);
	p.is_infiniband = !strcmp(layer, "InfiniBand");
	fn(d, &p);
}

void doctor_each_port(struct doctor *d, doctor_port_fn *fn)
{
	struct doctor_names devices, ports;
	doctor_list(d, &devices, "/sys/class/infiniband");
	for (unsigned i = 0; i < devices.count; i++) {
		doctor_list(d, &ports, "/sys/class/infiniband/%s/ports", devices.name[i]);
		for (unsigned k = 0; k < ports.count; k++)
			one_port(d, devices.name[i], ports.name[k], fn);
	}
}
