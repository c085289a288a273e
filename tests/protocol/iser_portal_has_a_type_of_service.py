# SPDX-License-Identifier: BSD-2-Clause
"""The portal's attribute tos is what the next iSER connection is sent with, over software iWARP, and
is saved and restored; connections that stand keep theirs, and those over TCP have none."""

import re
import shutil

from iser import *


def tos(daemon, peer):
    """Of the daemon's end of a connection, as the kernel tells it."""
    local, remote = ("%s:%d" % end for end in (peer.socket.getpeername(), peer.socket.getsockname()))
    # Both ends: connections to different ports may share the peer's.
    found = farblock.run(["ss", "-tnH", "--tos", f"src {local} and dst {remote}"]).stdout
    return int(re.search(r"tos:(\w+)", found).group(1), 0)


def test(daemon):
    if not shutil.which("ss"):
        raise farblock.Skip("ss is not installed")
    host, port = daemon.target.portals[0]
    path = f"{daemon.tpg_path()}/portals/{host}:{port}"
    before = daemon.connect(IserPeer)
    daemon.set(path, "attribute", tos="104")
    after, over_tcp = daemon.connect(IserPeer), daemon.session()
    check(tos(daemon, after) == 104, "what was set")
    check(not tos(daemon, before), "a connection that stood")
    check(not tos(daemon, over_tcp), "TCP")
    daemon.stop()
    daemon.start()
    check(tos(daemon, daemon.connect(IserPeer)) == 104, "after a restart")


main(test)
