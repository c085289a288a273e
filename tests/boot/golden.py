#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Machines that start at once from one image, each with an overlay of its own, all on one farblockd:
some in QEMU, the others replayed by a client from the recorded commands of one that was started.

    golden.py [--machines 2] [--replays 8] [--way tcp-san-initrd] [--trace FILE]

Prints one table: one alone beside all at once. Fails if a machine does not come to its login prompt, a
replayed command fails, the image changes, or `reset` does not empty an overlay. Needs prepare.sh to have
run. FILE keeps the recorded commands; if it is there, nothing is recorded."""

import argparse
import contextlib
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import threading
import time

import farblock_path
import boot_trace as trace
from boot import WAYS
from farblock import (LIBC, Config, Failure, Farblockd, Scratch, Shell, check, eventually,
                      free_port, main as run_main)
from machine import HOST, INITIATOR, root_image
from target import IQN

MIB = 1 << 20
EMPTY = MIB  # bytes that an overlay may have on the disk after a reset: its header and maps
PAUSE = 0.25  # seconds between two looks at farblockd's memory
PROMPT, MOUNTED = "farroot login:", r"EXT4-fs \(.*mounted filesystem"


def bench_machine():
    """tests/bench/machine.py, whose name the module of this folder has, too."""
    path = os.path.join(farblock_path.HERE, "..", "bench", "machine.py")
    spec = importlib.util.spec_from_file_location("bench_machine", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BENCH = bench_machine()


def checksum(path):
    with open(path, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


class Usage(threading.Thread):
    """What farblockd uses in a phase: memory at most (RSS, PSS), CPU, bytes read from the disk."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.over, self.rss, self.pss = pid, threading.Event(), 0, 0
        self.cpu, self.disk = BENCH.cpu_seconds(pid), self.disk_bytes()
        self.begun, self.ours, self.all = time.monotonic(), self.own_seconds(), self.busy_seconds()

    def own_seconds(self):
        """CPU time of this process, of the children that it has waited for, and of farblockd."""
        return sum(os.times()[:4]) + BENCH.cpu_seconds(self.pid)

    @staticmethod
    def busy_seconds():
        """CPU time of the machine that was not idle; also what a hypervisor gave to others."""
        with open("/proc/stat", encoding="ascii") as lines:
            user, nice, system, _, _, *rest = map(int, lines.readline().split()[1:9])
        return (user + nice + system + sum(rest)) / BENCH.TICKS

    def disk_bytes(self):
        with open(f"/proc/{self.pid}/io", encoding="ascii") as lines:
            return int(dict(line.split(": ") for line in lines)["read_bytes"])

    @staticmethod
    def memory(pid):
        """(RSS, PSS) in bytes. The page cache is in neither."""
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as lines:
            rows = dict(line.split(":", 1) for line in list(lines)[1:])
        return tuple(int(rows[key].split()[0]) * 1024 for key in ("Rss", "Pss"))

    def run(self):
        while True:
            try:
                rss, pss = self.memory(self.pid)
            except (OSError, KeyError):
                return  # it has ended, which the replays and machines notice
            self.rss, self.pss = max(self.rss, rss), max(self.pss, pss)
            if self.over.wait(PAUSE):
                return

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, *_):
        self.over.set()
        self.join()
        if kind:
            return
        check(os.path.exists(f"/proc/{self.pid}/exe"), "farblockd has ended")
        ours, busy = self.own_seconds() - self.ours, self.busy_seconds() - self.all
        self.foreign_cores = (busy - ours) / (time.monotonic() - self.begun)
        self.cpu, self.disk = BENCH.cpu_seconds(self.pid) - self.cpu, self.disk_bytes() - self.disk


class Seat:
    """A disk over the image and the target that has it, as Root of target.py."""

    def __init__(self, farm, number):
        self.farm, self.name, self.port = farm, f"m{number}", farm.port
        self.iqn, self.path = f"{IQN}:{self.name}", farm.scratch.file(f"{self.name}.ov")
        shell, group = farm.shell, f"/iscsi/{IQN}:{self.name}/tpg1"
        shell("/backstores/fileio", "create", self.name, self.path, f"base={farm.image}",
              "overlay=map")
        shell("/iscsi", "create", self.iqn)
        shell(group, "set", "attribute", "authentication=0", "generate_node_acls=1",
              "demo_mode_write_protect=0")
        shell(f"{group}/portals", "create", "127.0.0.1", str(self.port))
        shell(f"{group}/luns", "create", f"/backstores/fileio/{self.name}")

    @property
    def place(self):
        return f"{HOST}:6:{self.port}:0:{self.iqn}"

    def ipxe(self, verb="sanboot"):
        drive = "" if verb == "sanboot" else "--drive 0x80 "
        return (f"set initiator-iqn {INITIATOR}\n"
                f"{verb} {drive}iscsi:{HOST}::{self.port}:0:{self.iqn}\n")

    def url(self):
        return f"iscsi://127.0.0.1:{self.farm.port}/{self.iqn}/0"

    def size(self):
        return os.stat(self.path).st_blocks * 512

    def reset(self):
        self.farm.shell(f"/backstores/fileio/{self.name}", "reset", "confirm=true",
                        text="is as its base")


