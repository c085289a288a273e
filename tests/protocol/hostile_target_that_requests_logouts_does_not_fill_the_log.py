#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The log of an attached disk has no line for each login to a target that requests a logout soon
after each: after three of them it says that the sessions do not last, and then nothing."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Scratch, check, eventually, main  # noqa: E402
from unsteady_target import LOGINS_MAX, Unsteady  # noqa: E402

SOON = "again soon after the login"


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        target = Unsteady(logouts=True)
        attachments.attach(target.url("read"), "--via", "socket", "--name", "disk")
        client = attachments.client("disk")
        client.stdin.write(b"read 0 512\n")
        client.stdin.flush()
        eventually("three short sessions", lambda: SOON in attachments.log("disk")
                   or target.logins > LOGINS_MAX)
        logins, said = target.logins, attachments.log("disk")
        eventually("two more logins", lambda: target.logins >= logins + 2)
        client.kill()
        client.wait()
        check(attachments.log("disk") == said, f"more lines: {attachments.log('disk')[len(said):]}")
        target.close()


if __name__ == "__main__":
    main(test)
