#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""An attached disk with two paths, TCP and iSER, of which each is cut ten times in turn, by a reset
and again without a word, while fio writes and verifies; then the state of each path's port group
changes: I/O moves within a second. No error, no wrong byte. By FUSE (root only) and by the NBD
socket; prints how long each failover took.

    attach_paths.py [--times N] [WAY...]
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Config, Farblockd, Scratch, main  # noqa: E402
from fio_load import Load  # noqa: E402
from two_paths import NON_OPTIMIZED, STANDBY, UNAVAILABLE, TwoPaths  # noqa: E402

MIB = 1 << 20
LOADS = {"fuse": Load.of_device, "socket": Load.of_socket}
LIMIT = 1.0  # seconds in which I/O follows the state of a port group


def loaded(paths, way):
    """A function that runs a part of the test under a load of its own, and ends it."""
    def run(part):
        print(f"--- {way}: {part.__name__}", flush=True)
        paths.times = {}
        with Scratch() as folder:
            paths.load = LOADS[way](folder, paths.device)
            part()
            print(f"{paths.load.rounds()} rounds of fio, the slowest request {paths.load.end():.3f} s")
        paths.report()
    return run


def parts(paths, times):
    def resets():
        for i in range(2 * times):
            paths.cut_once(i % 2, "reset")

    def silences():
        for i in range(2 * times):
            paths.cut_once(i % 2, "silence")

    def states():
        for i in range(2 * times):
            for state in (NON_OPTIMIZED, STANDBY, UNAVAILABLE):
                paths.leave_once(i % 2, state)
        paths.all_took_less_than(LIMIT)

    def no_state_serves():
        for state in (STANDBY, UNAVAILABLE):
            paths.no_state_serves(state)
    return resets, silences, states, no_state_serves


def test():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=10)
    has_fuse = not os.geteuid() and os.path.exists("/dev/fuse")
    parser.add_argument("ways", nargs="*", default=["socket", "fuse"] if has_fuse else ["socket"])
    options = parser.parse_args()
    for way in options.ways:
        with Scratch() as scratch, Attachments(scratch) as attachments:
            config = Config()
            paths = TwoPaths(config, scratch, attachments, 64 * MIB)
            with Farblockd(scratch, config) as daemon:
                paths.device = paths.begin(daemon, "--via", way)
                run = loaded(paths, way)
                for part in parts(paths, options.times):
                    run(part)
                attachments.detach("disk")


main(test)
