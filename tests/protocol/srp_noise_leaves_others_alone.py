# SPDX-License-Identifier: BSD-2-Clause
"""Commands with random bytes changed, cut, sent twice or never finished, on channels that come and
go: a session beside them reads what it has written, and all of theirs end."""

import random

from srp import *

TURNS, COMMANDS = 60, 12


def make(peer, rng):
    size = rng.choice((512, 4096, 8192))
    shapes = (lambda w: peer.direct(bytes(size), w),
              lambda w: peer.indirect([bytes(size // 4)] * 4, w),
              lambda w: peer.indirect([bytes(size // 4)] * 4, w, rng.randrange(4)))
    kind = rng.randrange(4)
    if kind == 0:
        return peer.read_into(rng.choice(shapes)(True), 1024)
    if kind == 1:
        return peer.write_from(rng.choice(shapes)(False), 1024)
    if kind == 2:
        return peer.write_from(peer.immediate(bytes(size)), 1024)
    return peer.task_mgmt(rng.choice((1, 2, 4)), None)


def spoil(raw, rng):
    for _ in range(rng.randrange(3)):
        at = rng.randrange(min(len(raw), 120))
        # Not the CDB and the LUN: what a command does is what it says.
        if not 20 <= at < 28 and not 32 <= at < 48:
            raw[at] = rng.choice((0, 1, 2, 3, 0x20, 0x7f, 0x80, 0xff, rng.randrange(256)))
    return raw[:rng.randrange(len(raw))] if rng.randrange(10) == 0 else raw


class Noise(SrpPeer):
    """Neither checks what comes nor answers accesses beyond its memory."""

    def check(self, iu):
        pass

    def turn(self):
        try:
            return super().turn()
        except Failure as why:
            raise Closed(str(why)) from None


def noise(daemon, rng):
    peer = daemon.session(kind=Noise, flags=rng.choice((SINGLE, MULTI)))
    try:
        for _ in range(rng.randrange(COMMANDS)):
            peer.send_bytes(peer.message(bytes(spoil(make(peer, rng).raw, rng))))
        peer.socket.settimeout(1)
        for _ in range(rng.randrange(COMMANDS)):
            last = peer.send(peer.command(b"\x12\0\0\0\x24"))
            while peer.recv().tag != last.tag:
                pass
    except (Failure, ConnectionError):
        pass
    peer.close()


def test(daemon):
    other = daemon.session(initiator=OTHER)
    other.write(0, pattern(65536))
    for seed in range(TURNS):
        noise(daemon, random.Random(seed))
        other.ready()
    check(other.read(0, 128) == pattern(65536), "another's blocks have changed")
    eventually("their sessions are gone", lambda: len(daemon.sessions()) == 1)


main(test)
