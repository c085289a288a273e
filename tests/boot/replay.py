#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Does to a disk what a machine did while it started: the reads, writes and flushes of a trace.

    replay.py URL TRACE NUMBER

A command is sent at its recorded time, but not before those have ended that had ended when it was
recorded; so there are never more at once than there were. Writes have the recorded sizes and random
content. Logs in, prints "ready", starts when a line comes, and prints a line of JSON at the end."""

import json
import os
import select
import sys
import time

import farblock_path  # noqa: F401
import boot_trace as trace
import iscsi
from farblock import check, main as run_main

BLOCK = 512
LARGEST = 4 << 20


class Replay:
    """One session that goes through the entries."""

    def __init__(self, url, entries, number):
        self.entries, self.flying, self.content = entries, {}, os.urandom(2 * LARGEST)
        self.session = iscsi.Session(url, initiator=f"iqn.2025-01.org.farblock:replay{number}",
                                     isid=number)
        self.session.ready()
        blocks, size = self.session.capacity()
        check(size == BLOCK, f"{url}: blocks of {size} bytes, not {BLOCK}")
        check(all(e.lba + e.blocks <= blocks and e.blocks * BLOCK <= LARGEST for e in entries),
              f"{url}: the trace does not fit the disk")
        self.micros = {kind: [] for kind in (trace.READ, trace.WRITE, trace.FLUSH)}
        self.errors, self.late = [], []

    def may_send(self, entry):
        """Everything has ended that had ended when this one was recorded."""
        return self.session.has_room and all(other.ended > entry.sent
                                             for other, _ in self.flying.values())

    def send(self, entry, now, due):
        size = entry.blocks * BLOCK
        if entry.kind == trace.READ:
            command = (iscsi.read16(entry.lba, entry.blocks), b"", size)
        elif entry.kind == trace.WRITE:
            at = entry.lba * 4099 % LARGEST
            command = (iscsi.write16(entry.lba, entry.blocks), self.content[at:at + size])
        else:
            command = (iscsi.SYNCHRONIZE_CACHE,)
        self.late.append(now - due)
        begun = time.monotonic()
        self.flying[self.session.submit(*command).itt] = entry, begun

    def receive(self):
        """Works off what has arrived."""
        self.take(self.session.receive())
        while len(self.session.buffer) >= 48:
            self.take(self.session.receive())

    def take(self, pdu):
        session = self.session
        if pdu.opcode == iscsi.R2T:
            session.answer_r2t(pdu)
        elif pdu.opcode == iscsi.NOP_IN:
            session.answer_nop(pdu)
        elif pdu.opcode == iscsi.RESPONSE or (pdu.opcode == iscsi.DATA_IN and pdu.h[1] & 1):
            entry, begun = self.flying.pop(pdu.get(16))
            self.micros[entry.kind].append(round((time.monotonic() - begun) * 1e6))
            command = session.finish(pdu)
            if not command.is_good:
                self.errors.append(f"{entry.kind} of {entry.blocks} blocks at LBA {entry.lba}: "
                                   f"status {command.status}, sense {command.sense.hex()}")
        elif pdu.opcode != iscsi.DATA_IN:
            raise iscsi.Closed(f"unexpected PDU: opcode {pdu.opcode:02x}")

    def run(self):
        started, poll, number = time.monotonic(), select.poll(), 0
        poll.register(self.session.socket, select.POLLIN)
        while number < len(self.entries) or self.flying:
            wait = None
            if number < len(self.entries) and self.may_send(self.entries[number]):
                now, due = time.monotonic() - started, self.entries[number].sent / 1e6
                if now >= due:
                    self.send(self.entries[number], now, due)
                    number += 1
                    continue
                wait = (due - now) * 1000
            if poll.poll(wait):
                self.receive()
        return time.monotonic() - started


def main():
    url, path, number = sys.argv[1:]
    entries = [e for e in trace.load(path)[1] if e.kind != trace.OTHER]
    replay = Replay(url, entries, int(number))
    print("ready", flush=True)
    if not sys.stdin.readline():
        return 1
    seconds = replay.run()
    replay.session.logout()
    print(json.dumps({"seconds": seconds, "micros": replay.micros, "errors": replay.errors,
                      "late": max(replay.late)}), flush=True)
    return 0


if __name__ == "__main__":
    run_main(main)
