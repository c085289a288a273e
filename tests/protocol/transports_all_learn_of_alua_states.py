# SPDX-License-Identifier: BSD-2-Clause
"""ALUA states that are set in the shell are told to sessions of all transports by a unit attention,
are in REPORT TARGET PORT GROUPS of all, and hold for all; the state of a group with the LUN of one
target holds for the transports of that target."""

from transports import *

OPTIMIZED, NONOPTIMIZED, STANDBY = 0, 1, 2
DEFAULT = "default_tg_pt_gp"
IN_STANDBY = 2, 4, 0x0b


def state(peer):
    """Of the group of its target port."""
    own, at = peer.port(), 4
    data = peer.after_attentions(struct.pack(">BB4xIxx", 0xa3, 0x0a, 256), 256)
    while at < 4 + int.from_bytes(data[:4], "big"):
        ports = [int.from_bytes(data[i + 2:i + 4], "big")
                 for i in range(at + 8, at + 8 + 4 * data[at + 7], 4)]
        if own in ports:
            return data[at] & 15
        at += 8 + 4 * data[at + 7]
    raise farblock.Failure(f"{peer.name}: no group has port {own}: {data.hex()}")


def set_state(daemon, group, value):
    daemon.set(f"{DISK}/alua/{group}", "alua", alua_access_state=str(value))


def test(daemon):
    *_, srp = peers = daemon.sessions_of_all()
    for value in (NONOPTIMIZED, STANDBY, OPTIMIZED):
        set_state(daemon, DEFAULT, value)
        for peer in peers:
            peer.attention(0x2a, 6)  # ASYMMETRIC ACCESS STATE CHANGED
            check(state(peer) == value, f"{peer.name}: state {state(peer)}, not {value}")
            if value == STANDBY:
                peer.fails(IN_STANDBY, struct.pack(">BBIBHB", 0x28, 0, 0, 0, 1, 0), 512)
            else:
                peer.read_block(0)
    daemon.run_at(f"{DISK}/alua", "create", name="other", tag="7")
    daemon.set(f"{daemon.tpg_path()}/luns/lun0", "alua", alua_tg_pt_gp_name="other")
    set_state(daemon, "other", STANDBY)
    for peer in peers:
        wanted = STANDBY if peer is srp else OPTIMIZED
        eventually(f"{peer.name}: state {wanted}", lambda p=peer, w=wanted: state(p) == w)


main(test)
