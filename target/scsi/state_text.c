// SPDX-License-Identifier: BSD-2-Clause
// See state_text.h. Pure functions.
#include "target/scsi/state_text.h"

#include <stdlib.h>
#include <string.h>

bool state_text_take(struct state_text *t, const char *word)
{
	size_t len = strlen(word);
	if ((size_t)(t->end - t->p) < len || memcmp(t->p, word, len))
		return false;
	t->p += len;
	return true;
}

bool state_text_number(struct state_text *t, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;
	const char *from = t->p;
	for (; t->p < t->end && *t->p >= '0' && *t->p <= '9'; t->p++) {
		v = v * 10 + (unsigned)(*t->p - '0');
		if (v > max)
			return false;
	}
	*ret = v;
	return t->p != from;
}

char *state_text_close(FILE *f, char **text)
{
	bool has_failed = ferror(f);
	if (!fclose(f) && !has_failed)
		return *text;
	free(*text);
	return NULL;
}
