// SPDX-License-Identifier: BSD-2-Clause
// Shows the tree on the screen to choose a node: `cd` without an argument.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/shell/command.h"
#include "cli/shell/interrupt.h"
#include "cli/shell/schema.h"

enum { DEPTH_MAX = 64, KEY_BYTES = 16 };

struct entry {
	char *path;
	struct json_object *node;
	unsigned depth;
};

struct pick {
	struct entry *list;
	size_t count, size, at, top;
	unsigned rows, columns;
};

static bool add_node(struct pick *p, struct json_object *node, const char *path, unsigned depth)
{
	if (p->count == p->size) {
		size_t size = p->size * 2 + 64;
		struct entry *grown = realloc(p->list, size * sizeof *grown);
		if (!grown)
			return false;
		p->list = grown;
		p->size = size;
	}
	struct entry *e = &p->list[p->count];
	*e = (struct entry){ strdup(path), node, depth };
	p->count += e->path != NULL;
	return e->path != NULL;
}

static bool add_nodes(struct pick *p, struct json_object *node, const char *path, unsigned depth)
{
	bool is_fine = add_node(p, node, path, depth);
	json_each (child, depth < DEPTH_MAX ? json_field(node, "children") : NULL) {
		char *full = is_fine ? path_join(path, text_field(child, "name")) : NULL;
		is_fine = full && add_nodes(p, child, full, depth + 1);
		free(full);
	}
	return is_fine;
}

static void measure(struct pick *p)
{
	struct winsize w = terminal_size(stdout);
	p->rows = w.ws_row > 1 ? w.ws_row - 1 : 23;
	p->columns = w.ws_col > 1 ? w.ws_col - 1 : 79;
}

static void draw(struct pick *p)
{
	measure(p);
	if (p->at < p->top)
		p->top = p->at;
	if (p->at >= p->top + p->rows)
		p->top = p->at - p->rows + 1;
	fputs("\033[H\033[J", stdout);
	for (size_t i = p->top; i < p->count && i < p->top + p->rows; i++) {
		char line[512];
		const struct entry *e = &p->list[i];
		snprintf(line, sizeof line, "%*so- %.200s  [%.200s]", (int)e->depth * 2, "",
			 text_field(e->node, "name"), text_field(e->node, "summary"));
		line[p->columns < sizeof line ? p->columns : sizeof line - 1] = 0;
		fprintf(stdout, "%s%s\033[0m\r\n", i == p->at ? "\033[7m" : "", line);
	}
	fputs("arrows: move, Enter: go, q: quit", stdout);
	fflush(stdout);
}

// The action of a key: a step, or the end with STEP_CHOOSE and STEP_LEAVE.
enum { STEP_CHOOSE = 1 << 20, STEP_LEAVE };

static const struct {
	const char *bytes;
	int step;
} keys[] = {
	{"\033[A",   -1	       },
	{ "\033OA",  -1	       },
	     { "k",	    -1	       },
	{ "\033[B",  1	      },
	{ "\033OB",  1	      },
	     { "j",	    1	      },
	{ "\033[5~", -10	 },
	{ "\033[6~", 10		},
	     { "\r",	     STEP_CHOOSE},
	{ "\n",	STEP_CHOOSE},
	{ "q",       STEP_LEAVE },
	     { "\033",    STEP_LEAVE },
	{ "\004",	  STEP_LEAVE },
};

static int read_step(void)
{
	char bytes[KEY_BYTES + 1];
	int r = interrupt_wait_key(STDIN_FILENO, -1);
	ssize_t n = r == 1 ? read(STDIN_FILENO, bytes, KEY_BYTES) : 0;
	if (r == -ERESTART)
		return 0;
	if (n <= 0)
		return STEP_LEAVE;
	bytes[n] = 0;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (!strcmp(keys[i].bytes, bytes))
			return keys[i].step;
	return 0;
}

// False: left without a choice.
static bool choose(struct pick *p)
{
	for (;;) {
		draw(p);
		int step = read_step();
		if (step == STEP_CHOOSE || step == STEP_LEAVE)
			return step == STEP_CHOOSE;
		long to = (long)p->at + step;
		p->at = to < 0 ? 0 : (size_t)to < p->count ? (size_t)to : p->count - 1;
	}
}

static bool choose_on_screen(struct pick *p)
{
	struct termios before, raw;
	tcgetattr(STDIN_FILENO, &before);
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	fputs("\033[?1049h\033[?25l", stdout); // the other screen, no cursor
	bool is_chosen = choose(p);
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	return is_chosen;
}

int shell_pick(struct shell *s, struct err *e)
{
	struct pick p = { 0 };
	struct json_object *tree;
	if (!s->is_interactive)
		return err_set(e, -EBADRQC, "cd: no path given (choosing one needs a terminal)");
	int r = shell_call(s, "tree.ls", params_at("/"), &tree, e);
	if (r < 0)
		return r;
	if (!add_nodes(&p, tree, "/", 0))
		r = err_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; i < p.count; i++)
		if (!strcmp(p.list[i].path, s->cwd))
			p.at = i;
	if (!r && choose_on_screen(&p))
		r = shell_go(s, p.list[p.at].path, true, e);
	for (size_t i = 0; i < p.count; i++)
		free(p.list[i].path);
	free(p.list);
	json_object_put(tree);
	return r;
}
