#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures iSER and SRP over software iWARP beside iSCSI/TCP, both ends ours: one farblockd with a
RAM disk on one CPU, farblock-initiator bench on another, over loopback.

Samples are interleaved: once a round each point on each transport in turn, and each round begins
with the next transport. A sample during which other processes or the hypervisor used the
machine is repeated, and counted below the table if it stayed so. Prints one Markdown table:
medians, [smallest-largest], CPU time a command of both ends (the client's with its start and
login), and the ratios of the medians next to what they have to be.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import farblock  # noqa: E402
from machine import Foreign, cpu_seconds, describe, quietest, save  # noqa: E402
from run import MIB, wait_idle  # noqa: E402

TCP, ISER, SRP = "iSCSI/TCP", "iSER", "SRP"
TRANSPORTS = [TCP, ISER, SRP]
KIB128 = 131072
PORT = farblock.SRP_INITIATOR.removeprefix("ib.")
INITIATOR = ["--initiator-port", f"{PORT[:16]}:{PORT[16:]}"]
SMALL = {(ISER, TCP): ">= 0.8", (SRP, ISER): ">= 1"}
LARGE = {(ISER, TCP): "> 1", (SRP, ISER): ">= 1"}

# Key, title, op, bytes, depth, and what a transport must do relative to another.
POINTS = [
    ("read-qd1", "4 KiB random read, depth 1", "randread", 4096, 1, SMALL),
    ("write-qd1", "4 KiB random write, depth 1", "randwrite", 4096, 1, SMALL),
    ("read-qd32", "4 KiB random read, depth 32", "randread", 4096, 32, SMALL),
    ("write-qd32", "4 KiB random write, depth 32", "randwrite", 4096, 32, SMALL),
    ("seqread", "128 KiB sequential read, depth 32", "read", KIB128, 32, LARGE),
    ("seqwrite", "128 KiB sequential write, depth 32", "write", KIB128, 32, LARGE),
]
# Key of a sample, unit for large commands or all.
METRICS = [("rate", None), ("p50_us", "p50 us"), ("target_us", "target CPU us/command"),
           ("client_us", "client CPU us/command")]


class OurTarget(farblock.Farblockd):
    """farblockd, and the URL of its LUN for each transport."""

    def __init__(self, scratch, options):
        config = farblock.Config()
        luns = [config.ramdisk("rd0", options.size)]
        iscsi, srp = config.target(luns=luns), config.srp_target(luns)
        super().__init__(scratch, config, cpus=(options.target_cpu,))
        self.urls = {TCP: iscsi.url(), ISER: "iser" + iscsi.url().removeprefix("iscsi"), SRP: srp.url()}


def bench_once(target, transport, point, options):
    """One sample: what the client prints, and the CPU time of both ends."""
    _, _, op, size, depth, _ = point
    url, name = target.urls[transport], INITIATOR if transport == SRP else []
    command = [farblock.program("farblock-initiator"), "bench", url, "--op", op, "--bs", str(size),
               "--depth", str(depth), "--time", str(options.secs), "--json", *name]
    foreign = Foreign([target.pid])
    used, before = cpu_seconds(target.pid), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=options.secs * 4 + 60,
        preexec_fn=lambda: os.sched_setaffinity(0, {options.client_cpu}))
    used, after = cpu_seconds(target.pid) - used, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise farblock.Failure(f"{transport}: {op}: {done.stderr.strip()}")
    sample = json.loads(done.stdout)
    commands = max(sample["iops"] * sample["seconds"], 1)
    client = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    sample.update(foreign_cores=foreign.cores(), target_us=used * 1e6 / commands,
                  client_us=client * 1e6 / commands,
                  rate=sample["MB_per_s"] / 1e3 if size == KIB128 else sample["iops"] / 1e3)
    return sample


