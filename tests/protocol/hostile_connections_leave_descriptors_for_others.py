# SPDX-License-Identifier: BSD-2-Clause
"""With few descriptors and more connections than they allow, the shell works, a portal can be
opened, storage created and the configuration saved; storage in turn leaves the control socket its
own. The limit of connections that holds is shown and logged."""

import os
import socket

from protocol import *

FILES = 128
Daemon.files = FILES


def ls(daemon):
    return farblock.run(["farblock", "--socket", daemon.socket_path, "ls"], timeout=20).stdout


def flood(daemon):
    crowd = []
    for _ in range(2 * FILES):
        crowd.append(socket.create_connection(daemon.target.portals[0], 20))
    refused = lambda: sum(r["count"] for r in daemon.refusals() if r["status"] == 0x0302)
    limit = daemon.rpc("stats.get")["iscsi"]["limits"]["connections"]
    eventually("the rest is refused", lambda: refused() >= 2 * FILES - limit)
    return crowd


def storage(daemon):
    """Creates files until there is no descriptor for more; returns how many."""
    folder = os.path.dirname(daemon.socket_path)
    for n in range(FILES):
        try:
            daemon.rpc("tree.run", command="create", path="/backstores/fileio", named={
                "name": f"f{n}", "file_or_dev": os.path.join(folder, f"f{n}"), "size": "1M"})
        except Failure as why:
            check("out of file descriptors" in str(why), f"{why}")
            return n
    raise Failure(f"{FILES} files with {FILES} descriptors")


def clients_that_wait(daemon):
    """More clients than descriptors: who waits is served when others are gone."""
    idle = []
    for _ in range(30):
        one = socket.socket(socket.AF_UNIX)
        one.settimeout(20)
        one.connect(daemon.socket_path)
        idle.append(one)
    idle[-1].sendall(b'{"jsonrpc": "2.0", "id": 1, "method": "version", "params": {}}\n')
    for one in idle[:-1]:
        one.close()
    check(b"result" in idle[-1].recv(4096), "no answer")
    idle[-1].close()


def test(daemon):
    limits = daemon.rpc("stats.get")["iscsi"]["limits"]
    check(limits["descriptors"] == FILES and limits["connections"] < 100, f"{limits}")
    check(f"iscsi: limit of {limits['connections']} connections" in daemon.log(), "log")
    keeper = daemon.session()
    crowd = flood(daemon)
    check("rd0" in ls(daemon), "ls shows nothing")
    port = farblock.free_port()
    daemon.rpc("tree.run", command="create", path=f"{daemon.tpg_path()}/portals",
               named={"ip_address": "127.0.0.1", "ip_port": str(port)})
    node = daemon.rpc("tree.info", path=f"{daemon.tpg_path()}/portals/127.0.0.1:{port}")
    check(node["state"] == "listening", f"{node}")
    count = storage(daemon)
    check(count >= 8, f"{count} files only")
    check(f"f{count - 1}" in ls(daemon), "ls does not show what was created")
    daemon.rpc("tree.run", path="/", command="saveconfig")
    clients_that_wait(daemon)
    keeper.ready()
    keeper.write(0, pattern(65536))
    for one in crowd:
        one.close()
    eventually("a session gets in again", lambda: can_log_in(daemon))


def can_log_in(daemon):
    try:
        daemon.session(isid=bytes.fromhex("80aabb000009")).logout()
        return True
    except Failure:
        return False


main(test)
