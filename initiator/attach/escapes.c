// SPDX-License-Identifier: BSD-2-Clause
// See escapes.h.
#include "initiator/attach/escapes.h"

#include <stdbool.h>

static bool is_octal(char c, char most)
{
	return c >= '0' && c <= most;
}

void escapes_undo(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && is_octal(s[1], '3') && is_octal(s[2], '7') &&
		    is_octal(s[3], '7')) {
			*to++ = (char)(((s[1] - '0') << 6) + ((s[2] - '0') << 3) + (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = 0;
}
