// SPDX-License-Identifier: BSD-2-Clause
// Sends datagrams to the service manager.
#include "core/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify_manager(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t len = path ? strlen(path) : 0;
	if (len < 2 || len >= sizeof a.sun_path || (*path != '/' && *path != '@'))
		return;
	memcpy(a.sun_path, path, len);
	if (*path == '@') // an abstract name
		a.sun_path[0] = 0;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&a,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
	close(fd);
}
