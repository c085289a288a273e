#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator against a scripted target that rejects READs: the error says what the target said."""

import os
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import Failure, main, run  # noqa: E402
import iscsi_raw as raw  # noqa: E402

FINAL_TO_FULL_FEATURE = 0x87
STATUS_IN_DATA = 0x81
INQUIRY, READ_10, READ_CAPACITY_16, TOO_MANY_COMMANDS = 0x12, 0x28, 0x9e, 0x0a


class Target:
    """One connection at a time; a logical unit of 1 MiB that cannot be read."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            self.socket, _ = self.listener.accept()
            self.stat_sn = 1
            with self.socket, self.socket.makefile("rb") as self.input:
                while self.answer_next():
                    pass

    def answer_next(self):
        head = self.input.read(48)
        if len(head) < 48:
            return False
        request = raw.Pdu()
        request.bhs[:] = head
        length = int.from_bytes(head[5:8], "big")
        self.input.read(length + -length % 4)
        answer = {raw.LOGIN: self.login, raw.COMMAND: self.command,
                  raw.LOGOUT: self.logout}[request.opcode](request, head)
        numbered = request.opcode == raw.COMMAND or request.opcode == raw.LOGOUT
        answer.put("stat_sn", self.stat_sn).put("exp_cmd_sn", request.cmd_sn + numbered)
        answer.put("max_cmd_sn", request.cmd_sn + 32)
        self.stat_sn += 1
        self.socket.sendall(answer.wire())
        return request.opcode != raw.LOGOUT

    def login(self, request, _):
        return raw.Pdu(raw.LOGIN_RSP, FINAL_TO_FULL_FEATURE, isid=request.isid, tsih=1,
                       itt=request.itt,
                       data=raw.text({"TargetPortalGroupTag": "1", "HeaderDigest": "None",
                                      "DataDigest": "None"}))

    def command(self, request, head):
        opcode = head[32]
        if opcode == READ_10:
            return raw.Pdu(raw.REJECT, data=head, itt=raw.NONE, reason=TOO_MANY_COMMANDS)
        if opcode == READ_CAPACITY_16:
            return raw.Pdu(raw.DATA_IN, STATUS_IN_DATA, itt=request.itt, ttt=raw.NONE,
                           data=struct.pack(">QI20x", 2047, 512))
        if opcode == INQUIRY and not head[33] & 1:
            return raw.Pdu(raw.DATA_IN, STATUS_IN_DATA, itt=request.itt, ttt=raw.NONE,
                           data=bytes((0, 0, 6, 2, 31, 0, 0, 2)) + b"EXAMPLE " * 3 + b"1   ")
        return raw.Pdu(raw.RESPONSE, itt=request.itt)

    def logout(self, request, _):
        return raw.Pdu(raw.LOGOUT_RSP, itt=request.itt)


def test():
    target = Target()
    done = run(["farblock-initiator", "read", f"iscsi://127.0.0.1:{target.port}/iqn.2025-01.org.example:t/0",
                "--length", "4096", "--output", "/dev/null"], timeout=30, check=False)
    told = [line for line in done.stdout.splitlines() if "READ of 4096 bytes at 0: " in line]
    if done.returncode != 1 or len(told) != 1 or "rejected a SCSI command, reason 0x0a" not in told[0]:
        raise Failure(f"status {done.returncode}: {done.stdout}")


if __name__ == "__main__":
    main(test)
