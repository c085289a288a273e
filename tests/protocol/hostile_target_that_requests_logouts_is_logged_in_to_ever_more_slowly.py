#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A target that requests a logout soon after each login (asynchronous event 1) sees the waits between
the logins of an attached disk grow."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Scratch, main  # noqa: E402
from unsteady_target import Unsteady, wait_for_longest  # noqa: E402


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        target = Unsteady(logouts=True)
        attachments.attach(target.url("read"), "--via", "socket", "--name", "disk")
        client = attachments.client("disk")
        client.stdin.write(b"read 0 512\n")
        client.stdin.flush()
        wait_for_longest(attachments, target, "disk")
        client.kill()
        client.wait()
        target.close()


if __name__ == "__main__":
    main(test)
