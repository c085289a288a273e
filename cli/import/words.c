// SPDX-License-Identifier: BSD-2-Clause
// Shared by the readers of other targets' files: lines, words, numbers, included files.
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "core/utf8.h"
#include "core/whole_file.h"
#include "cli/import/import.h"

enum { NESTED_MAX = 8, PATTERN_MAX = 1024 };

static const char blanks[] = " \t\r\f\v";

void import_note(struct import *im, struct import_place at, const char *fmt, ...)
{
	char text[400], line[700];
	va_list ap;
	size_t n = json_object_array_length(im->notes);
	if (n > IMPORT_NOTES_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	snprintf(line, sizeof line, "%.250s:%u: %s", at.file, at.line,
		 n == IMPORT_NOTES_MAX
			 ? "more than 1000 lines cannot be imported; the list ends here"
			 : text);
	utf8_mend(line); // it may be truncated
	if (json_object_object_get_ex(im->told, line, NULL))
		return; // of another disk of the same target
	json_object_object_add(im->told, line, NULL);
	json_object_array_add(im->notes, json_object_new_string(line));
}

int import_fail(struct err *e, struct import_place at, const char *fmt, ...)
{
	char text[300];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	utf8_mend(text);
	return err_set(e, -EINVAL, "%.250s:%u: %s", at.file, at.line, text);
}

// Ends the text at a # without a \ before it; \# becomes #.
static void cut_comment(char *line)
{
	char *to = line;
	for (; *line && *line != '#'; line++) {
		if (line[0] == '\\' && line[1] == '#')
			line++;
		*to++ = *line;
	}
	*to = 0;
}

void import_trim_end(char *text)
{
	size_t n = strlen(text);
	while (n && strchr(blanks, text[n - 1]))
		n--;
	text[n] = 0;
}

static char *trim(char *text)
{
	text += strspn(text, blanks);
	import_trim_end(text);
	return text;
}

// The next line of *rest, appended to the text before it.
static void join(struct import *im, char *line, char **rest)
{
	size_t n = strlen(line);
	while (n && line[n - 1] == '\\' && *rest) {
		char *next = strsep(rest, "\n");
		im->at.line++;
		cut_comment(next);
		next = trim(next);
		size_t more = strlen(next);
		memmove(line + n - 1, next, more + 1);
		n += more - 1;
	}
}

char *import_line(struct import *im, char **rest)
{
	char *line;
	while (!im->is_malformed && (line = strsep(rest, "\n"))) {
		im->at.line++;
		cut_comment(line);
		line = trim(line);
		join(im, line, rest);
		im->is_malformed = !utf8_is_fine(line); // import_text() fails with it
		if (*line && !im->is_malformed)
			return line;
	}
	return NULL;
}

char *import_value(char *line)
{
	char *value = line + strcspn(line, " \t\r\f\v=");
	char *name_end = value;
	value += strspn(value, blanks);
	if (*value == '=')
		value++;
	value += strspn(value, blanks);
	*name_end = 0;
	size_t n = strlen(value);
	if (n > 1 && value[0] == '"' && value[n - 1] == '"') {
		value[n - 1] = 0;
		value++;
	}
	return value;
}

char *import_word(char **rest)
{
	*rest += strspn(*rest, blanks);
	if (!**rest)
		return NULL;
	char *word = *rest;
	*rest += strcspn(*rest, blanks);
	if (**rest)
		*(*rest)++ = 0;
	return word;
}

int import_number(const char *text, int max)
{
	if (!isdigit((unsigned char)*text) || strlen(text) > 9)
		return -1;
	char *end;
	long v = strtol(text, &end, 10);
	return *end || v > max ? -1 : (int)v;
}

// ---- included files ----

// Keeps text until the import ends.
static bool keep(struct import *im, char *text, size_t len)
{
	struct import_kept *more =
		text ? reallocarray(im->kept, im->kept_count + 1, sizeof *more) : NULL;
	if (more) {
		im->kept = more;
		im->kept[im->kept_count++] = (struct import_kept){ text, len };
	}
	return more;
}

static int read_one(struct import *im, const char *path,
		    int (*read)(struct import *im, char *text, struct err *e), struct err *e)
{
	struct import_place before = im->at;
	char *text = NULL, *name = strdup(path);
	size_t len = 0;
	if (!keep(im, name, name ? strlen(name) : 0)) {
		free(name);
		return err_set(e, -ENOMEM, "out of memory");
	}
	if (im->files++ >= IMPORT_FILES_MAX)
		return import_fail(e, before, "more than %d files", IMPORT_FILES_MAX);
	int r = whole_file_read(path, &text, &len, e);
	if (!r && !keep(im, text, len)) {
		free(text);
		r = err_set(e, -ENOMEM, "out of memory");
	}
	if (!r && (im->size += len) > IMPORT_SIZE_MAX)
		r = import_fail(e, before, "%.200s: more than %d bytes in all", path,
				IMPORT_SIZE_MAX);
	if (!r && strlen(text) != len)
		r = import_fail(e, before, "%.200s: not a text file: NUL byte", path);
	im->at = (struct import_place){ .file = name };
	if (!r)
		r = read(im, text, e);
	if (!im->is_malformed)
		im->at = before;
	return r;
}

// The pattern for glob(): relative to the file's directory; a directory means all files in it.
static void whole_pattern(const struct import *im, const char *pattern, char out[PATTERN_MAX])
{
	const char *slash = strrchr(im->at.file, '/');
	struct stat st;
	snprintf(out, PATTERN_MAX, "%.*s%s",
		 *pattern == '/' || !slash ? 0 : (int)(slash - im->at.file + 1), im->at.file,
		 pattern);
	size_t n = strlen(out);
	if (!stat(out, &st) && S_ISDIR(st.st_mode))
		snprintf(out + n, PATTERN_MAX - n, "/*");
}

int import_include(struct import *im, const char *pattern,
		   int (*read)(struct import *im, char *text, struct err *e), struct err *e)
{
	char whole[PATTERN_MAX];
	glob_t found = { 0 };
	if (!im->may_include) {
		import_note(im, im->at, "include %.200s: is not read here (import that file too)",
			    pattern);
		return 0;
	}
	if (im->nested == NESTED_MAX)
		return import_fail(e, im->at, "include: files include each other, %d deep",
				   NESTED_MAX);
	whole_pattern(im, pattern, whole);
	im->nested++;
	int g = glob(whole, 0, NULL, &found), r = 0;
	if (g == GLOB_NOMATCH && !strpbrk(whole, "*?["))
		r = import_fail(e, im->at, "include %.200s: no such file", whole);
	else if (g && g != GLOB_NOMATCH)
		r = import_fail(e, im->at, "include %.200s: cannot search", whole);
	for (size_t i = 0; !r && i < found.gl_pathc; i++) {
		struct stat st;
		if (!stat(found.gl_pathv[i], &st) && !S_ISDIR(st.st_mode))
			r = read_one(im, found.gl_pathv[i], read, e);
	}
	globfree(&found);
	im->nested--;
	return r;
}
