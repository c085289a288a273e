// SPDX-License-Identifier: BSD-2-Clause
// Errors as a code and a line of text.
#include "core/err.h"

#include <stdio.h>
#include <string.h>

#include "core/utf8.h"

__attribute__((format(printf, 2, 0))) static void put_text(struct err *e, const char *fmt,
							   va_list ap)
{
	vsnprintf(e->text, sizeof e->text, fmt, ap);
	utf8_tame(e->text); // it may contain text of peers and files, and may be truncated
}

static void forget_part(struct err *e)
{
	e->part = ERR_PART_NONE;
	e->index = 0;
	*e->name = *e->wants = 0;
}

static void add_text(struct err *e, const char *text)
{
	size_t used = strlen(e->text);
	snprintf(e->text + used, sizeof e->text - used, ": %s", text);
	utf8_tame(e->text);
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	if (!e)
		return code;
	va_list ap;
	va_start(ap, fmt);
	e->code = code;
	forget_part(e);
	put_text(e, fmt, ap);
	va_end(ap);
	return code;
}

int err_errno(struct err *e, int code, const char *fmt, ...)
{
	if (!e)
		return code;
	va_list ap;
	va_start(ap, fmt);
	e->code = code;
	forget_part(e);
	put_text(e, fmt, ap);
	va_end(ap);
	char buf[96];
	add_text(e, strerror_r(-code, buf, sizeof buf));
	return code;
}

int err_at(struct err *e, enum err_part part, unsigned index, const char *name)
{
	if (!e)
		return 0;
	e->part = part;
	e->index = index;
	snprintf(e->name, sizeof e->name, "%s", name ? name : "");
	return e->code;
}

int err_prefix(struct err *e, const char *fmt, ...)
{
	if (!e)
		return 0;
	struct err old = *e;
	va_list ap;
	va_start(ap, fmt);
	put_text(e, fmt, ap);
	va_end(ap);
	add_text(e, old.text);
	return e->code;
}
