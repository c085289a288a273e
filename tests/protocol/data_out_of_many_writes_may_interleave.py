# SPDX-License-Identifier: BSD-2-Clause
"""Solicited data of several commands, PDU by PDU in turns, arrives where it belongs."""

from protocol import *


def test(daemon):
    peer = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No"})
    data = [pattern(8192, n + 1) for n in range(8)]
    tasks = [peer.write_task(n * 16, 16) for n in range(8)]
    peer.send(*tasks)
    r2ts = [peer.expect(R2T, itt=t.itt) for t in tasks]
    parts = [peer.solicited(r, d, size=700) for r, d in zip(r2ts, data)]
    for turn in zip(*parts):
        peer.send(*turn)
    done = {peer.expect(RESPONSE, status=GOOD).itt for _ in tasks}
    check(done == {t.itt for t in tasks}, "not every write has ended")
    for n in range(8):
        check(peer.read(n * 16, 16) == data[n], f"write {n} differs")


main(test)
