// SPDX-License-Identifier: BSD-2-Clause
// manual TEMPLATE OUTPUT: a manual page or a completion file. Lines of the template are copied;
// "@NAME argument" at the start of a line is replaced by what the directive writes. Run while
// farblock is built. Exit status 0, or 1 with a line on stderr.
#include <stdbool.h>
#include <string.h>

#include "manual/directive.h"

static int run(FILE *out, char *line)
{
	char *name = line + 1, *end = name + strcspn(name, " \n");
	char *argument = *end == ' ' ? end + 1 : end;
	argument[strcspn(argument, "\n")] = 0;
	*end = 0;
	for (const struct directive *d = directives; d->name; d++)
		if (!strcmp(d->name, name))
			return d->write(out, argument);
	fprintf(stderr, "manual: @%s: no such directive\n", name);
	return -1;
}

static int fill(FILE *out, FILE *in)
{
	char line[1024];
	while (fgets(line, sizeof line, in)) {
		if (line[0] != '@')
			fputs(line, out);
		else if (run(out, line) < 0)
			return -1;
	}
	return ferror(in) ? -1 : 0;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: manual TEMPLATE OUTPUT\n");
		return 1;
	}
	FILE *in = fopen(argv[1], "r"), *out = in ? fopen(argv[2], "w") : NULL;
	if (!out) {
		fprintf(stderr, "manual: %s: %m\n", argv[in ? 2 : 1]);
		return 1;
	}
	int r = fill(out, in);
	fclose(in);
	if (fclose(out) || r < 0) {
		fprintf(stderr, "manual: %s: not written from %s\n", argv[2], argv[1]);
		remove(argv[2]);
		return 1;
	}
	return 0;
}
