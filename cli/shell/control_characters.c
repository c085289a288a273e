// SPDX-License-Identifier: BSD-2-Clause
// Control characters in JSON texts, whose strings RFC 8259 section 7 describes.
#include "cli/shell/control_characters.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"

// Skips plain ASCII: nearly all of a response, which has megabytes for 10,000 objects.
static size_t plain_part(const char *s)
{
	size_t n = 0;
	while (s[n] >= ' ' && s[n] < 0x7f && s[n] != '\\')
		n++;
	return n;
}

// The length of the character at s, and its code point; an invalid byte stands for itself.
static size_t character(const char *s, uint32_t *ret)
{
	const uint8_t *b = (const uint8_t *)s;
	size_t n = utf8_len(b, strnlen(s, 4));
	*ret = n < 2 ? b[0] : b[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++)
		*ret = *ret << 6 | (b[i] & 0x3f);
	return n ? n : 1;
}

static bool is_line_end_or_tab(uint32_t c)
{
	return c == '\n' || c == '\t';
}

// The escape at s; returns its length.
static size_t tame_escape(char *s)
{
	if (!s[1])
		return 1;
	if (strchr("bfr", s[1]))
		memset(s, '?', 2);
	if (s[1] != 'u' || strspn(s + 2, "0123456789abcdefABCDEF") < 4)
		return 2;
	char digits[] = { s[2], s[3], s[4], s[5], 0 };
	uint32_t c = (uint32_t)strtoul(digits, NULL, 16);
	if (utf8_is_control_number(c) && !is_line_end_or_tab(c))
		memcpy(s + 2, "003f", 4);
	return 6;
}

void control_mask_json(char *json)
{
	while (*(json += plain_part(json))) {
		if (*json == '\\') {
			json += tame_escape(json);
			continue;
		}
		uint32_t c;
		size_t n = character(json, &c);
		if (utf8_is_control_number(c) && !is_line_end_or_tab(c))
			memset(json, '?', n);
		json += n;
	}
}

void control_print_json(FILE *out, const char *json)
{
	const char *start = json;
	while (*(json += plain_part(json))) {
		uint32_t c;
		size_t n = character(json, &c);
		if (c >= 0x7f && utf8_is_control_number(c)) {
			fwrite(start, 1, (size_t)(json - start), out);
			fprintf(out, "\\u%04" PRIx32, c);
			start = json + n;
		}
		json += n;
	}
	fwrite(start, 1, (size_t)(json - start), out);
}
