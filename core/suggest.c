// SPDX-License-Identifier: BSD-2-Clause
// Damerau's distance, with swaps of neighbours only.
#include "core/suggest.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { LENGTH_MAX = 64 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static bool is_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

unsigned distance(const char *a, const char *b)
{
	unsigned char rows[3][LENGTH_MAX + 1];
	size_t n = strnlen(a, LENGTH_MAX), m = strnlen(b, LENGTH_MAX);
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = (unsigned char)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned char *now = rows[i % 3], *last = rows[(i + 2) % 3];
		now[0] = (unsigned char)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned best = last[j - 1] + !is_same(a[i - 1], b[j - 1]);
			best = least(best, least(last[j], now[j - 1]) + 1u);
			if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) &&
			    is_same(a[i - 2], b[j - 1]))
				best = least(best, rows[(i + 1) % 3][j - 2] + 1u);
			now[j] = (unsigned char)best;
		}
	}
	return rows[n % 3][m];
}

// The number of typing errors permitted for a word of this length.
static unsigned slips(size_t length)
{
	return length < 3 ? 0 : length < 6 ? 1 : 2;
}

bool is_near(const char *a, const char *b)
{
	return distance(a, b) <= slips(strlen(a));
}

void suggest_add(struct suggest *s, const char *candidate)
{
	size_t length = strlen(s->word);
	bool is_prefix = length >= 2 && !strncasecmp(candidate, s->word, length);
	unsigned d = is_prefix ? 1 : distance(candidate, s->word);
	if ((is_prefix || is_near(candidate, s->word)) && (!s->best || d < s->distance)) {
		s->best = candidate;
		s->distance = d;
	}
}