def bench(target, transport, point, round_, options):
    best = quietest(lambda: bench_once(target, transport, point, options), options)
    print(f"  {point[0]:11s} {transport:10s} {best['rate']:8.2f}  target {best['target_us']:6.2f} "
          f"client {best['client_us']:6.2f} us, others {best['foreign_cores']:.2f}",
          file=sys.stderr, flush=True)
    return {"point": point[0], "transport": transport, "round": round_, **best}


def measure(target, options):
    samples = []
    for round_ in range(options.rounds):
        first = round_ % len(TRANSPORTS)
        order = TRANSPORTS[first:] + TRANSPORTS[:first]
        for point in options.points:
            samples += [bench(target, transport, point, round_, options) for transport in order]
    return samples


def row(samples, point, key, unit):
    """One line of the table."""
    _, title, _, size, _, goals = point
    values = {t: [s[key] for s in samples if s["point"] == point[0] and s["transport"] == t]
              for t in TRANSPORTS}
    middle = {t: statistics.median(v) for t, v in values.items()}
    unit = unit or ("GB/s" if size == KIB128 else "k IOPS")
    cells = [f"{middle[t]:.2f} [{min(v):.2f}-{max(v):.2f}]" for t, v in values.items()]
    for (ours, other), must in goals.items():
        ratio = middle[ours] / middle[other]
        cells.append(f"{ratio:.3f} x")
        if key == "rate":
            cells[-1] += f" ({must}: {'met' if is_met(ratio, must) else 'missed'})"
    return f"| {title} | {unit} | {' | '.join(cells)} |"


def is_met(ratio, must):
    relation, bound = must.split()
    return ratio > float(bound) or (relation == ">=" and ratio == float(bound))


def report(samples, options):
    noisy = [s for s in samples if s["foreign_cores"] > options.max_foreign]
    print("| | unit | " + " | ".join(TRANSPORTS) + " | " +
          " | ".join(f"{ours} to {other}" for ours, other in SMALL) + " |")
    print("|---" * (2 + len(TRANSPORTS) + len(SMALL)) + "|")
    for point in options.points:
        for key, unit in METRICS:
            print(row(samples, point, key, unit))
    print(f"\n{describe()}; target on CPU {options.target_cpu}, client on CPU "
          f"{options.client_cpu}; {options.rounds} rounds of {options.secs} s, LUN "
          f"{options.size // MIB} MiB; {len(noisy)} of {len(samples)} samples disturbed by "
          f"others (more than {options.max_foreign:g} of a core).")
    save(samples, options)


def prepare(target, options):
    """Every byte of the LUN is written over each transport, so that reads find memory."""
    write = ("", "", "write", KIB128, 8, "")
    for transport in TRANSPORTS:
        bench_once(target, transport, write, options)
    wait_idle(target.pid)


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    cpus = sorted(os.sched_getaffinity(0))
    keys = ", ".join(p[0] for p in POINTS)
    parser.add_argument("--only", help=f"points, comma separated ({keys})")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--secs", type=int, default=1, help="a sample, whole seconds: 1")
    parser.add_argument("--size", type=int, default=256, help="LUN in MiB")
    parser.add_argument("--target-cpu", type=int, default=cpus[0])
    parser.add_argument("--client-cpu", type=int, default=cpus[min(1, len(cpus) - 1)])
    parser.add_argument("--retries", type=int, default=3, help="of a disturbed sample: 3")
    parser.add_argument("--max-foreign", type=float, default=0.08, help="cores")
    parser.add_argument("--json", metavar="FILE", help="every sample")
    parser.add_argument("--build", metavar="DIR", help=f"default {farblock.BUILD}")
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else [p[0] for p in POINTS]
    options.points = [p for p in POINTS if p[0] in wanted]
    if len(options.points) != len(wanted):
        parser.error(f"--only: the points are {keys}")
    if options.build:
        farblock.BUILD = os.path.abspath(options.build)
    options.size *= MIB
    return options


def main():
    options = parse()
    with farblock.Scratch(in_memory=True) as scratch:
        with OurTarget(scratch, options) as target:
            prepare(target, options)
            report(measure(target, options), options)
    return 0


if __name__ == "__main__":
    farblock.main(main)
