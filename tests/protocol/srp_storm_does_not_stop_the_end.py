# SPDX-License-Identifier: BSD-2-Clause
"""The daemon is told to end while initiators do what they like, again and again: it ends in order
each time, and serves when it is started again."""

from storm import *


def test(daemon):
    turn = 0
    with Storm(daemon) as storm:
        while not storm.is_over:
            turn += 1
            eventually("they are at it", lambda: storm.is_over or len(daemon.sessions()) > 1)
            check(daemon.stop() == 0, "it did not end with status 0")
            daemon.start()
            keeper = daemon.keeper()
            keeper.write(0, pattern(65536, turn))
            check(keeper.read(0, 128) == pattern(65536, turn), "other data")
            keeper.close()
    eventually("their sessions are gone", lambda: not daemon.sessions())


main(test)
