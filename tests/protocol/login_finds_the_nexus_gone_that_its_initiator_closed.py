# SPDX-License-Identifier: BSD-2-Clause
"""An initiator closes its connection without a logout and logs in again, with another ISID and on
another worker that has less to do: its old nexus has gone and no longer prevents removal."""

from protocol import *

TURNS = 20
READERS = 24
ALLOWED, PREVENTED = b"\x1e\0\0\0\0\0", b"\x1e\0\0\0\x01\0"
EJECT, LOAD = b"\x1b\0\0\0\x02\0", b"\x1b\0\0\0\x03\0"


def isid(turn, number):
    return struct.pack(">HHH", 0x80aa, turn, number)


def worker_of(daemon, peer):
    for session in daemon.sessions():
        if session["tsih"] == peer.tsih:
            return session["worker"]
    raise Failure(f"no session with TSIH {peer.tsih}")


def turn_of(daemon, turn, readers):
    old, other = [daemon.session(isid=isid(turn, number)) for number in (1, 2)]
    check(worker_of(daemon, old) != worker_of(daemon, other), "both are on one worker")
    old.good(old.task(PREVENTED))
    other.logout()
    new = daemon.connect(isid=isid(turn, 3))
    new.login_step(new.names(), stage=1, transit=False)
    new.said = new.OPERATIONAL
    last = new.login_pdu(new.OPERATIONAL)
    busy = [peer for peer in readers if worker_of(daemon, peer) == worker_of(daemon, old)]
    daemon.pause()
    asked = [(peer, [peer.send(peer.read_task(0, 128)) for _ in range(32)]) for peer in busy]
    old.close()
    new.send(last)
    daemon.resume()
    new.enter_full_feature(new.expect(LOGIN_RSP))
    new.ready()
    new.good(new.task(EJECT), f"in turn {turn}: ")
    new.good(new.task(LOAD))
    for peer, pdus in asked:
        for pdu in pdus:
            peer.collect(pdu, 128 * BLOCK)
        peer.ready()
    new.logout()


def test(daemon):
    readers = [daemon.session(isid=isid(TURNS, number)) for number in range(READERS)]
    for turn in range(TURNS):
        turn_of(daemon, turn, readers)


main(test, cpus=(0, 1), storage={"removable": 1})
