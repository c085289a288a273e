#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures iSCSI targets side by side: farblockd, the peers that are installed, and raw TCP.

Each serves a RAM-backed LUN on loopback from one CPU; clients run on another. Every point is
measured once a round on each target in turn (A B C A B C); targets not being measured are
stopped with SIGSTOP, those started here only. A sample during which other processes or the
hypervisor used the machine is repeated, and counted below the table if it stayed so. Prints one Markdown table:
medians, [smallest-largest], ratios to tgtd aio, and the floor farblockd has to reach.
"""

import argparse
import contextlib
import json
import math
import os
import re
import resource
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import farblock  # noqa: E402
import disks  # noqa: E402
import peers  # noqa: E402
import scale  # noqa: E402
import tree  # noqa: E402
from machine import Foreign, cpu_seconds, describe, quietest, save  # noqa: E402

MIB = 1 << 20
BASE = "tgtd aio"
TARGETS = [BASE, "tgtd rdwr", "istgt", "SPDK", "farblockd", "TCP sleeping", "TCP spinning"]
IDLE_SESSIONS, IDLE_SECONDS = 32, 10


class Metric:
    """One line of the table: a figure of a point, and what farblockd must reach."""

    def __init__(self, key, unit, floor=None, is_ratio=True):
        self.key, self.unit, self.is_ratio = key, unit, is_ratio
        self.relation, self.floor = (floor[:2], float(floor[2:])) if floor else (None, None)

    def show(self, value):
        if self.unit == "IOPS":
            return f"{value / 1000:.1f} k" if value >= 10000 else f"{value:.0f}"
        if self.unit == "GB/s":
            return f"{value / 1000:.2f}"
        return f"{value:.3f}" if self.unit == "cores" else f"{value:.2f}"

    def is_met(self, value):
        return value >= self.floor if self.relation == ">=" else value <= self.floor

    def must(self):
        if not self.relation:
            return ""
        return f"{self.relation} {self.floor:g}" + (" x" if self.is_ratio else "")


IOPS = lambda floor=None: Metric("iops", "IOPS", floor)
GBPS = lambda floor=None: Metric("mbps", "GB/s", floor)
PERF = ["iscsi-perf"]

# Key, title, client's arguments (or the client), metrics with the floors of the design.
POINTS = [
    ("read-qd1", "4 KiB random read, depth 1, client sleeps", ["-q1"], [IOPS(">=2.8")]),
    ("read-qd32", "4 KiB random read, depth 32", ["-q32"],
     [IOPS(">=9.5"), Metric("target_us_per_io", "CPU us/IO", "<=0.10")]),
    ("write-qd32", "4 KiB random write, depth 32", ["-q32", "-w"], [IOPS(">=10")]),
    ("read-4x32", "4 KiB random read, 4 sessions of depth 32", ["-q32", "-c4"], [IOPS(">=9.5")]),
    ("read-32x1", "4 KiB random read, 32 sessions of depth 1", ["-q1", "-c32"], [IOPS(">=2")]),
    ("seqread", "128 KiB sequential read, depth 32", ["-q32", "-s", "-b131072"], [GBPS(">=4")]),
    ("seqwrite", "128 KiB sequential write, depth 32", ["-q32", "-s", "-w", "-b131072"],
     [GBPS(">=6")]),
    ("rate-10k", "10,000 4 KiB reads/s offered", ["-q32", "-r10000", "-p"],
     [Metric("target_cores", "cores", "<=0.6"), Metric("p50_us", "p50 us", "<=0.6")]),
    ("idle", f"idle, {IDLE_SESSIONS} sessions logged in", ["-I", f"-c{IDLE_SESSIONS}"],
     [Metric("target_cores", "cores", "<=0.01", is_ratio=False)]),
    ("perf-qd1", "iscsi-perf: 4 KiB random read, depth 1", PERF + ["-r", "-m1", "-b8"], [IOPS()]),
    ("perf-qd32", "iscsi-perf: 4 KiB random read, depth 32", PERF + ["-r", "-m32", "-b8"],
     [IOPS(), Metric("target_us_per_io", "CPU us/IO")]),
    ("perf-seqread", "iscsi-perf: 128 KiB sequential read, depth 32", PERF + ["-m32", "-b256"],
     [GBPS()]),
]


class OurTarget(farblock.Farblockd):
    """farblockd as one more column."""

    def __init__(self, scratch, size, cpus):
        config = farblock.Config()
        self.target = config.target(luns=[config.ramdisk("rd0", size)])
        super().__init__(scratch, config, cpus=cpus)

    @property
    def url(self):
        return self.target.url()


def iscsi_load(target, arguments, options, seconds):
    command = [farblock.program("iscsi_load"), f"-C{options.client_cpu}", f"-P{target.pid}",
               f"-t{seconds}", *arguments, target.url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds * 4 + 120)
    if done.returncode:
        raise farblock.Failure(f"{target.name}: {' '.join(arguments)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def wait_busy(pid, timeout=10):
    """Until a process works: a peer may take its time over a login."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        before = cpu_seconds(pid)
        time.sleep(0.05)
        if cpu_seconds(pid) - before > 0.005:
            return


