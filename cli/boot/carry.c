// SPDX-License-Identifier: BSD-2-Clause
// boot-info: names that the reader of a line takes otherwise than they are: the lines for it are
// left out, since it would log in by another name, or run a part of this as a command.
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/boot/boot.h"

// Whether it stands before a blank or the end.
static bool is_word(const char *text, const char *word)
{
	size_t n = strlen(word);
	return !strncmp(text, word, n) && (!text[n] || text[n] == ' ');
}

// iPXE has no quotes. It expands ${NAME}, joins words by one blank, and looks at the words: for
// options at the first, at each for a comment or the end of the command.
static bool is_changed_by_ipxe(const char *name)
{
	size_t n = strlen(name);
	if (strstr(name, "${") || strstr(name, "  ") || strchr("- ", *name) || name[n - 1] == ' ')
		return true;
	for (const char *word = name; word; word = strchr(word, ' ')) {
		word += *word == ' ';
		if (*word == '#' || is_word(word, ";") || is_word(word, "&&") ||
		    is_word(word, "||"))
			return true;
	}
	return false;
}

// clang-format off
static const struct {
	const char *section; // NULL: several
	const char *lines, *characters, *why;
} readers[] = {
	[BOOT_IPXE] = {"ipxe", "iPXE script", "", "a control character, words or blanks that iPXE reads otherwise"},
	// Quotes protect commas and blanks; a quote ends the value, and a backslash changes it.
	[BOOT_DNSMASQ] = {"dnsmasq", "lines for dnsmasq", "\"\\", "a quote, backslash or control character, which they cannot carry"},
	[BOOT_WORDS] = {NULL, "kernel command lines with this name", " \"", "a blank, quote or control character, at which the kernel ends or changes a word"},
	// In double quotes of /etc/default/grub, which is a shell script, and then in grub.cfg.
	[BOOT_GRUB] = {"grub", "line for GRUB", "\"$\\`'&|;<>", "a character that the shell or GRUB reads as its own, and might run"},
};
// clang-format on

static bool is_changed(enum boot_reader reader, const char *name)
{
	for (const char *p = name; *p; p++)
		if (strchr(readers[reader].characters, *p) || (unsigned char)*p < ' ' || *p == 127)
			return true;
	return reader == BOOT_IPXE && *name && is_changed_by_ipxe(name);
}

void boot_left_out(struct boot *b, enum boot_reader reader, const char *fmt, ...)
{
	const char *section = b->wish->section, *own = readers[reader].section;
	bool is_told = b->is_left_out[reader];
	char *why = NULL;
	va_list ap;
	b->is_left_out[reader] = true;
	if (is_told || (section && own && strcmp(section, own)))
		return;
	va_start(ap, fmt);
	int n = vasprintf(&why, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	boot_warn(b, "no %s: %s: choose letters and digits", readers[reader].lines, why);
	free(why);
}

bool boot_can_carry(struct boot *b, enum boot_reader reader, bool has_chap)
{
	const char *all[] = { b->target, b->initiator, b->user, b->mutual_user };
	size_t count = sizeof all / sizeof *all - (has_chap ? 0 : 2);
	size_t i = 0;
	while (i < count && !is_changed(reader, all[i]))
		i++;
	if (i < count)
		boot_left_out(b, reader, "%.100s has %s", all[i], readers[reader].why);
	return i == count;
}
