# SPDX-License-Identifier: BSD-2-Clause
"""Disks that are not in memory: targets that serve files of one file system, and fio, which uses
such a file without a network. What fio reaches is the limit."""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time

import farblock
import iscsi
import peers
from machine import Foreign, cpu_seconds, describe, quietest, save

FIO, BASE = "fio", "tgtd aio"
COLUMNS = [FIO, "fio dsync", BASE, "istgt", "farblockd none", "farblockd writethrough",
           "farblockd writeback"]


def is_measured(column, point):
    """Reads are alike in two modes, and of memory in the third; fio has no point of its own."""
    is_write = point[0].startswith("write")
    return is_write or column not in ("fio dsync", "farblockd none", "farblockd writeback")


class Floor:
    """What farblockd must reach: a ratio to a column, or so much more than it."""

    def __init__(self, key, column, relation, number, is_difference=False):
        self.key, self.column, self.relation = key, column, relation
        self.number, self.is_difference = number, is_difference

    def __str__(self):
        sign = "+" if self.is_difference else "x"
        return f"{self.relation} {self.column} {sign} {self.number:g}"

    def judge(self, value, base):
        limit = base + self.number if self.is_difference else base * self.number
        return value >= limit if self.relation == ">=" else value <= limit


def floors(*rows):
    return [Floor(*row) for row in rows]


READ = "farblockd writethrough"
# Key, title, iscsi_load's arguments, fio's, the column judged, its floors.
POINTS = [
    ("read-qd1", "4 KiB random read, depth 1", ["-q1"], ("randread", 4096, 1), READ,
     floors(("iops", BASE, ">=", 1.6), ("p50_us", FIO, "<=", 80, True))),
    ("read-qd8", "4 KiB random read, depth 8", ["-q8"], ("randread", 4096, 8), READ,
     floors(("iops", BASE, ">=", 1.4), ("iops", FIO, ">=", 0.75))),
    ("read-qd32", "4 KiB random read, depth 32", ["-q32"], ("randread", 4096, 32), READ,
     floors(("iops", BASE, ">=", 1.5), ("iops", FIO, ">=", 0.85),
            ("target_us_per_io", BASE, "<=", 0.35))),
    ("read-32x1", "4 KiB random read, 32 sessions of depth 1", ["-q1", "-c32"],
     ("randread", 4096, 32), READ, []),
    ("read-128k", "128 KiB random read, depth 32", ["-q32", "-b131072"],
     ("randread", 131072, 32), READ, floors(("mbps", FIO, ">=", 0.95))),
    ("write-none", "4 KiB random write, depth 32, cache=none", ["-q32", "-w"],
     ("randwrite", 4096, 32),
     "farblockd none", floors(("iops", FIO, ">=", 0.85))),
    ("write-through", "4 KiB random write, depth 32, cache=writethrough", ["-q32", "-w"],
     ("randwrite", 4096, 32), "farblockd writethrough",
     floors(("iops", "fio dsync", ">=", 0.85))),
]


class LocalFio:
    """fio on the file itself, on the target's CPU; it sleeps while it waits."""

    def __init__(self, name, path, options):
        self.name, self.path, self.options, self.pid = name, path, options, None

    def sample(self, point, seconds):
        operation, size, depth = point[3]
        done = subprocess.run(
            ["fio", "--name=x", f"--filename={self.path}", f"--size={self.options.size}",
             "--direct=1", "--ioengine=io_uring", f"--rw={operation}", f"--bs={size}",
             f"--iodepth={depth}", "--time_based", f"--runtime={seconds}", "--ramp_time=0.3",
             f"--cpus_allowed={self.options.target_cpu}", "--output-format=json",
             *(["--sync=dsync"] if "dsync" in self.name else [])],
            capture_output=True, text=True, timeout=seconds * 4 + 60)
        if done.returncode:
            raise farblock.Failure(f"fio: {done.stderr.strip()}")
        job = json.loads(done.stdout)["jobs"][0]
        side = job["write" if "write" in operation else "read"]
        return {"iops": side["iops"], "mbps": side["bw_bytes"] / 1e6,
                "p50_us": side["clat_ns"]["percentile"]["50.000000"] / 1000,
                "target_us_per_io": (job["usr_cpu"] + job["sys_cpu"]) * 1e4 / side["iops"]}

    def resume(self):
        pass

    pause = resume


class ServedFile:
    """A target, measured with iscsi_load from the client's CPU."""

    def __init__(self, name, process, options):
        self.name, self.process, self.options = name, process, options

    @property
    def pid(self):
        return self.process.pid

    def sample(self, point, seconds):
        done = farblock.run(["iscsi_load", f"-C{self.options.client_cpu}", f"-P{self.pid}",
                             f"-t{seconds}", *point[2], self.process.url])
        return json.loads(done.stdout)

    def resume(self):
        self.process.resume()

    def pause(self):
        self.process.pause()


class OurTarget(farblock.Farblockd):
    def __init__(self, scratch, path, options, mode):
        config = farblock.Config()
        disk = config.storage("fileio", "f0", {"emulate_write_cache": int(mode != "writethrough")},
                              dev=path, size=options.size, cache=mode)
        self.target = config.target(luns=[disk])
        super().__init__(scratch, config, f"farblockd-{mode}", cpus=(options.target_cpu,))

    @property
    def url(self):
        return self.target.url()


def fill(path, size):
    """A file whose blocks are all allocated and written."""
    with open(path, "wb") as out:
        for _ in range(size >> 20):
            out.write(os.urandom(1 << 20))
        out.flush()
        os.fsync(out.fileno())


