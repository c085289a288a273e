#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Ctrl-C ends a transfer of farblock-initiator in order, whatever it waits for: it says how far it
came, logs out and exits with 130."""

import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import Config, Farblockd, Scratch, check, eventually, main, program  # noqa: E402
from stream import MIB, Stream, content, writer  # noqa: E402

SIZE = 64 * MIB


def logouts(daemon):
    return daemon.log().count("session ended: logged out")


def interrupted(stream, text):
    """It says so while its pipes are still open, so that nothing else ends it."""
    stream.process.send_signal(signal.SIGINT)
    told = "told"
    while told and text not in told:
        told = stream.process.stderr.readline().decode()
    check(told, f"it does not say '{text}'")
    return told


def write(daemon, target, path):
    """Its input has nothing more to read at the moment."""
    stream, before = writer(daemon, target, path, content()), logouts(daemon)
    interrupted(stream, f"write: interrupted after {8 * MIB} bytes")
    stream.end(130)
    eventually("a logout", lambda: logouts(daemon) == before + 1)


def read(daemon, target, path):
    """Its output is not read."""
    stream = Stream("read", target.url(), "-o", "-")
    stream.take(MIB)
    told = interrupted(stream, f" of {SIZE} bytes")
    taken = MIB + len(stream.end(130))
    check(int(told.split()[4]) <= taken < SIZE, f"{taken} bytes came: {told}")


def bench(daemon, target, path):
    stream = Stream("bench", target.url(), "--time", "3600")
    before = daemon.moved(path)[1]
    eventually("the bench at work", lambda: daemon.moved(path)[1] > before + MIB)
    stream.process.send_signal(signal.SIGINT)
    out = stream.end(130)
    check(b" IOPS" in out, f"bench prints {out}")


def is_woken(process):
    """SIGUSR1, which wakes the thread from reads and writes of data, is pending; or it has ended."""
    with open(f"/proc/{process.pid}/task/{process.pid}/status", encoding="ascii") as status:
        pending = next(line for line in status if line.startswith("SigPnd:"))
    is_pending = int(pending.split()[1], 16) >> (signal.SIGUSR1 - 1) & 1
    return is_pending or process.poll() is not None


def a_message_waits_for_room(daemon, target, path):
    """Standard error is a pipe that is full."""
    source, sink = os.pipe()
    os.set_blocking(sink, False)
    full = 0
    while True:
        try:
            full += os.write(sink, bytes(4096))
        except BlockingIOError:
            break
    os.set_blocking(sink, True)
    before = daemon.moved(path)[1]
    process = subprocess.Popen([program("farblock-initiator"), "bench", target.url(), "--time", "3600"],
                               stdout=subprocess.DEVNULL, stderr=sink)
    os.close(sink)
    eventually("the bench at work", lambda: daemon.moved(path)[1] > before + MIB)
    process.send_signal(signal.SIGINT)
    eventually("the message", lambda: is_woken(process))
    with os.fdopen(source, "rb") as stream:
        said = stream.read()[full:]
    check(process.wait(60) == 130, process.returncode)
    check(b"bench: interrupted after " in said, said)


def without_a_session(daemon, target, path):
    stream = writer(daemon, target, path, content())
    daemon.kill()
    stream.feed(bytes(MIB))
    interrupted(stream, "write: interrupted after ")
    stream.end(130)
    daemon.start()


def test():
    with Scratch() as scratch:
        config = Config()
        path = config.ramdisk("rd0", SIZE)
        target = config.target([path])
        with Farblockd(scratch, config) as daemon:
            for case in (write, read, bench, a_message_waits_for_room, without_a_session):
                case(daemon, target, path)


main(test)
