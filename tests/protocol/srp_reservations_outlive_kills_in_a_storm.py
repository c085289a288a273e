# SPDX-License-Identifier: BSD-2-Clause
"""The daemon is killed while initiators do what they like: a reservation that persists through
power loss is its initiator's again after each start, by the name of its SRP port, and so is what
was written."""

from storm import *

KEY = 0x5eed
TRANSPORT_ID = b"\x04" + bytes(7) + port_id(KEEPER)


def file(config, scratch):
    return config.fileio("kept", scratch.file("kept.img"), 16 * MIB)


def full_status(peer):
    data = peer.direct(bytes(512), True)
    peer.run(struct.pack(">BB5xHx", PR_IN, 3, 512), data_in=data)
    return data.bytes


def holds(daemon, seed):
    """The reservation is the keeper's, who may write; another may read only."""
    keeper, other = daemon.keeper(), daemon.connect(target=daemon.kept.iqn, through=daemon.kept,
                                                    initiator=OTHER).ready()
    found = full_status(keeper)
    check(found[8:16] == KEY.to_bytes(8, "big") and found[20] & 1, f"no reservation: {found[:64]}")
    check(found[32:56] == TRANSPORT_ID, f"TransportID {found[32:56].hex()}")
    check(other.read(0, 128) == pattern(65536, seed), "other data")
    other.response(other.send(other.write_from(other.direct(bytes(512)))), CONFLICT)
    keeper.write(0, pattern(65536, seed + 1))
    keeper.close()
    other.close()


def test(daemon):
    keeper = daemon.keeper()
    keeper.response(keeper.send(reservation(keeper, REGISTER, KEY, 0, aptpl=True)))
    keeper.response(keeper.send(reservation(keeper, RESERVE, 0, KEY)))
    keeper.write(0, pattern(65536, 0))
    keeper.close()
    turn = 0
    with Storm(daemon) as storm:
        while not storm.is_over:
            eventually("they are at it", lambda: storm.is_over or len(daemon.sessions()) > 1)
            daemon.kill()
            daemon.start()
            holds(daemon, turn)
            turn += 1
    eventually("their sessions are gone", lambda: not daemon.sessions())


main(test, kept=file)
