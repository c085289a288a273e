// SPDX-License-Identifier: BSD-2-Clause
#include "cli/edit/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char dots[] = "...";

static int is_start(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

static size_t characters(const char *text)
{
	size_t n = 0;
	for (; *text; text++)
		n += (size_t)is_start(*text);
	return n;
}

// The start of the n-th character.
static const char *character_at(const char *text, size_t number)
{
	for (; *text; text++)
		if (is_start(*text) && !number--)
			break;
	return text;
}

char *prompt_path(const char *path, size_t most)
{
	size_t n = characters(path);
	char *text = NULL;
	if (!most || n <= most)
		return strdup(path);
	size_t half = most > strlen(dots) ? (most - strlen(dots)) / 2 : 0;
	int head = (int)(character_at(path, half) - path);
	if (asprintf(&text, "%.*s%s%s", head, path, dots, character_at(path, n - half)) < 0)
		return NULL;
	return text;
}
