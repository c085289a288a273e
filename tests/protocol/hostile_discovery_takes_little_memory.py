# SPDX-License-Identifier: BSD-2-Clause
"""Discovery sessions that send half a Text Request, leave out a CmdSN, leave a request open or do
not read their answers take at most some KiB each, however long a request they announce."""

import os

from protocol import *

# What AddressSanitizer keeps of freed memory is not the daemon's.
Daemon.environment = {"ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:quarantine_size_mb=1"}
COUNT = 200
EACH = 40960  # bytes
WHOLE = text({"SendTargets": "All"})


def half(peer):
    peer.send_bytes(peer.request(TEXT, data=bytes(8188), ttt=NONE).wire()[:-4])


def half_of_much(peer):
    try:
        peer.send_bytes(peer.request(TEXT, data=bytes(262140), ttt=NONE).wire()[:-4])
    except ConnectionError:
        pass


def out_of_turn(peer):
    peer.next_cmd_sn()
    peer.send(*[peer.request(TEXT, data=WHOLE + b"X-a=" + b"a" * 8000 + b"\0", ttt=NONE)
                for _ in range(32)])


def left_open(peer):
    peer.send(peer.request(TEXT, 0x40, data=b"a" * 8192, ttt=NONE, immediate=True))


def unread(peer):
    peer.send(*[peer.request(TEXT, data=WHOLE, ttt=NONE, immediate=True) for _ in range(64)])


def test(daemon):
    daemon.session().logout()
    memory = daemon.memory()
    crowd = []
    for act in (half, half_of_much, out_of_turn, left_open, unread):
        for _ in range(COUNT):
            crowd.append(daemon.connect())
            crowd[-1].login(discovery=True)
            act(crowd[-1])
    daemon.session().logout()
    grown = daemon.memory() - memory
    check(grown < len(crowd) * EACH, f"{grown >> 10} KiB for {len(crowd)} discovery sessions")


main(test, targets=300, luns=1)
