// SPDX-License-Identifier: BSD-2-Clause
// What our own programs say: errno names, which every failure of the daemon carries (data.errno
// with --json), and exit statuses of the shell.
#include <errno.h>

#include "cli/explain.h"
#include "cli/client.h"

// clang-format off
static const struct explain_row errno_rows[] = {
	{ EPERM, "EPERM", "you may look and not change: the socket let you in, but you are neither root nor the daemon's user", "sudo" },
	{ ENOENT, "ENOENT", "no such object, file or session", "ls; the path as it is shown there" },
	{ EIO, "EIO", "the storage failed", "dmesg of the machine that runs farblockd" },
	{ EAGAIN, "EAGAIN", "not now: the daemon is starting or ending, or something is in between", "try again" },
	{ ENOMEM, "ENOMEM", "memory ran out", "free some; LimitMEMLOCK for RDMA; a smaller --pool-mem" },
	{ EACCES, "EACCES", "not allowed: file permissions, or an initiator without an ACL", "the file's owner and mode; farblockd runs as the user farblock" },
	{ EBUSY, "EBUSY", "in use: mounted, opened by somebody else, or still held by sessions", "lsof, findmnt, sessions; force=true where the help has it" },
	{ EEXIST, "EEXIST", "there is one of this name already", "another name, or delete it first" },
	{ ENODEV, "ENODEV", "no such device or interface, perhaps not yet", "it is waited for; plug it in, or correct the name" },
	{ ENOTDIR, "ENOTDIR", "a part of the path is no folder", "correct the path" },
	{ EISDIR, "EISDIR", "a folder where a file is wanted", "correct the path" },
	{ EINVAL, "EINVAL", "a value that is not possible; the text says what is", "help COMMAND, or help set GROUP NAME" },
	{ EMFILE, "EMFILE", "too many files are open", "LimitNOFILE of the service" },
	{ EFBIG, "EFBIG", "larger than the file system allows", "a smaller size, or another file system" },
	{ ENOSPC, "ENOSPC", "the disk is full", "add space" },
	{ EROFS, "EROFS", "the file system is read-only", "readonly=true, or remount" },
	{ ERANGE, "ERANGE", "a number that is too large or too small", "the range that help tells" },
	{ ENAMETOOLONG, "ENAMETOOLONG", "a name or path that is too long", "a shorter one" },
	{ ENOSYS, "ENOSYS", "no such command", "help" },
	{ EBADRQC, "EBADRQC", "the command's parameters are wrong: missing, unknown, or given twice", "help COMMAND" },
	{ EPROTO, "EPROTO", "the peer does not keep to the protocol", "update it; the log says what it did" },
	{ EOPNOTSUPP, "EOPNOTSUPP", "this storage or device cannot do that", "another type of storage" },
	{ EADDRINUSE, "EADDRINUSE", "another program has this address and port, or another farblockd this folder", "ss -ltnp; stop it, or take another port" },
	{ EADDRNOTAVAIL, "EADDRNOTAVAIL", "no interface has this address (yet)", "the portal waits for it; ip address" },
	{ ENETUNREACH, "ENETUNREACH", "no route to that network", "ip route" },
	{ ECONNREFUSED, "ECONNREFUSED", "nobody listens there", "start the target (systemctl start farblockd), or correct address and port" },
	{ ECONNRESET, "ECONNRESET", "the peer closed the connection", "its log" },
	{ ENOTCONN, "ENOTCONN", "farblockd ended in the middle", "its log; systemctl status farblockd" },
	{ ETIMEDOUT, "ETIMEDOUT", "no answer in time", "network, firewall, load of the peer" },
	{ EHOSTUNREACH, "EHOSTUNREACH", "the machine is not reachable", "ip route, ping, firewall" },
	{ ESTALE, "ESTALE", "somebody else has changed the configuration meanwhile", "look again, then repeat" },
	{ EREMOTEIO, "EREMOTEIO", "done, apart from objects that are waiting or were not understood, as told", "the lines above it" },
	{ EINTR, "EINTR", "interrupted with Ctrl-C", "nothing" },
	{ 0 },
};
static const struct explain_row exit_rows[] = {
	{ STATUS_OK, "done", "all went well", "nothing" },
	{ STATUS_FAILED, "failed", "the text says why", "see there" },
	{ STATUS_USAGE, "usage", "no such command, or its parameters are wrong", "farblock help COMMAND" },
	{ STATUS_NOT_FOUND, "not found", "no such object", "farblock ls" },
	{ STATUS_EXISTS, "exists", "there is one already", "another name" },
	{ STATUS_IN_USE, "in use", "somebody uses it: a session, a mount, another program", "farblock sessions; force=true where the help has it" },
	{ STATUS_PERMISSION, "not allowed", "you may not", "sudo" },
	{ STATUS_NO_DAEMON, "farblockd does not answer", "it does not run, or its socket is elsewhere", "systemctl start farblockd; --socket PATH" },
	{ STATUS_INVALID, "a value does not fit", "the text says what is possible", "farblock help COMMAND" },
	{ 0 },
};
// clang-format on

const struct explain_table explain_errno = { "errno", "error of farblock (errno)", 0, errno_rows };
const struct explain_table explain_exit = { "exit", "exit status of farblock", 0, exit_rows };