def wait_idle(pid, timeout=15):
    """Until a process has rested for a second: what it still does with what was written to it,
    such as creating huge pages, does not count for the first sample."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        before = cpu_seconds(pid)
        time.sleep(1.5)
        if cpu_seconds(pid) - before < 0.01:
            return


def iscsi_perf(target, arguments, options, seconds):
    """The target's clock is read over the middle of the run."""
    command = [farblock.program("iscsi-perf"), *arguments, f"-t{math.ceil(seconds) + 1}",
               target.url]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {options.client_cpu}))
    try:
        wait_busy(target.pid)
        used, begin = cpu_seconds(target.pid), time.monotonic()
        time.sleep(seconds)
        cores = (cpu_seconds(target.pid) - used) / (time.monotonic() - begin)
        output = process.communicate(timeout=60)[0]
    finally:
        process.kill()
        process.wait()
    averages = re.findall(r"iops average (\d+)", output)
    if not averages or not int(averages[-1]):
        raise farblock.Failure(f"{target.name}: iscsi-perf: {output[-300:]}")
    iops, blocks = int(averages[-1]), int(arguments[-1][2:])
    return {"iops": iops, "mbps": iops * blocks * 512 / 1e6, "target_cores": cores,
            "target_us_per_io": cores * 1e6 / iops}


