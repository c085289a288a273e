// SPDX-License-Identifier: BSD-2-Clause
// lab_relay SOCKET: a line of standard input to a socket's path, a line of the answer to standard
// output. The lab's guest has no other program that could ask farblockd's control socket there.
// Without input it only connects. Exit status 1: no answer.
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int dial(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof addr.sun_path)
		return -1;
	memcpy(addr.sun_path, path, strlen(path));
	return connect(fd, (struct sockaddr *)&addr, sizeof addr) < 0 ? -1 : fd;
}

// Up to the end of a line or of the input; returns how many bytes.
static size_t copy_line(FILE *from, FILE *to)
{
	size_t n = 0;
	int c;

	while ((c = getc(from)) != EOF) {
		putc(c, to);
		n++;
		if (c == '\n')
			break;
	}
	return fflush(to) ? 0 : n;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? dial(argv[1]) : -1;
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r"), *out = fd < 0 ? NULL : fdopen(dup(fd), "w");

	if (!in || !out)
		return 1;
	return copy_line(stdin, out) && !copy_line(in, stdout);
}
