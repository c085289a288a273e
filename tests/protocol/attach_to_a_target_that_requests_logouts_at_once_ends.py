#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""attach gives up a target that requests a logout at each login before it can be asked for its
disk, and says why."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import Scratch, check, main  # noqa: E402
from initiator import end, start  # noqa: E402
import iscsi_raw as raw  # noqa: E402
from unsteady_target import LOGINS_MAX, Unsteady, asks_for_logout  # noqa: E402


class Impatient(Unsteady):
    def turn(self, target, head, answers):
        super().turn(target, head, answers)
        return answers + [asks_for_logout(answers[0])] if head[0] & 0x3f == raw.LOGIN else None


def test():
    with Scratch() as scratch:
        target = Impatient(logouts=True)
        process = start("attach", target.url("read"), "--via", "socket", "--name", "disk",
                        "--run-dir", scratch.file("run"))
        told = end(process, 5)
        check("logged out at the target's request" in told, told)
        check(target.logins <= LOGINS_MAX, f"{target.logins} logins")
        target.close()


if __name__ == "__main__":
    main(test)
