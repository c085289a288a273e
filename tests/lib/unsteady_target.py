# SPDX-License-Identifier: BSD-2-Clause
"""A scripted target (hostile_target.py, hostile_srp.py) that lets its initiator in and does not
keep it: the logins that it sees are counted."""

import farblock
from hostile_srp import CMD, SrpTarget
from hostile_target import READ_10, READ_16, Target
import iscsi_raw as raw

READS = (READ_10, READ_16)
WAIT_MAX = 15  # seconds between two attempts, after six at the latest
LOGINS_MAX = 12
BUSY = 8


def asks_for_logout(answer):
    """The asynchronous message that follows an answer."""
    return raw.Pdu(raw.ASYNC, itt=raw.NONE, event=1, stat_sn=answer.stat_sn + 1,
                   exp_cmd_sn=answer.exp_cmd_sn, max_cmd_sn=answer.max_cmd_sn)


def busy(answer):
    return raw.Pdu(raw.RESPONSE, itt=answer.itt, status=BUSY, stat_sn=answer.stat_sn,
                   exp_cmd_sn=answer.exp_cmd_sn, max_cmd_sn=answer.max_cmd_sn)


class Unsteady(Target):
    """logouts: at each READ it is busy and requests a logout; without, it closes the connection at
    each."""

    def __init__(self, logouts):
        self.logouts, self.logins, self.reads = logouts, 0, 0
        super().__init__(self.turn)

    def turn(self, _, head, answers):
        self.logins += head[0] & 0x3f == raw.LOGIN
        is_read = head[0] & 0x3f == raw.COMMAND and head[32] in READS
        self.reads += is_read
        if is_read and not self.logouts:
            raise OSError("closed at a READ")
        return [busy(answers[0]), asks_for_logout(answers[0])] if is_read else None


class UnsteadySrp(SrpTarget):
    """It closes the channel at each READ."""

    def __init__(self):
        self.logins = self.reads = 0
        super().__init__(self.turn)

    def turn(self, _, iu, __):
        self.logins += iu is None
        if iu is not None and iu.opcode == CMD and iu.cdb[0] in READS:
            self.reads += 1
            raise OSError("closed at a READ")


def wait_for_longest(attachments, target, name):
    """Until the path waits as long as it ever does before its next login."""
    def is_decided():
        path = attachments.one(name)["paths"][0]
        return path["session"].get("login_wait") == WAIT_MAX or target.logins > LOGINS_MAX
    farblock.eventually("the longest wait", is_decided)
    farblock.check(target.logins <= LOGINS_MAX, f"{target.logins} logins, and the waits between "
                                                "them do not grow")
