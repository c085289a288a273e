#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A transfer of farblock-initiator ends in an error when its disk was restarted and may have lost
what it acknowledged, or is another one: a write does not touch it, a read does not mix the two.
--allow-replaced continues."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import Config, Farblockd, Scratch, check, eventually, main  # noqa: E402
from stream import MIB, Stream, content, goes_on, writer  # noqa: E402

SIZE = 64 * MIB


def restarted(daemon):
    daemon.kill()
    daemon.start()


def empty_ramdisk(daemon, target, path):
    """It comes back with the same identity and without its data."""
    data = content()
    stream = writer(daemon, target, path, data)
    restarted(daemon)
    goes_on(stream, data)
    stream.end(1, "may be lost")
    check(daemon.moved(path)[0] == 0, "the empty disk was written to")


def allowed(daemon, target, path):
    data = content()
    stream = writer(daemon, target, path, data, "--allow-replaced")
    restarted(daemon)
    goes_on(stream, data)
    stream.end(0, "may be lost")


def mixed_read(daemon, target, path):
    """Half of it would be of before the restart, half of after."""
    stream = Stream("read", target.url(), "-o", "-")
    check(len(stream.take(MIB)) == MIB, "nothing was read")
    restarted(daemon)
    stream.end(1, "may be lost")


def bench(daemon, target, path):
    stream = Stream("bench", target.url(), "--time", "3600")
    eventually("the bench at work", lambda: daemon.moved(path)[1] > MIB)
    restarted(daemon)
    stream.end(1, "may be lost")


def another_disk(daemon, target, path, other):
    """The same URL, another disk."""
    data = content()
    stream = writer(daemon, target, path, data)
    daemon.kill()
    with open(daemon.config_path, "w", encoding="utf-8") as file:
        file.write(other.text())
    daemon.start()
    goes_on(stream, data)
    stream.end(1, "another disk (")
    check(daemon.moved(path)[0] == 0, "the other disk was written to")


def test():
    with Scratch() as scratch:
        config, other = Config(), Config()
        path = config.ramdisk("rd0", SIZE)
        target = config.target([path])
        other.targets = config.targets
        other.ramdisk("rd0", SIZE)  # with a WWN of its own
        with Farblockd(scratch, config) as daemon:
            empty_ramdisk(daemon, target, path)
            allowed(daemon, target, path)
            mixed_read(daemon, target, path)
            bench(daemon, target, path)
            another_disk(daemon, target, path, other)


main(test)
