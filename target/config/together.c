// SPDX-License-Identifier: BSD-2-Clause
// Several commands as one change of the configuration: a failed one is undone separately, all
// successful ones are saved and published once. Control thread.
#include <string.h>

#include "target/config/change/commit.h"
#include "target/config/classes.h"
#include "target/config/config.h"
#include "target/config/file/saved_file.h"
#include "target/config/storage/storage.h"

// Whether a command can be one of several: it changes something and ends by config_finish().
static bool can_join(struct config *c, const struct config_call *call)
{
	struct node *n = config_node(c, call->path);
	const struct command_row *row = n ? command_find(c, n->class, call->command) : NULL;
	return row && !row->is_readonly && n->class != &root_class;
}

// Deleted objects are released by the commit: names, files and devices are free only then.
static bool may_want_what_was_freed(const struct config *c, const struct config_call *call,
				    unsigned closing)
{
	return c->storage->closing != closing ||
	       (c->txn.has_removed && strcmp(call->command, "delete"));
}

static int run(struct config *c, const struct config_call *call, bool is_admin, struct reply *out,
	       struct err *e)
{
	return config_run(c, call->path, call->command, call->positional, call->named, is_admin,
			  out, e);
}

// Commits count commands; on failure their replies are void.
static int commit(struct config *c, struct reply *outs, unsigned count, struct err *e)
{
	int r = c->change->together.has_changes ? config_finish(c, 0, e) : 0;
	for (unsigned i = 0; r < 0 && i < count; i++)
		reply_done(&outs[i]);
	return r;
}

int config_run_together(struct config *c, const struct config_call *calls, unsigned count,
			bool is_admin, struct reply *outs, unsigned *ret_done, struct err *e)
{
	unsigned n = 0, closing = c->storage->closing;
	struct err why = { 0 };
	int r = 0;
	*ret_done = 0;
	if (c->change->transaction.is_open || !can_join(c, &calls[0])) {
		r = run(c, &calls[0], is_admin, &outs[0], e);
		*ret_done = !r;
		return r;
	}
	together_open(c);
	while (!r && n < count) {
		if (n &&
		    (!can_join(c, &calls[n]) || may_want_what_was_freed(c, &calls[n], closing)))
			break;
		r = run(c, &calls[n], is_admin, &outs[n], e);
		n += !r;
	}
	c->change->together.is_open = false;
	int saved = commit(c, outs, n, &why);
	change_back_to(c, 0);
	if (saved < 0) {
		if (e)
			*e = why;
		return saved;
	}
	if (n)
		config_tell_replaced(c, &outs[n - 1]);
	*ret_done = n;
	return r;
}
