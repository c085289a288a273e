// SPDX-License-Identifier: BSD-2-Clause
// boot-info: lines of several paths at once, within what their readers take.
#include <string.h>

#include "cli/boot/boot.h"

bool boot_has_path(const struct boot_paths *p, const char *part)
{
	size_t n = strlen(part);
	for (const char *at = p->words; (at = strstr(at, part)); at += n)
		if (!at[n] || strchr(" ,", at[n]))
			return true;
	return false;
}

bool boot_add_path(struct boot_paths *p, const char *word)
{
	size_t n = strlen(p->words);
	if (p->count == BOOT_PATHS_MAX || n + strlen(word) + 2 > sizeof p->words) {
		p->left_out++;
		return false;
	}
	snprintf(p->words + n, sizeof p->words - n, "%s%s", n ? " " : "", word);
	p->count++;
	return true;
}

void boot_warn_of_paths(struct boot *b, const struct boot_paths *p)
{
	if (p->left_out)
		boot_warn(b,
			  "several paths: the lines have %u of %u paths: farblock-initiator takes "
			  "at most %d, and a kernel command line has 2047 characters on x86 "
			  "(portal=ADDRESS: lines of another path)",
			  p->count, p->count + p->left_out, BOOT_PATHS_MAX);
}
