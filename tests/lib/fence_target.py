# SPDX-License-Identifier: BSD-2-Clause
"""Scripted iSCSI ports of one disk with persistent reservations, and with the page that promises
what a fence's answer proves. A port can lose a path's writes, refuse logins and answer single
commands otherwise."""

import socket
import struct

from farblock import eventually
from hostile_target import (INQUIRY, NAME, PR_IN, PR_OUT, STATUS, TO_FULL_FEATURE, WRITE_10,
                            WRITE_16, Target)
import iscsi_raw as raw

REMOVE_I_T_NEXUS = 0xa4
BUSY, CONFLICT = 0x08, 0x18
OUT_OF_RESOURCES = 0x0302
RESERVE, CLEAR, REGISTER_AND_IGNORE = 1, 3, 6
REGISTRANTS_ONLY = 5
PAGES = bytes((0, 0, 0, 5, 0x00, 0x80, 0x83, 0xb0, 0xf0))
PROMISES = struct.pack(">BBH8sB7xQ", 0, 0xf0, 24, b"FARBLOCK", 7, 77)


class Port(Target):
    """One of portal group `group`, with this relative port number. answers: functions by the CDB's
    operation code, or "login", that return PDUs instead of the honest ones, or None. keys, holder:
    what is registered and reserved at this port. loses_writes, refuses_logins: as they say."""

    def __init__(self, group=1, number=1):
        self.group, self.relative = group, number
        self.answers, self.connections, self.outs = {}, [], {}
        self.keys, self.own, self.holder = [], None, None
        self.on_reserve = None
        self.loses_writes = self.refuses_logins = False
        self.lost = self.reads_of_keys = 0
        super().__init__()

    def address(self):
        return f"iscsi://127.0.0.1:{self.port}/{NAME}/0"

    def serve(self, connection):
        self.connections.append(connection)
        super().serve(connection)

    def reset(self):
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has ended
        self.connections = []

    @staticmethod
    def refuse(request, status):
        return [raw.Pdu(raw.LOGIN_RSP, 0, isid=request.isid, itt=request.itt, login_status=status)]

    @staticmethod
    def data(request, data):
        expected = int.from_bytes(request.bhs[20:24], "big")
        data = data[:expected]
        flags = raw.F | STATUS | (0x02 if len(data) < expected else 0)
        return [raw.Pdu(raw.DATA_IN, flags, itt=request.itt, ttt=raw.NONE, data=data,
                        residual=expected - len(data))]

    def login(self, request, body):
        if self.refuses_logins:
            return self.refuse(request, OUT_OF_RESOURCES)
        agreed = {**self.agreed(body), "TargetPortalGroupTag": str(self.group)}
        return [raw.Pdu(raw.LOGIN_RSP, TO_FULL_FEATURE, isid=request.isid, tsih=1,
                        itt=request.itt, data=raw.text(agreed))]

    def page(self, number):
        port = b"\1\3\0\x08" + bytes((0x60, 1, 2, 3, 4, 5, 6, 7)) \
            + b"\1\x14\0\4\0\0" + struct.pack(">H", self.relative)
        return {0x00: PAGES, 0x83: struct.pack(">BBH", 0, 0x83, len(port)) + port,
                0xf0: PROMISES}.get(number)

    def read_reservations(self, action):
        if action:
            held = struct.pack(">Q5xB2x", self.holder or 0, REGISTRANTS_ONLY)
            return struct.pack(">II", 1, 16) + held if self.holder else bytes(8)
        self.reads_of_keys += 1
        return struct.pack(f">II{len(self.keys)}Q", 1, 8 * len(self.keys), *self.keys)

    def change_reservations(self, action, key, service_key):
        """Returns the status."""
        if action == REGISTER_AND_IGNORE:
            self.keys = [k for k in self.keys if k != self.own]
            self.own = service_key
            self.keys += [service_key] if service_key else []
            return raw.GOOD
        if action == RESERVE:
            if self.on_reserve:
                self.on_reserve()
            self.holder = self.holder or key
            return raw.GOOD if self.holder == key else CONFLICT
        if action == CLEAR:
            self.keys, self.holder = [], None
            return raw.GOOD
        return CONFLICT  # PREEMPT AND ABORT of a key that nobody has

    def honest(self, request, head, body):
        opcode = head[32] if request.opcode == raw.COMMAND else None
        answer = self.answers.get("login" if request.opcode == raw.LOGIN else opcode)
        changed = answer(request) if answer else None
        if changed is not None:
            return changed
        if request.opcode == raw.LOGIN:
            return self.login(request, body)
        if opcode in (WRITE_10, WRITE_16) and self.loses_writes:
            self.lost += 1
            return []
        if opcode == INQUIRY and head[33] & 1 and self.page(head[34]):
            return self.data(request, self.page(head[34]))
        if opcode == PR_IN:
            return self.data(request, self.read_reservations(head[33] & 0x1f))
        if opcode == PR_OUT:
            self.outs[request.itt] = head[33] & 0x1f
        elif request.opcode == raw.DATA_OUT and request.itt in self.outs:
            done = self.change_reservations(self.outs.pop(request.itt),
                                            *struct.unpack(">QQ", body[:16]))
            return [raw.Pdu(raw.RESPONSE, itt=request.itt, status=done)]
        return super().honest(request, head, body)


def lose_write(disk, port, command):
    """Begins writes until one goes to this port and is lost; returns it."""
    port.loses_writes = True
    while True:
        before, write = port.lost, disk.begin(command)
        eventually("the write's end, or its loss",
                   lambda: write.poll() is not None or port.lost > before)
        if port.lost > before:
            return write
