#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""An attached disk with two paths, TCP and iSER: each is cut, and its port group leaves the state
active/optimized, while fio writes and verifies over the NBD socket: no error, no wrong byte.
tests/soak/attach_paths.py cuts more often, also without a word."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Config, Farblockd, Scratch, main  # noqa: E402
from fio_load import Load  # noqa: E402
from two_paths import STANDBY, UNAVAILABLE, TwoPaths  # noqa: E402

MIB = 1 << 20


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        paths = TwoPaths(config, scratch, attachments, 64 * MIB)
        with Farblockd(scratch, config) as daemon:
            url = paths.begin(daemon, "--via", "socket")
            paths.load = Load.of_socket(scratch, url, size="16m")
            for index in (0, 1):
                paths.cut_once(index, "reset")
            for index, state in ((0, STANDBY), (1, UNAVAILABLE)):
                paths.leave_once(index, state)
            for state in (STANDBY, UNAVAILABLE):
                paths.no_state_serves(state)
            print(f"the slowest request: {paths.load.end():.3f} s")
            paths.report()
            attachments.detach("disk")


main(test)
