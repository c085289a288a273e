#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What ends an old write at a target: measures which answers of a target come only when a write of
a lost I_T nexus can no longer be executed (docs/fences.md). Not a test: it prints a table.

    fences.py TARGET [MEASUREMENT...] [--rounds N] [--slow SECONDS]

TARGET: farblockd, tgtd, istgt, or lio (in the lab's guest: tests/lab/prepare.sh first).
MEASUREMENT: reinstatement, nop, tmf, reservation, silence; default: all but silence, which takes
five minutes. The target's storage takes --slow seconds (3) for a write.

In the table, "answer" is the number of seconds from the request to its final answer, "landed" the
number of seconds from the answer to the moment at which the old write was on the medium: a
positive number means that the answer came too early to be a fence."""

import argparse
import os
import socket
import struct
import sys
import threading
import time

import farblock_path  # noqa: F401: makes tests/lib importable
import fence_targets
import iscsi
import net
from farblock import Failure, Scratch, main

BLOCK, SPAN, LARGE = 512, 1 << 20, 65536
TMF, TMF_RESPONSE = 0x02, 0x22
TASK_FUNCTIONS = {"ABORT TASK SET": 2, "CLEAR TASK SET": 4, "LOGICAL UNIT RESET": 5}
PREEMPTIONS = {"PREEMPT AND ABORT": 5, "PREEMPT": 4}
REGISTRANTS = 5  # Write Exclusive - Registrants Only
GIVE_UP = 90  # seconds for one answer


class Nexus(iscsi.Session):
    """A session that does nothing by itself: it reads only when it is told to."""

    def __init__(self, target, initiator, isid, portal="same", timeout=GIVE_UP):
        host, port = target.portals[portal]
        super().__init__(f"iscsi://{host}:{port}/{target.iqn}/{target.lun}", initiator, isid, timeout,
                         {**fence_targets.KEYS, "FirstBurstLength": "4096", "InitialR2T": "Yes",
                          "MaxBurstLength": "65536"})

    def settle(self):
        """Takes the unit attentions of a new nexus."""
        for _ in range(8):
            if self.run(bytes(6)).is_good:
                return self
        raise Failure("TEST UNIT READY fails")

    def write(self, at, stamp, size):
        """Sends a WRITE, with its first bytes as immediate data."""
        return self.submit(iscsi.write16(at // BLOCK, size // BLOCK), stamp * (size // len(stamp)))

    def await_r2t(self):
        while (pdu := self.receive()).opcode != iscsi.R2T:
            if pdu.opcode != iscsi.NOP_IN:
                raise Failure(f"opcode {pdu.opcode:#x} instead of an R2T")
        return pdu

    def manage(self, function):
        """A task management function; the code of its answer."""
        pdu = iscsi.Pdu(TMF | iscsi.IMMEDIATE, iscsi.FINAL | function)
        pdu.h[9] = self.lun
        self.itt += 1
        self.send(pdu.put(16, self.itt).put(20, iscsi.NO_TAG).put(24, self.cmdsn)
                  .put(28, self.expstatsn))
        while (pdu := self.receive()).opcode != TMF_RESPONSE:
            if pdu.opcode == iscsi.NOP_IN:
                self.answer_nop(pdu)
        self.numbers(pdu)
        return pdu.h[2]

    def reserve(self, action, key, new=0, kind=0):
        """PERSISTENT RESERVE OUT."""
        cdb = bytes((0x5F, action, kind)) + bytes(2) + struct.pack(">I", 24) + bytes(1)
        done = self.run(cdb, struct.pack(">QQ", key, new) + bytes(8))
        if not done.is_good:
            raise Failure(f"PERSISTENT RESERVE OUT {action}: status {done.status:#x} "
                          f"sense {done.sense.hex()}")

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def outcome(self, command, limit):
        """What became of a command: a status, or closed."""
        self.socket.settimeout(limit)
        try:
            while (done := self.wait()) is not command:
                pass
        except TimeoutError:
            return "no answer"
        except KeyError:
            return "odd answer"
        except (iscsi.Closed, OSError):
            return "closed"
        sense = f" {done.sense[2] & 15:x}/{done.sense[12]:02x}" if len(done.sense) > 12 else ""
        return f"status {done.status:02x}{sense}"


class Watch(threading.Thread):
    """Notes when a stamp appears on the medium."""

    def __init__(self, target, at, stamp, size):
        super().__init__(daemon=True)
        self.target, self.at, self.stamp, self.size = target, at, stamp, size
        self.when, self.over = None, threading.Event()
        self.start()

    def run(self):
        while not self.over.wait(0.02):
            try:
                found = self.stamp in self.target.medium(self.at, self.size)
            except (OSError, iscsi.Closed):
                return  # the target has ended
            if found:
                self.when = time.monotonic()
                return

    def landed(self, seconds):
        """When it was there, if it comes within these seconds."""
        self.join(seconds)
        self.over.set()
        self.join()
        return self.when


class Bench:
    """One target, and the places and names that no measurement has used yet."""

    def __init__(self, target, slow):
        self.target, self.slow, self.count = target, slow, 0

    def fresh(self):
        self.count += 1
        name = f"iqn.2025-01.org.farblock:fence{os.getpid()}.{self.count}"
        if hasattr(self.target, "admit"):
            self.target.admit(name)
        return name, self.count % 60 * SPAN, os.urandom(BLOCK)

    def old_write(self, nexus, at, stamp, data):
        """A write whose data is complete, the last of three such, one that owes data, or one still
        to be sent. Returns what finishes it later."""
        if data == "held":
            return lambda: nexus.write(at, stamp, BLOCK)
        for number in (1, 2) if data == "third" else ():
            nexus.write(at + number * SPAN // 8, os.urandom(BLOCK), BLOCK)
        command = nexus.write(at, stamp, self.size(data))
        if data != "incomplete":
            time.sleep(0.3)
            return None
        r2t = nexus.await_r2t()

        def finish():
            nexus.answer_r2t(r2t)
            return command
        return finish

    def size(self, data):
        return LARGE if data == "incomplete" else BLOCK

    def late(self, nexus, finish, at, stamp, watch):
        """Sends what was held back, or a write if nothing was; says what came of it."""
        if not finish:
            stamp, at = os.urandom(BLOCK), at + SPAN // 2
            watch = Watch(self.target, at, stamp, BLOCK)
            finish = lambda: nexus.write(at, stamp, BLOCK)
        try:
            result = nexus.outcome(finish(), 3 * self.slow)
        except (iscsi.Closed, OSError):
            result = "closed"
        return ("EXECUTED" if watch.landed(self.slow + 1.5) else "not executed") + f" ({result})"


def seconds(since, when):
    return "never" if when is None else f"{when - since:+.2f}"


def lose(nexus, event):
    if event == "reset" or event.startswith("reset, "):
        nexus.reset()
    elif event == "fin":
        nexus.close()
    if event.startswith("reset, "):
        time.sleep(1)


def reinstate(bench, portal, event, data, pause=0.2):
    """A login of the same names and ISID after a path was lost."""
    name, at, stamp = bench.fresh()
    old = Nexus(bench.target, name, 1).settle()
    watch = Watch(bench.target, at, stamp, bench.size(data))
    finish = bench.old_write(old, at, stamp, data)
    lose(old, event)
    time.sleep(pause)
    begin = time.monotonic()
    new = Nexus(bench.target, name, 1, portal)
    answer = time.monotonic()
    late = "-"
    if event in ("silent", "nop"):
        late = bench.late(old, finish, at, stamp, watch)
    landed = watch.landed((3 if data == "third" else 1) * bench.slow + 1.5)
    new.logout()
    if event in ("silent", "nop"):
        old.close()
    if finish and event in ("silent", "nop"):
        landed = None  # told by late
    return f"{answer - begin:.2f}", seconds(answer, landed), late


def task_management(bench, function, data):
    """A task management function of another initiator's session."""
    name, at, stamp = bench.fresh()
    old = Nexus(bench.target, name, 1).settle()
    other = Nexus(bench.target, bench.fresh()[0], 2, "other").settle()
    watch = Watch(bench.target, at, stamp, bench.size(data))
    finish = bench.old_write(old, at, stamp, data)
    begin = time.monotonic()
    code = other.manage(TASK_FUNCTIONS[function])
    answer = time.monotonic()
    late = bench.late(old, finish, at, stamp, watch)
    landed = None if finish else watch.landed(bench.slow + 1.5)
    old.close()
    other.close()
    return f"{answer - begin:.2f} (code {code})", seconds(answer, landed), late


def preempt(bench, action, who, data):
    """PREEMPT (AND ABORT) of the lost path's key, by another session of the same initiator through a
    portal, or of another initiator."""
    name, at, stamp = bench.fresh()
    old = Nexus(bench.target, name, 1).settle()
    if who == "another name":
        other = Nexus(bench.target, bench.fresh()[0], 2, "other").settle()
    else:
        other = Nexus(bench.target, name, 2, who).settle()
    old.reserve(6, 0, 0xA)
    other.reserve(6, 0, 0xB)
    other.reserve(1, 0xB, 0, REGISTRANTS)
    watch = Watch(bench.target, at, stamp, bench.size(data))
    finish = bench.old_write(old, at, stamp, data)
    try:
        begin = time.monotonic()
        other.reserve(PREEMPTIONS[action], 0xB, 0xA, REGISTRANTS)
        answer = time.monotonic()
        late = bench.late(old, finish, at, stamp, watch)
        landed = None if finish else watch.landed(3 * bench.slow + 1.5)
        if data != "incomplete":  # after a unit attention, again
            late += "; again: " + bench.late(old, None, at, stamp, None)
    finally:
        watch.landed(0)
        other.reserve(3, 0xB)
        old.close()
        other.logout()
    return f"{answer - begin:.2f}", seconds(answer, landed), late


def silence(bench, wait):
    """A connection that is open and says nothing; then a write arrives on it."""
    name, at, stamp = bench.fresh()
    old = Nexus(bench.target, name, 1).settle()
    watch = Watch(bench.target, at + SPAN // 4, os.urandom(BLOCK), BLOCK)
    time.sleep(wait)
    late = bench.late(old, None, at, stamp, watch)
    watch.landed(0)
    old.close()
    return "-", "-", late


class Table:
    def __init__(self, name, only):
        self.name, self.only = name, only

    def row(self, what, function, *arguments):
        if self.only and self.only not in what:
            return
        try:
            answer, landed, late = function(*arguments)
        except (Failure, iscsi.Closed, OSError) as why:
            answer, landed, late = "failed", "-", str(why).split("\n", maxsplit=1)[0]
        print(f"| {self.name} | {' | '.join(what)} | {answer} | {landed} | {late} |", flush=True)


def all_reinstatements(bench, table, rounds):
    for portal in bench.target.portals:
        for event in ("silent", "reset", "fin", "reset, 1 s ago"):
            for data in ("complete", "third", "incomplete"):
                for _ in range(rounds):
                    table.row(("login, portal: " + portal, event, data), reinstate, bench, portal,
                              event, data)


def all_nops(bench, table, rounds):
    """The target's own NOP-In, 3 s after the last word and without answer for 3 s, ends the session;
    a write is in the storage for 12 s."""
    for portal in bench.target.portals:
        for data in ("complete", "incomplete"):
            for _ in range(rounds):
                table.row(("login, portal: " + portal, "target's NOP-In unanswered", data), reinstate,
                          bench, portal, "nop", data, 8)


def all_tmfs(bench, table, rounds):
    for function in TASK_FUNCTIONS:
        for data in ("complete", "incomplete", "held"):
            for _ in range(rounds):
                table.row((function, "silent", data), task_management, bench, function, data)


def all_reservations(bench, table, rounds):
    groups = [name for name in bench.target.portals if name != "same"]
    for action in PREEMPTIONS:
        for who in (*groups, "another name"):
            for data in ("complete", "third", "incomplete", "held"):
                for _ in range(rounds):
                    table.row((f"{action}, by: {who}", "silent", data), preempt, bench, action, who,
                              data)


def all_silences(bench, table, rounds):
    threads = [threading.Thread(target=table.row, args=(
        ("a write after", f"{wait} s of silence", "held"), silence, bench, wait))
        for wait in (30, 60, 300)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


MEASUREMENTS = {"reinstatement": all_reinstatements, "nop": all_nops, "tmf": all_tmfs,
                "reservation": all_reservations, "silence": all_silences}


def run():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("target", choices=fence_targets.KINDS)
    parser.add_argument("measurement", nargs="*", help=", ".join(MEASUREMENTS))
    parser.add_argument("--data", default="", help="only old writes of this kind")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slow", type=float, default=3)
    asked = parser.parse_args()
    if asked.target == "lio" and not os.environ.get("FARBLOCK_LAB_INSIDE"):
        net.enter([sys.executable, *sys.argv])
    names = asked.measurement or [name for name in MEASUREMENTS if name != "silence"]
    print("| target | request | old path | old write | answer | landed | late bytes |\n"
          "| --- | --- | --- | --- | --- | --- | --- |")
    for name in names:
        slow, nop = (12, (3, 3)) if name == "nop" else (asked.slow, None)
        with Scratch() as scratch, fence_targets.KINDS[asked.target](scratch, slow, nop) as target:
            MEASUREMENTS[name](Bench(target, slow), Table(target.version(), asked.data), asked.rounds)
    return 0


if __name__ == "__main__":
    main(run)
