#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a target or a path does in the moment of a fence does not end it too early, nor for ever.
Two ports of one disk; the first one loses a write and refuses logins.

    attach_fence.py busy      REMOVE I_T NEXUS is answered BUSY after the time of --fence-wait: it
                              is repeated
    attach_fence.py flapping  its path is lost again, as late: another one follows
    attach_fence.py silent    a login with the lost names is never answered: the lost path that
                              returns ends the wait
"""

import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from attach_late_write import Disk  # noqa: E402
from attachment import Attachments  # noqa: E402
from farblock import Scratch, check, eventually, main  # noqa: E402
from fence_target import BUSY, REMOVE_I_T_NEXUS, Port, lose_write  # noqa: E402
import iscsi_raw as raw  # noqa: E402

FENCE_WAIT = 1  # seconds


def attach(attachments, ports, *words):
    disk = Disk(attachments, attachments.attach(
        *(port.address() for port in ports), "--policy", "round-robin", "--via", "socket",
        "--name", "disk", *words))
    eventually("both paths", lambda: all(p["state"] == "up" for p in
                                         attachments.one("disk")["paths"]))
    return disk


def ends_fenced_when_late(attachments, first, second, answer):
    """All paths are away for longer than --fence-wait; then the second is back, whose first two
    answers to the fence are these."""
    disk = attach(attachments, (first, second), "--fence-wait", str(FENCE_WAIT))
    write = lose_write(disk, first, "write -P 0x11 0 4k")
    first.refuses_logins = second.refuses_logins = True
    second.reset()
    eventually("the loss of the second", lambda: attachments.one("disk")["paths"][1]["state"] ==
               "connecting")
    first.reset()
    time.sleep(FENCE_WAIT + 1)
    fences = []

    def count(request):
        fences.append(request)
        return answer(second, request) if len(fences) < 3 else None

    second.answers[REMOVE_I_T_NEXUS] = count
    second.refuses_logins = False
    check(write.wait() == 0, "the write was not repeated")
    check(len(fences) == 3, f"{len(fences)} fences")
    state = attachments.one("disk")["state"]
    check(state == "attached", f"the write went on without a fence: {state}")


def busy(attachments, first, second):
    second.group = 2
    ends_fenced_when_late(attachments, first, second, lambda _, request: [
        raw.Pdu(raw.RESPONSE, itt=request.itt, status=BUSY)])


def flapping(attachments, first, second):
    second.group = 2
    ends_fenced_when_late(attachments, first, second, lambda port, _: port.reset() or [])


def silent(attachments, first, second):
    disk = attach(attachments, (first, second))
    second.answers["login"] = lambda request: []
    write = lose_write(disk, first, "write -P 0x11 0 4k")
    first.refuses_logins = True
    first.reset()
    eventually("the fence", lambda: "not answered yet" in disk.path().get("fence_error", ""))
    first.loses_writes = first.refuses_logins = False
    check(write.wait() == 0, "the write was not repeated")
    check(attachments.one("disk")["state"] == "attached", "it was not fenced")


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        globals()[sys.argv[1]](attachments, Port(number=1), Port(number=2))


if __name__ == "__main__":
    main(test)
