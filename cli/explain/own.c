// SPDX-License-Identifier: BSD-2-Clause
// farblock's own codes: errno names, which every failure of the daemon carries (data.errno with
// --json), and exit statuses of the shell.
#include <errno.h>

#include "cli/explain/explain.h"
#include "cli/shell/client.h"

// clang-format off
static const struct explain_row errno_rows[] = {
	{ EPERM, "EPERM", "read-only access: only root and the daemon's user may change the configuration", "use sudo" },
	{ ENOENT, "ENOENT", "no such object, file or session", "find the path with ls" },
	{ EIO, "EIO", "the storage failed", "read dmesg of the machine that runs farblockd" },
	{ EAGAIN, "EAGAIN", "temporarily unavailable: the daemon is starting or stopping, or another operation is in progress", "try again" },
	{ ENOMEM, "ENOMEM", "memory ran out", "free memory; raise LimitMEMLOCK for RDMA; use a smaller --pool-mem" },
	{ EACCES, "EACCES", "permission denied: file permissions, or an initiator without an ACL", "check the file's owner and mode; farblockd runs as the user farblock" },
	{ EBUSY, "EBUSY", "in use: mounted, opened by another program, or held by sessions", "find the user with lsof, findmnt or sessions; use force=true where the help lists it" },
	{ EEXIST, "EEXIST", "an object of this name exists", "choose another name, or delete the object first" },
	{ ENODEV, "ENODEV", "no such device or interface, or it has not appeared yet", "connect it (farblockd retries), or correct the name" },
	{ ENOTDIR, "ENOTDIR", "a component of the path is not a directory", "correct the path" },
	{ EISDIR, "EISDIR", "the path is a directory, not a file", "correct the path" },
	{ EINVAL, "EINVAL", "invalid value; the message lists the valid ones", "see help COMMAND, or help set GROUP NAME" },
	{ EMFILE, "EMFILE", "too many open files", "raise LimitNOFILE of the service" },
	{ EFBIG, "EFBIG", "larger than the file system allows", "choose a smaller size, or another file system" },
	{ ENOSPC, "ENOSPC", "the disk is full", "add space" },
	{ EROFS, "EROFS", "the file system is read-only", "use readonly=true, or remount it" },
	{ ERANGE, "ERANGE", "the number is out of range", "see the range in help" },
	{ ENAMETOOLONG, "ENAMETOOLONG", "the name or path is too long", "use a shorter one" },
	{ ENOSYS, "ENOSYS", "no such command", "see help" },
	{ EBADRQC, "EBADRQC", "invalid parameters: missing, unknown, or given twice", "see help COMMAND" },
	{ EPROTO, "EPROTO", "the peer violates the protocol", "update the peer; the log shows what it did" },
	{ EOPNOTSUPP, "EOPNOTSUPP", "this storage or device does not support the operation", "use another type of storage" },
	{ EADDRINUSE, "EADDRINUSE", "another program uses this address and port, or another farblockd uses this directory", "find it with ss -ltnp; stop it, or choose another port" },
	{ EADDRNOTAVAIL, "EADDRNOTAVAIL", "no interface has this address (yet)", "check ip address; the portal listens when the address appears" },
	{ ENETUNREACH, "ENETUNREACH", "no route to that network", "check ip route" },
	{ ECONNREFUSED, "ECONNREFUSED", "nothing listens there", "start the target (systemctl start farblockd), or correct address and port" },
	{ ECONNRESET, "ECONNRESET", "the peer closed the connection", "read the peer's log" },
	{ ENOTCONN, "ENOTCONN", "farblockd ended during the command", "check systemctl status farblockd and its log" },
	{ ETIMEDOUT, "ETIMEDOUT", "no answer in time", "check the network, the firewall and the peer's load" },
	{ EHOSTUNREACH, "EHOSTUNREACH", "the machine is not reachable", "check ip route, ping and the firewall" },
	{ ESTALE, "ESTALE", "another client changed the configuration in the meantime", "read the configuration again, then repeat" },
	{ ENOTBLK, "ENOTBLK", "not a block device", "use fileio for a file" },
	{ EREMOTEIO, "EREMOTEIO", "completed, except for objects that are waiting or were not understood", "read the preceding lines" },
	{ EINTR, "EINTR", "interrupted with Ctrl-C", "no action needed" },
	{ 0 },
};
// Their names are those of --help, farblock(8) and docs/targetcli.md.
static const struct explain_row exit_rows[] = {
	{ STATUS_OK, "success", "the command succeeded", "no action needed" },
	{ STATUS_FAILED, "failure", "the message shows the cause", "read the message" },
	{ STATUS_USAGE, "invalid usage", "no such command, or invalid parameters", "see farblock help COMMAND" },
	{ STATUS_NOT_FOUND, "not found", "no such object, file or transaction", "find it with farblock ls" },
	{ STATUS_EXISTS, "already exists", "an object of this name exists", "choose another name" },
	{ STATUS_IN_USE, "in use", "a session, a mount or another program uses it, or its data would be lost", "check farblock sessions; use force=true where the help lists it" },
	{ STATUS_PERMISSION, "permission denied", "read-only access, or the setting or object is read-only", "use sudo, unless the message shows another cause" },
	{ STATUS_NO_DAEMON, "no connection to farblockd", "farblockd is not running, or its socket has another path", "systemctl start farblockd, or use --socket PATH" },
	{ STATUS_INVALID, "invalid value", "the message lists the valid values", "see farblock help COMMAND" },
	{ STATUS_CHANGED, "configuration changed", "the configuration is not at the revision of --revision", "read the configuration again, then repeat" },
	{ 0 },
};
// clang-format on

const struct explain_table explain_errno = { "errno", "error of farblock (errno)", 0, errno_rows };
const struct explain_table explain_exit = { "exit", "exit status of farblock", 0, exit_rows };
