#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Ctrl-C ends a transfer of farblock-initiator in order, whatever it waits for: it says how far it
came, logs out and exits with 130. Progress is reported on a terminal, and elsewhere on request."""

import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import Config, Farblockd, Scratch, Skip, check, eventually, main, program  # noqa: E402
from stream import MIB, Stream, content, writer  # noqa: E402

try:
    import pexpect
except ImportError:
    pexpect = None

SIZE = 64 * MIB


def logouts(daemon):
    return daemon.log().count("session ended: logged out")


def interrupted(daemon, stream, text, logs_out=True):
    before = logouts(daemon)
    stream.process.send_signal(signal.SIGINT)
    out = stream.end(130, text)
    if logs_out:
        eventually("a logout", lambda: logouts(daemon) == before + 1)
    return out


def write(daemon, target, path):
    """Its input has nothing more to read at the moment."""
    stream = writer(daemon, target, path, content())
    interrupted(daemon, stream, f"write: interrupted after {8 * MIB} bytes")


def read(daemon, target, path):
    """Nobody reads what it prints; what was in flight then is printed still."""
    stream = Stream("read", target.url(), "-o", "-")
    taken = len(stream.take(MIB)) + len(interrupted(daemon, stream, "read: interrupted after "))
    check(f"after {taken} of {SIZE} bytes" in stream.err, f"{taken} bytes came: {stream.err}")


def bench(daemon, target, path):
    stream = Stream("bench", target.url(), "--time", "3600")
    before = daemon.moved(path)[1]
    eventually("the bench at work", lambda: daemon.moved(path)[1] > before + MIB)
    out = interrupted(daemon, stream, "")
    check(b" IOPS" in out, f"bench prints {out}")


def without_a_session(daemon, target, path):
    stream = writer(daemon, target, path, content())
    daemon.kill()
    stream.feed(bytes(MIB))
    interrupted(daemon, stream, f"write: interrupted after {8 * MIB} bytes", logs_out=False)
    daemon.start()


def progress(target, scratch):
    source = scratch.file("source", content=bytes(16 * MIB))
    line = "100%  16.0MiB of 16.0MiB  "
    stream = Stream("write", target.url(), "-i", source, "--progress")
    stream.end(0, f"write: {line}")
    stream = Stream("write", target.url(), "-i", source)
    stream.end(0)
    check(stream.err == "", f"progress was not asked for: {stream.err}")
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
                break
    terminal.expect(r"write: interrupted after \d+ of 67108864 bytes")
    terminal.expect(pexpect.EOF)
    terminal.close()
    check(terminal.exitstatus == 130, f"exit status {terminal.exitstatus}")


def test():
    with Scratch() as scratch:
        config = Config()
        path = config.ramdisk("rd0", SIZE)
        target = config.target([path])
        with Farblockd(scratch, config) as daemon:
            for case in (write, read, bench, without_a_session):
                case(daemon, target, path)
            progress(target, scratch)


main(test)
