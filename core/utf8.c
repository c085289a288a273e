// SPDX-License-Identifier: BSD-2-Clause
#include "core/utf8.h"

#include <stdio.h>
#include <string.h>

size_t utf8_len(const uint8_t *s, size_t left)
{
	static const struct {
		uint8_t mask, lead, lo, hi; // first byte, bounds of the second
		size_t len;
	} forms[] = {
		{0xff,	0xe0, 0xa0, 0xbf, 3},
		       { 0xff, 0xed, 0x80, 0x9f, 3},
		{ 0xff, 0xf0, 0x90, 0xbf, 4},
		       { 0xff, 0xf4, 0x80, 0x8f, 4},
		{ 0xf0, 0xe0, 0x80, 0xbf, 3},
		       { 0xfc, 0xf0, 0x80, 0xbf, 4},
		{ 0xe0, 0xc0, 0x80, 0xbf, 2},
	};
	if (s[0] < 0x80)
		return 1;
	if (s[0] == 0xc0 || s[0] == 0xc1)
		return 0;
	for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
		if ((s[0] & forms[f].mask) != forms[f].lead)
			continue;
		if (left < forms[f].len || s[1] < forms[f].lo || s[1] > forms[f].hi)
			return 0;
		for (size_t i = 2; i < forms[f].len; i++)
			if ((s[i] & 0xc0) != 0x80)
				return 0;
		return forms[f].len;
	}
	return 0;
}

bool utf8_is_control_number(uint32_t c)
{
	static const uint32_t ranges[][2] = {
		{0x00,	0x1f  },
		    { 0x7f,   0x9f	 },
		{ 0x200b, 0x200f},
		    { 0x2028, 0x202e},
		{ 0x2060, 0x206f},
		    { 0xfeff, 0xfeff},
		{ 0xfff9, 0xfffc},
	};
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (c >= ranges[i][0] && c <= ranges[i][1])
			return true;
	return false;
}

// The code point of a well-formed sequence of n bytes.
static uint32_t code_of(const uint8_t *s, size_t n)
{
	uint32_t c = n == 1 ? s[0] : s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

bool utf8_is_control(const uint8_t *s, size_t n)
{
	return utf8_is_control_number(code_of(s, n));
}

bool utf8_is_fine(const char *text)
{
	size_t left = strlen(text);
	while (left) {
		size_t n = utf8_len((const uint8_t *)text, left);
		if (!n)
			return false;
		text += n;
		left -= n;
	}
	return true;
}

static void mend(char *text, bool tames)
{
	size_t left = strlen(text);
	while (left) {
		size_t n = utf8_len((const uint8_t *)text, left);
		if (!n || (tames && utf8_is_control((const uint8_t *)text, n)))
			memset(text, '?', n ? n : 1);
		n = n ? n : 1;
		text += n;
		left -= n;
	}
}

void utf8_mend(char *text)
{
	mend(text, false);
}

void utf8_tame(char *text)
{
	mend(text, true);
}

void utf8_show(const char *text, char *ret, size_t size)
{
	size_t used = 0, cut = 0, left = strlen(text); // cut: the last position with room for "..."
	for (size_t n; left; text += n, left -= n) {
		const uint8_t *s = (const uint8_t *)text;
		char escape[12];
		n = utf8_len(s, left);
		bool is_plain = n && !utf8_is_control(s, n);
		size_t len = n;
		if (!n)
			len = (size_t)snprintf(escape, sizeof escape, "\\x%02x", *s);
		else if (!is_plain)
			len = (size_t)snprintf(escape, sizeof escape, "\\u%04x",
					       (unsigned)code_of(s, n));
		n += !n;
		if (used + len >= size) {
			memcpy(ret + cut, "...", sizeof "...");
			return;
		}
		memcpy(ret + used, is_plain ? text : escape, len);
		used += len;
		if (used + sizeof "..." <= size)
			cut = used;
	}
	ret[used] = 0;
}