def sample_once(target, arguments, options, seconds):
    target.resume()
    foreign = Foreign([target.pid])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if arguments[0] == PERF[0]:
        sample = iscsi_perf(target, arguments[1:], options, seconds)
    else:
        sample = iscsi_load(target, arguments, options, seconds)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    sample["client_seconds"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    sample["foreign_cores"] = foreign.cores()
    target.pause()
    return sample


def sample(target, point, options):
    key, _, arguments, _ = point
    seconds = IDLE_SECONDS if key == "idle" and not options.quick else options.secs
    best = quietest(lambda: sample_once(target, arguments, options, seconds), options)
    print(f"  {key:13s} {target.name:13s} {best.get('iops', 0):10.0f} IOPS"
          f" {best.get('target_us_per_io', 0):8.2f} us/IO {best['target_cores']:6.3f} cores"
          f" {best.get('p50_us', 0):7.1f} us p50, others {best['foreign_cores']:.2f}",
          file=sys.stderr, flush=True)
    return best


def can_measure(target, point):
    key, _, arguments, _ = point
    return not (isinstance(target, peers.TcpLimit) and (key == "idle" or arguments[0] == PERF[0]))


def measure(targets, options):
    """Every sample, and what went wrong: a target that fails a point loses that point only."""
    samples, failures = [], []
    for point in options.points:
        for round_ in range(options.rounds):
            for target in targets:
                if not target.is_running() or not can_measure(target, point):
                    continue
                try:
                    samples.append({"point": point[0], "target": target.name, "round": round_,
                                    **sample(target, point, options)})
                except (farblock.Failure, subprocess.TimeoutExpired) as why:
                    failures.append(f"{point[0]}: {why}")
                    print(f"  FAILED: {failures[-1]}", file=sys.stderr, flush=True)
                    target.pause()
    failures += [f"{t.name}: ended: {t.log()[-1000:]}" for t in targets if not t.is_running()]
    return samples, failures


def prepare(target, options):
    """Every byte of the LUN is written once, so that reads find memory, and read back: what
    is measured afterwards is known to return the right data."""
    if isinstance(target, peers.TcpLimit):
        return
    whole = ["-b131072", "-q8", "-s", "-v", f"-n{options.size // 131072}", "-u0"]
    iscsi_load(target, [*whole, "-w"], options, 60)
    iscsi_load(target, whole, options, 60)
    wait_idle(target.pid)


def start(name, scratch, stack, options):
    """A started, filled and paused target, or None when the machine does not have it."""
    try:
        if name == "farblockd":
            farblock.program(name)
            target = OurTarget(scratch, options.size, (options.target_cpu,))
        else:
            target = peers.by_name(name, scratch, options.size, {options.target_cpu})
        stack.enter_context(target)
    except farblock.Skip as why:
        print(f"  not measured: {name}: {why}", file=sys.stderr)
        return None
    prepare(target, options)
    target.pause()
    return target


def values(samples, point, target, key):
    return [s[key] for s in samples
            if s["point"] == point and s["target"] == target and key in s]


def cell(metric, numbers, base):
    if not numbers:
        return ""
    middle = statistics.median(numbers)
    text = metric.show(middle)
    if len(numbers) > 1:
        text += f" [{metric.show(min(numbers))}-{metric.show(max(numbers))}]"
    if base and metric.is_ratio:
        text += f" {middle / base:.2f} x"
    return text


def verdict(metric, ours, base):
    """Met, or by how much it was missed; empty when there is nothing to compare."""
    if not ours or metric.relation is None or (metric.is_ratio and not base):
        return ""
    value = statistics.median(ours) / (base if metric.is_ratio else 1)
    if metric.is_met(value):
        return "met"
    return f"missed: {value:.3g} of {metric.floor:g}"


def table(samples, names, points):
    lines = ["| | unit | " + " | ".join(names) + " | farblockd must reach | |",
             "|---" * (len(names) + 4) + "|"]
    for key, title, _, metrics in points:
        for metric in metrics:
            base = values(samples, key, BASE, metric.key)
            base = statistics.median(base) if base else None
            cells = [cell(metric, values(samples, key, name, metric.key), base)
                     for name in names]
            ours = values(samples, key, "farblockd", metric.key)
            lines.append(f"| {title} | {metric.unit} | " + " | ".join(cells) +
                         f" | {metric.must()} | {verdict(metric, ours, base)} |")
    return "\n".join(lines)


def report(samples, names, options):
    noisy = [s for s in samples if s["foreign_cores"] > options.max_foreign]
    print(table(samples, names, options.points))
    print(f"\n{describe()}; target on CPU {options.target_cpu}, clients on CPU "
          f"{options.client_cpu}; {options.rounds} rounds of {options.secs:g} s, "
          f"LUN {options.size // MIB} MiB; {len(noisy)} of {len(samples)} samples disturbed by "
          f"others (more than {options.max_foreign:g} of a core).")
    save(samples, options)


def compare(options):
    names = options.targets.split(",") if options.targets else TARGETS
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(farblock.Scratch(in_memory=True))
        started = [start(name, scratch, stack, options) for name in names]
        targets = [t for t in started if t]
        if not targets:
            raise farblock.Skip("none of the targets is installed")
        samples, failures = measure(targets, options)
    report(samples, [t.name for t in targets], options)
    for failure in failures:
        print(f"\nFAILED: {failure}")
    return 1 if failures else 0


def choose_points(only):
    if not only:
        return POINTS
    wanted = only.split(",")
    unknown = set(wanted) - {p[0] for p in POINTS}
    if unknown:
        sys.exit(f"run.py: {', '.join(unknown)}: no such point "
                 f"({', '.join(p[0] for p in POINTS)})")
    return [p for p in POINTS if p[0] in wanted]


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    cpus = sorted(os.sched_getaffinity(0))
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--only", help="points, comma separated")
    parser.add_argument("--targets", help=f"comma separated ({', '.join(TARGETS)})")
    parser.add_argument("--rounds", type=int, default=None, help="3, quick: 1")
    parser.add_argument("--secs", type=float, default=None, help="a sample: 3, quick: 1")
    parser.add_argument("--size", type=int, default=256, help="LUN in MiB")
    parser.add_argument("--target-cpu", type=int, default=cpus[0])
    parser.add_argument("--client-cpu", type=int, default=cpus[min(1, len(cpus) - 1)])
    parser.add_argument("--retries", type=int, default=None, help="of a disturbed sample: 3")
    parser.add_argument("--max-foreign", type=float, default=0.08, help="cores")
    parser.add_argument("--json", metavar="FILE", help="every sample")
    parser.add_argument("--build", metavar="DIR", help=f"default {farblock.BUILD}")
    parser.add_argument("--scale", action="store_true",
                        help="1,000 connections and 1,000 LUNs against one, instead")
    parser.add_argument("--disks", action="store_true",
                        help="files of a real disk beside fio, instead")
    parser.add_argument("--folder", metavar="DIR", help="of these files; default: the build's")
    parser.add_argument("--tree", action="store_true",
                        help="what the configuration costs with many LUNs, instead")
    parser.add_argument("--luns", type=int, default=10000, help="of --tree")
    options = parser.parse_args()
    options.points = [] if options.disks else choose_points(options.only)
    if options.build:
        farblock.BUILD = os.path.abspath(options.build)
    for name, slow, fast in (("rounds", 3, 1), ("secs", 3, 1), ("retries", 3, 0)):
        if getattr(options, name) is None:
            setattr(options, name, fast if options.quick else slow)
    options.size *= MIB
    return options


def main():
    options = parse()
    if options.tree:
        return tree.run(options)
    farblock.program("iscsi_load")
    if options.disks:
        return disks.run(options)
    return scale.run(options) if options.scale else compare(options)


if __name__ == "__main__":
    farblock.main(main)
