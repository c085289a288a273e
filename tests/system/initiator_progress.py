#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator shows the progress of a transfer on a terminal, where Ctrl-C ends it in order,
and elsewhere on request."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import Config, Farblockd, Scratch, Skip, check, main, program  # noqa: E402
from stream import MIB, Stream  # noqa: E402

try:
    import pexpect
except ImportError:
    pexpect = None


def lines(target, scratch):
    source = scratch.file("source", content=bytes(16 * MIB))
    line = "100%  16.0MiB of 16.0MiB  "
    stream = Stream("write", target.url(), "-i", source, "--progress")
    stream.end(0, f"write: {line}")
    stream = Stream("write", target.url(), "-i", source)
    stream.end(0)
    check(stream.err == "", f"progress was not asked for: {stream.err}")


def bar(target, scratch):
    if pexpect is None:
        raise Skip("python3-pexpect is not installed")
    fifo = scratch.file("fifo")
    os.mkfifo(fifo)
    terminal = pexpect.spawn(program("farblock-initiator"), [
        "write", target.url(), "-i", fifo, "--length", "64M"], encoding="utf-8", timeout=60,
        dimensions=(24, 100))
    with open(fifo, "wb") as pipe:
        for _ in range(64):  # until a picture is due
            pipe.write(bytes(MIB))
            pipe.flush()
            if terminal.expect([r"write \[[#-]+\] +\d+%  .*MiB of 64.0MiB", pexpect.TIMEOUT],
                               timeout=0.1) == 0:
                terminal.sendintr()
                terminal.expect(r"write: interrupted after \d+ of 67108864 bytes")
                break
    terminal.expect(pexpect.EOF)
    terminal.close()
    check(terminal.exitstatus == 130, f"exit status {terminal.exitstatus}")


def test():
    with Scratch() as scratch:
        config = Config()
        target = config.target([config.ramdisk("rd0", 64 * MIB)])
        with Farblockd(scratch, config):
            lines(target, scratch)
            bar(target, scratch)


main(test)
