# SPDX-License-Identifier: BSD-2-Clause
"""1,000 sessions that log in and are silent, half of them before their first IU: each takes little
memory, sessions over TCP, iSER and SRP go on beside them and new ones are let in, and the memory
returns to the system when they have gone."""

from srp import *

import iser

SESSIONS = 1000
EACH, AFTERWARDS = 128 << 10, 24 * MIB


def both(config, _):
    config.target(["/backstores/ramdisk/rd0"], attributes={"nopin_timeout": 60})


def others(daemon):
    iscsi, = daemon.others
    for i, kind in enumerate((protocol.Peer, iser.IserPeer)):
        peer = kind(daemon, iscsi.portals[0], target=iscsi.iqn, isid=bytes([0x80, 0, 0, 0, 0, i]))
        peer.login()
        yield peer.ready()
    yield daemon.session(initiator=OTHER)


def test(daemon):
    keepers = list(others(daemon))
    memory, crowd = daemon.memory(), []
    for i in range(SESSIONS):
        crowd.append(daemon.connect(initiator=f"ib.{i:032x}"))
        if i % 2:
            crowd[-1].ready()
    grown = daemon.memory() - memory
    check(grown < SESSIONS * EACH, f"{grown >> 10} KiB for {SESSIONS} silent sessions")
    for i, peer in enumerate(keepers):
        peer.write(128 * i, pattern(65536, i))
        check(peer.read(128 * i, 128) == pattern(65536, i), f"peer {i} reads something else")
    daemon.session().close()
    for peer in crowd:
        peer.close()
    eventually("they are gone", lambda: len(daemon.sessions()) == len(keepers))
    for peer in keepers:
        peer.close()
    daemon.frees_memory(memory + AFTERWARDS)


main(test, adapt=both, acls=("127.0.0.1", farblock.SRP_INITIATOR, OTHER))
