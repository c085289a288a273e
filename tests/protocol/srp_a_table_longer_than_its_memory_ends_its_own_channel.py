# SPDX-License-Identifier: BSD-2-Clause
"""A table, or a descriptor, that names more than the initiator's memory fails at the initiator,
which closes: the target ends that channel only and frees what it had."""

from srp import *


class Short(SrpPeer):
    """Its adapter ends the connection at an access beyond its memory."""

    def find(self, stag, to, length, writable, what):
        region = self.regions.get(stag)
        if not region or to + length > region.base + len(region.data):
            self.close()
            raise Closed("an access beyond the memory")
        return super().find(stag, to, length, writable, what)


def commands(peer):
    table = peer.indirect([bytes(4096)] * 4, True, 0)
    del table.table.data[32:]
    yield peer.read_into(table)
    for data in (peer.direct(bytes(8192), True), peer.room([4096, 8192])):
        del data.regions[-1].data[4096:]
        yield peer.read_into(data)
    for data in (peer.direct(bytes(8192)), peer.indirect([bytes(4096), bytes(8192)])):
        del data.regions[-1].data[4096:]
        yield peer.write_from(data)


def test(daemon):
    other = daemon.session(initiator=OTHER)
    for i in range(5):
        peer = daemon.session(kind=Short)
        peer.send(list(commands(peer))[i])
        try:
            peer.recv()
        except Closed:
            pass
        other.expect_alive()
        eventually("the session is gone", lambda: len(daemon.sessions()) == 1)
    check(other.read(0, 64) == bytes(32768), "the disk has changed")


main(test)
