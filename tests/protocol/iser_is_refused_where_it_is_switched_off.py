# SPDX-License-Identifier: BSD-2-Clause
"""enable_iser and transport decide what a portal offers, at once and with the cause on record;
sessions that are there go on."""

from iser import *


def refused_socket(daemon, kind, reason):
    try:
        peer = daemon.connect(kind)
        peer.login_request(peer.names())
    except Failure:
        pass
    else:
        raise Failure(f"{kind.__name__} was let in")
    found = [r["reason"] for r in daemon.refusals()]
    check(any(reason in r for r in found), f"{found}")


def test(daemon):
    host, port = daemon.target.portals[0]
    path = f"{daemon.tpg_path()}/portals/{host}:{port}"
    old = daemon.session(kind=IserPeer)

    def run(command, value):
        name = "boolean" if command == "enable_iser" else command
        daemon.rpc("tree.run", path=path, command=command, named={name: value})

    run("enable_iser", "false")
    refused_socket(daemon, IserPeer, "iSER is not offered by this portal")
    daemon.session(isid=bytes.fromhex("80aabb000002"))
    old.ready()  # a change of the target is told to its sessions
    run("enable_iser", "true")
    daemon.session(kind=IserPeer, isid=bytes.fromhex("80aabb000003"))
    run("transport", "iser")
    refused_socket(daemon, Peer, "iSCSI over TCP is not offered by this portal")
    daemon.session(kind=IserPeer, isid=bytes.fromhex("80aabb000004"))
    run("transport", "all")
    daemon.session(isid=bytes.fromhex("80aabb000005"))


main(test)
