# SPDX-License-Identifier: BSD-2-Clause
"""Initiators log in, are cut off in the middle of RDMA Reads and of tables, abort, reserve, take no
answers and send garbage while LUNs, ACLs and targets come and go, disks grow and sessions are
dropped: another initiator's data is as it has written it, and nothing of theirs is left."""

import random

from storm import *


def test(daemon):
    dice, keeper, turn = random.Random(2), daemon.keeper(), 0
    with Storm(daemon) as storm:
        while not storm.is_over:
            turn += 1
            daemon.change(dice)
            lba = turn % 200 * 128
            keeper.write(lba % 16384, pattern(65536, turn))
            check(keeper.read(lba % 16384, 128) == pattern(65536, turn), f"turn {turn}: other data")
            if turn % 10 == 0:
                daemon.restore()
    eventually("their sessions are gone", lambda: len(daemon.sessions()) == 1)
    keeper.expect_alive()


main(test)
