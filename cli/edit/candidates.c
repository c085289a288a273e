// SPDX-License-Identifier: BSD-2-Clause
// --complete: candidates for other shells.
#include <stdio.h>

#include "cli/shell/command.h"
#include "cli/edit/source.h"

enum status shell_complete(struct shell *s, const char *line)
{
	struct source source;
	struct candidates c;
	source_init(&source, s);
	source_begin(&source);
	complete(&source.base, line, &c);
	for (unsigned i = 0; i < c.count; i++)
		fprintf(s->look.out, "%s\t%s\n", c.list[i].text, c.list[i].note);
	candidates_done(&c);
	source_done(&source);
	return STATUS_OK;
}