class Farm:
    """farblockd, the image, and the seats."""

    def __init__(self, scratch, way, count):
        self.scratch, self.way, self.port = scratch, way, free_port()
        self.image = scratch.file("golden.img")
        subprocess.run(["cp", "--sparse=always", "--reflink=auto", root_image(), self.image],
                       check=True)
        self.checksum = checksum(self.image)
        self.daemon = Farblockd(scratch, Config(), name="golden-farblockd")
        self.shell, self.seats, self.count = Shell(self.daemon), [], count

    def __enter__(self):
        self.daemon.__enter__()
        self.empty = Usage.memory(self.daemon.pid)
        self.shell("set", "global", "auto_add_default_portal=false")
        self.seats = [Seat(self, number) for number in range(self.count)]
        self.idle = Usage.memory(self.daemon.pid)
        return self

    def __exit__(self, *why):
        return self.daemon.__exit__(*why)

    def wait_idle(self):
        eventually("the end of all sessions", lambda: not self.daemon.rpc("session.list"))

    def reset(self):
        """Resets all; returns the largest overlay after that and the seconds of the longest."""
        self.wait_idle()
        longest = 0
        for seat in self.seats:
            begun = time.monotonic()
            seat.reset()
            longest = max(longest, time.monotonic() - begun)
        return max(seat.size() for seat in self.seats), longest

    def forget(self):
        """Takes the image out of the page cache, so that a phase reads it from the disk."""
        with open(self.image, "rb") as image:
            os.fsync(image.fileno())
            os.posix_fadvise(image.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class Replays:
    """The clients that replay the trace, a process each."""

    def __init__(self, farm, seats, path):
        self.processes = []
        for seat in seats:
            number = farm.seats.index(seat) + 1
            with open(farm.scratch.file(f"replay{number}.log"), "ab") as log:
                self.processes.append(subprocess.Popen(
                    [sys.executable, os.path.join(farblock_path.HERE, "replay.py"), seat.url(),
                     path, str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                    stderr=log, preexec_fn=lambda: LIBC.prctl(1, 9)))
        self.logs = [farm.scratch.file(f"replay{farm.seats.index(s) + 1}.log") for s in seats]

    def __enter__(self):
        for process, log in zip(self.processes, self.logs):
            if process.stdout.readline() != "ready\n":
                self.fail(log)
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()

    @staticmethod
    def fail(log):
        with open(log, encoding="utf-8", errors="replace") as text:
            raise Failure(f"a replay ended: {text.read()[-1000:].strip()}")

    def begin(self):
        for process in self.processes:
            process.stdin.write("go\n")
            process.stdin.flush()

    def results(self):
        """Of each; waits for their end."""
        found = []
        for process, log in zip(self.processes, self.logs):
            line = process.stdout.readline()
            if not line:
                self.fail(log)
            found.append(json.loads(line))
        return found


def record(farm, path):
    """Starts a machine through the relay and saves what it does until its prompt."""
    seat = farm.seats[0]
    recorder = trace.Recorder(("127.0.0.1", farm.port))
    seat.port = recorder.port
    with farm.way.machine(farm.scratch, seat, name="recorded") as machine:
        recorder.begin()
        prompt = machine.wait_for(PROMPT)
        entries = recorder.end()
    seat.port = farm.port
    trace.save(path, {"image": farm.checksum, "seconds": prompt}, entries)
    farm.reset()


def recorded(farm, path):
    if not os.path.exists(path):
        print("# a machine is recorded", flush=True)
        record(farm, path)
    about, entries = trace.load(path)
    check(about["image"] == farm.checksum, f"{path}: is of another image (remove it)")
    return about, entries


class Phase:
    """So many machines and replays at once, and what came of them."""

    def __init__(self, farm, machines, replays, path, name):
        print(f"# {name}: {len(machines)} in QEMU, {len(replays)} replayed", flush=True)
        farm.forget()
        # iPXE's folder and the console are named after the machine.
        waiting = [farm.way.machine(farm.scratch, seat, name=f"{name}-{seat.name}")
                   for seat in machines]
        with contextlib.ExitStack() as stack:
            # First, so that it ends when all children have been waited for.
            self.usage = stack.enter_context(Usage(farm.daemon.pid))
            clients = stack.enter_context(Replays(farm, replays, path))
            clients.begin()
            running = [stack.enter_context(machine) for machine in waiting]
            self.mounted = [machine.wait_for(MOUNTED) for machine in running]
            self.prompts = [machine.wait_for(PROMPT) for machine in running]
            self.replays = clients.results()
        farm.wait_idle()
        self.sizes = [seat.size() for seat in machines + replays]

    def micros(self, kind):
        return sorted(us for replay in self.replays for us in replay["micros"][kind])

    def latency(self, kind):
        """p50, p99 and the most, as text."""
        values = self.micros(kind)
        if not values:
            return ""
        at = (len(values) // 2, len(values) * 99 // 100, len(values) - 1)
        return " / ".join(f"{values[i] / 1000:.2f}" for i in at)

    @property
    def errors(self):
        return [error for replay in self.replays for error in replay["errors"]]


def mib(*values):
    return " / ".join(f"{value / MIB:.1f}" for value in values)


def seconds(values):
    return ", ".join(f"{value:.0f}" for value in values)


def rows(phases):
    """(what, its value in each phase)"""
    for title, of in (("root file system mounted, s after power-on", "mounted"),
                      ("login prompt, s after power-on", "prompts")):
        yield title, [seconds(getattr(phase, of)) for phase in phases]
    for kind in (trace.READ, trace.WRITE, trace.FLUSH):
        if not phases[-1].micros(kind):
            continue
        yield (f"replayed {kind}: number", [len(phase.micros(kind)) or "" for phase in phases])
        yield (f"replayed {kind}: p50 / p99 / longest, ms",
               [phase.latency(kind) for phase in phases])
    yield ("replay: seconds to its end", [seconds(sorted({round(r["seconds"]) for r in
                                                  phase.replays})) for phase in phases])
    yield ("replay: longest delay of a command behind its recorded time, ms", [
        f"{1000 * max(r['late'] for r in phase.replays):.0f}" if phase.replays else ""
        for phase in phases])
    yield "farblockd: CPU, s", [f"{phase.usage.cpu:.1f}" for phase in phases]
    yield ("farblockd: largest memory, RSS / PSS, MiB", [
        mib(phase.usage.rss, phase.usage.pss) for phase in phases])
    yield "farblockd: read from the disk, MiB", [mib(phase.usage.disk) for phase in phases]
    yield ("overlays on the disk: smallest / largest, MiB", [
        mib(min(phase.sizes), max(phase.sizes)) if phase.sizes else "" for phase in phases])
    yield f"CPUs that others used, of {os.cpu_count()}", [
        f"{phase.usage.foreign_cores:.2f}" for phase in phases]


def describe_trace(about, entries):
    counts = {kind: [e for e in entries if e.kind == kind]
              for kind in (trace.READ, trace.WRITE, trace.FLUSH, trace.OTHER)}
    text = ", ".join(f"{len(found)} {kind}" for kind, found in counts.items())
    moved = [sum(e.blocks for e in counts[kind]) * 512 for kind in (trace.READ, trace.WRITE)]
    return (f"recorded: {about['seconds']:.0f} s to the prompt; commands: {text}; "
            f"{mib(*moved)} MiB read and written")


def measure(options):
    count, wrong = options.machines + options.replays, []
    with Scratch(parent=options.folder) as scratch, \
            Farm(scratch, WAYS[options.way], count) as farm:
        path = options.trace or scratch.file("trace.gz")
        about, entries = recorded(farm, path)
        machines, replays = farm.seats[:options.machines], farm.seats[options.machines:]
        alone_machine = Phase(farm, machines[:1], [], path, "machine")
        farm.reset()
        alone_replay = Phase(farm, [], replays[:1], path, "replay")
        farm.reset()
        both = Phase(farm, machines, replays, path, "at-once")
        after = Usage.memory(farm.daemon.pid)
        left, longest = farm.reset()
        if left > EMPTY:
            wrong.append(f"after reset an overlay has {left} bytes on the disk")
        if checksum(farm.image) != farm.checksum:
            wrong.append("the image has changed")
        wrong += alone_replay.errors + both.errors
        print(f"\n| | one machine | one replay | {len(machines)} machines and {len(replays)} "
              "replays |\n|---|---|---|---|")
        for title, values in rows((alone_machine, alone_replay, both)):
            print("|", " | ".join(map(str, (title, *values))), "|")
        print(f"\n{describe_trace(about, entries)}.\nfarblockd's memory, RSS / PSS in MiB: without "
              f"disks {mib(*farm.empty)}, with {count} disks {mib(*farm.idle)}, after all "
              f"sessions have ended {mib(*after)}.\nreset of all {count}: at most "
              f"{1000 * longest:.0f} ms for one; the largest overlay has {left // 1024} KiB on the "
              f"disk after it.\n{BENCH.describe()}; {options.way}.", flush=True)
    check(not wrong, "; ".join(wrong[:10]))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machines", type=int, default=2)
    parser.add_argument("--replays", type=int, default=8)
    parser.add_argument("--way", default="tcp-san-initrd", choices=sorted(
        name for name in WAYS if name.startswith("tcp-") and not WAYS[name].target))
    parser.add_argument("--trace", metavar="FILE")
    parser.add_argument("--folder", help="for the image's copy and the overlays")
    return measure(parser.parse_args())


if __name__ == "__main__":
    run_main(main)
