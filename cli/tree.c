// SPDX-License-Identifier: BSD-2-Clause
// ls: rows, one buffer, few writes.
#include "cli/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"

enum { DEPTH_MAX = 64, FLUSH_BYTES = 65536 };

struct drawing {
	const struct look *look;
	bool has_later[DEPTH_MAX]; // of the previous row at each depth
	bool is_plain;
	struct tree_part path;	    // of the first row, without a slash at its end
	size_t path_len[DEPTH_MAX]; // of the path of the previous row at each depth
	struct json_text paths;	    // the path of the last row
	struct json_text out;
};

// ---- rows ----

static bool part(const char **at, const char *end, char until, struct tree_part *ret)
{
	const char *stop = memchr(*at, until, (size_t)(end - *at));
	*ret = (struct tree_part){ *at, (size_t)((stop ? stop : end) - *at) };
	*at = stop ? stop + 1 : end;
	return stop != NULL;
}

int tree_row_next(const char **at, struct tree_row *ret)
{
	const char *p = *at;
	if (!*p)
		return 0;
	const char *end = strchr(p, '\n');
	size_t depth = strspn(p, " ");
	p += depth;
	if (!end || end - p < 2 || depth > 1000 || !strchr("+-=", p[0]) || !strchr("|.", p[1]))
		return -EPROTO;
	*ret = (struct tree_row){ (unsigned)depth, p[0], p[1] == '|', { 0 }, { 0 }, { 0 } };
	p += 2;
	if (!part(&p, end, '/', &ret->name) || !part(&p, end, '/', &ret->serial))
		return -EPROTO;
	ret->summary = (struct tree_part){ p, (size_t)(end - p) };
	*at = end + 1;
	return 1;
}

// ---- the buffer ----

static void flush(struct drawing *d)
{
	if (d->out.len) // its error is checked when the stream is closed
		fwrite(d->out.text, 1, d->out.len, d->look->out);
	d->out.len = 0;
}

static void put(struct drawing *d, const char *s, size_t len)
{
	json_text_bytes(&d->out, s, len);
}

static void put_text(struct drawing *d, const char *s)
{
	json_text_put(&d->out, s);
}

static void put_colored(struct drawing *d, const char *color, struct tree_part p)
{
	bool is_colored = color && d->look->has_color;
	if (is_colored) {
		put_text(d, "\033[");
		put_text(d, color);
		put_text(d, "m");
	}
	put(d, p.at, p.len);
	if (is_colored)
		put_text(d, "\033[0m");
}

// ---- lines ----

// Colors show the depth of names; the first node is underlined.
static const char *name_color(unsigned depth)
{
	static const char *const colors[] = { "1", "1;34", "1;35" };
	return depth ? colors[depth % 3] : "1;4";
}

static const char *health_color(char health)
{
	return health == '+' ? "32" : health == '-' ? "1;31" : NULL;
}

static void put_serial(struct drawing *d, const struct tree_row *r)
{
	if (r->serial.len) {
		put(d, " ", 1);
		put(d, r->serial.at, r->serial.len);
	}
}

// The part after the name, for a line with this many columns before it.
static void put_status(struct drawing *d, const struct tree_row *r, size_t margin)
{
	size_t serial = r->serial.len ? r->serial.len + 1 : 0;
	size_t used = margin + r->name.len + serial + r->summary.len + 7;
	size_t dots = used < d->look->width ? d->look->width - used : 1;
	char row[WIDTH_MAX];
	put(d, " ", 1);
	memset(row, '.', dots);
	put(d, row, dots);
	put_serial(d, r);
	put(d, " [", 2);
	put_colored(d, health_color(r->health), r->summary);
	put(d, "]", 1);
}

static void dotted_line(struct drawing *d, const struct tree_row *r)
{
	const struct preferences *p = look_prefs(d->look);
	unsigned first = p->tree_show_root ? 0 : 1;
	if (r->depth < first)
		return;
	for (unsigned i = first; i < r->depth; i++)
		put(d, d->has_later[i] ? "| " : "  ", 2);
	put(d, p->tree_round_nodes ? "o- " : "+- ", 3);
	put_colored(d, name_color(r->depth), r->name);
	if (p->tree_status_mode)
		put_status(d, r, 2 * (size_t)(r->depth - first));
	else
		put_serial(d, r);
	put(d, "\n", 1);
}

// Sets the last path to the row's. A deeper row is a child of its predecessor.
static void path_to(struct drawing *d, const struct tree_row *r)
{
	struct tree_part name = r->depth ? r->name : d->path;
	d->paths.len = r->depth ? d->path_len[r->depth - 1] : 0;
	json_text_bytes(&d->paths, "/", r->depth ? 1 : 0);
	json_text_bytes(&d->paths, name.at, name.len);
	for (unsigned i = r->depth; i < DEPTH_MAX; i++)
		d->path_len[i] = d->paths.len;
}

static void plain_line(struct drawing *d, const struct tree_row *r)
{
	path_to(d, r);
	put_text(d, d->paths.len ? d->paths.text : "/");
	put_serial(d, r);
	put(d, " [", 2);
	put_colored(d, health_color(r->health), r->summary);
	put(d, "]\n", 2);
}

static void draw(struct drawing *d, struct tree_row *r)
{
	if (r->depth >= DEPTH_MAX)
		return;
	if (!r->name.len)
		r->name = (struct tree_part){ "/", 1 };
	if (d->is_plain)
		plain_line(d, r);
	else
		dotted_line(d, r);
	d->has_later[r->depth] = r->has_later;
	if (d->out.len >= FLUSH_BYTES)
		flush(d);
}

int tree_draw(const struct look *l, const char *rows, const char *path, struct err *e)
{
	struct drawing d = { .look = l, .is_plain = path != NULL };
	struct tree_row row;
	int r;
	if (path)
		d.path = (struct tree_part){ path, path[1] ? strlen(path) : 0 };
	while ((r = tree_row_next(&rows, &row)) > 0)
		draw(&d, &row);
	flush(&d);
	free(d.out.text);
	free(d.paths.text);
	if (d.out.has_failed || d.paths.has_failed)
		return err_set(e, -ENOMEM, "out of memory");
	return r < 0 ? err_set(e, r, "ls: farblockd's answer is not a list of rows") : 0;
}