def start(name, scratch, stack, options):
    """A target that is paused, or None if it is not installed."""
    path = scratch.file(name.replace(" ", "-") + ".img")
    fill(path, options.size)
    try:
        if name.startswith(FIO):
            farblock.program("fio")
            return LocalFio(name, path, options)
        if name.startswith("farblockd"):
            process = OurTarget(scratch, path, options, name.split()[1])
        else:
            process = peers.by_name(name, scratch, options.size, {options.target_cpu})
        stack.enter_context(process)
    except farblock.Skip as why:
        print(f"  not measured: {name}: {why}", file=sys.stderr)
        return None
    process.pause()
    return ServedFile(name, process, options)


def sample_once(target, point, options):
    target.resume()
    foreign = Foreign([target.pid] if target.pid else [])
    sample = target.sample(point, options.secs)
    sample["foreign_cores"] = 0 if target.pid is None else foreign.cores()
    target.pause()
    return sample


def measure(targets, points, options):
    samples = []
    for point in points:
        for round_ in range(options.rounds):
            for target in targets:
                if not is_measured(target.name, point):
                    continue
                one = quietest(lambda: sample_once(target, point, options), options)
                samples.append({"point": point[0], "target": target.name, "round": round_, **one})
                print(f"  {point[0]:13s} {target.name:22s} {one['iops']:10.0f} IOPS"
                      f" {one['mbps']:8.1f} MB/s {one['p50_us']:7.1f} us p50"
                      f" {one['target_us_per_io']:6.2f} us/IO", file=sys.stderr, flush=True)
    return samples


def values(samples, point, column, key):
    return [s[key] for s in samples if s["point"] == point and s["target"] == column]


def cell(samples, point, column):
    iops = values(samples, point[0], column, "iops")
    if not iops:
        return ""
    scale, unit, key = (1e3, "GB/s", "mbps") if point[3][1] > 65536 else (1e3, "k", "iops")
    shown = [v / scale for v in values(samples, point[0], column, key)]
    text = f"{statistics.median(shown):.2f} {unit} [{min(shown):.2f}-{max(shown):.2f}]"
    p50, cpu = (statistics.median(values(samples, point[0], column, k))
                for k in ("p50_us", "target_us_per_io"))
    return f"{text}, p50 {p50:.0f} us, CPU {cpu:.1f} us"


def verdicts(samples, point):
    out = []
    for floor in point[5]:
        ours, base = (values(samples, point[0], column, floor.key)
                      for column in (point[4], floor.column))
        if not ours or not base:
            continue
        ours, base = statistics.median(ours), statistics.median(base)
        met = "met" if floor.judge(ours, base) else "missed"
        has = f"+ {ours - base:.0f}" if floor.is_difference else f"{ours / base:.2f} x"
        out.append(f"{floor.key} {floor}: {has}, {met}")
    return "<br>".join(out)


def report(samples, names, points, options):
    print("| | " + " | ".join(names) + " | farblockd must reach |")
    print("|---" * (len(names) + 2) + "|")
    for point in points:
        print(f"| {point[1]} | " + " | ".join(cell(samples, point, n) for n in names) +
              f" | {verdicts(samples, point)} |")
    noisy = sum(s["foreign_cores"] > options.max_foreign for s in samples)
    print(f"\n{describe()}; target on CPU {options.target_cpu}, client on CPU "
          f"{options.client_cpu}; {options.rounds} rounds of {options.secs:g} s, files of "
          f"{options.size >> 20} MiB; {noisy} of {len(samples)} samples "
          f"disturbed by others.")
    save(samples, options)


def idle_cores(target, options):
    """What 32 sessions cost that are logged in and do nothing."""
    done = farblock.run(["iscsi_load", f"-C{options.client_cpu}", f"-P{target.pid}", "-t3", "-I",
                         "-c32", target.process.url])
    return json.loads(done.stdout.splitlines()[-1])["target_cores"]  # after "logged in"


def cores_after(target, _options):
    """What a session costs from 100 ms after the last of its reads on, which kept it polling."""
    session = iscsi.Session(target.process.url)
    session.ready()
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        session.run(iscsi.read16(0, 8), read_len=4096)
    time.sleep(0.1)
    before = cpu_seconds(target.pid)
    time.sleep(1)
    cores = cpu_seconds(target.pid) - before
    session.logout()
    return cores


def busy_cores(target, options):
    return target.sample(next(p for p in POINTS if p[0] == "read-qd1"), options.secs)["target_cores"]


# What waiting may cost, in CPUs.
RESTS = [("32 sessions that do nothing", idle_cores, 0.001),
         ("one session, reads at depth 1", busy_cores, 1.001),
         ("one session, in the second from 100 ms after its last read", cores_after, 0.001)]


def report_rests(target, options):
    """The largest of all rounds."""
    print("\n| farblockd writethrough | CPUs | at most |\n|---|---|---|")
    target.resume()
    for title, measure_cores, limit in RESTS:
        cores = max(measure_cores(target, options) for _ in range(options.rounds))
        print(f"| {title} | {cores:.4f} | {limit:g}: {'met' if cores <= limit else 'missed'} |")
    target.pause()


def run(options):
    names = options.targets.split(",") if options.targets else COLUMNS
    points = [p for p in POINTS if not options.only or p[0] in options.only.split(",")]
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(farblock.Scratch(parent=options.folder or farblock.BUILD))
        targets = [t for t in (start(n, scratch, stack, options) for n in names) if t]
        samples = measure(targets, points, options)
        report(samples, [t.name for t in targets], points, options)
        for target in targets:
            if target.name == READ and not options.only:
                report_rests(target, options)
    return 0
