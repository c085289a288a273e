# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator in the middle of a transfer: a test feeds its standard input, or reads its
standard output, a MiB at a time, and so decides how far it has come."""

import os
import subprocess

from farblock import Failure, eventually, program

MIB = 1 << 20


class Stream:
    """A farblock-initiator command with pipes. One that reads writes to standard output."""

    def __init__(self, *arguments):
        self.arguments, self.err = arguments, ""
        self.process = subprocess.Popen(
            [program("farblock-initiator"), *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def feed(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def take(self, size):
        return self.process.stdout.read(size)

    def end(self, status, text=""):
        """Closes its input, waits for its end; returns what was left of its standard output."""
        out, err = self.process.communicate(timeout=120)
        self.err = err.decode()
        if self.process.returncode != status or text not in self.err:
            raise Failure(f"{' '.join(self.arguments)}: exit status {self.process.returncode} "
                          f"(not {status}), {self.err!r} (not {text!r})")
        return out


def writer(daemon, target, path, data, *options, lun=0):
    """A write of data whose first half has arrived at the disk; the second half is not fed yet."""
    stream = Stream("write", target.url(lun), "-i", "-", *options)
    half = len(data) // 2
    stream.feed(data[:half])
    eventually("the first half at the disk", lambda: daemon.moved(path)[0] >= half)
    return stream


def goes_on(stream, data):
    """Feeds the second half."""
    try:
        stream.feed(data[len(data) // 2:])
    except BrokenPipeError:
        pass  # it has ended; end() says how


def content(size=16 * MIB):
    return os.urandom(size)

