#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures farblock-initiator bench beside libiscsi's iscsi-perf: 4 KiB random reads at depth 32 of
one RAM disk of one farblockd over iSCSI/TCP, client and target on a CPU each.

Samples are interleaved, and each round begins with the other client. CPU time is that of the
client's whole process, but for farblock-initiator that of the run: after it, it measures
what limits it. Prints one Markdown table of medians and [smallest-largest], and whether
farblock-initiator does more commands a second per core, at half the CPU time a command or less.
"""

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import farblock  # noqa: E402
from machine import Foreign, describe, quietest, save  # noqa: E402
from run import MIB, wait_idle  # noqa: E402

OURS, THEIRS = "farblock-initiator", "iscsi-perf"
METRICS = [("iops_per_core", "k IOPS per client core", 1e-3), ("cpu_us", "client CPU us/command", 1),
           ("iops", "k IOPS", 1e-3)]


def run(command, options):
    """Its output, and the CPU time of its process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=options.secs * 4 + 60,
        preexec_fn=lambda: os.sched_setaffinity(0, {options.client_cpu}))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise farblock.Failure(f"{command[0]}: {done.stderr.strip()}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(url, options):
    out, _ = run([farblock.program(OURS), "bench", url, "--time", str(options.secs), "--json"],
                 options)
    told = json.loads(out)
    return {"iops": told["iops"], "cpu_us": told["cpu_us_per_io"]}


def theirs(url, options):
    out, cpu = run([THEIRS, "-m", "32", "-b", "8", "-r", "-t", str(options.secs), url], options)
    found = re.search(r"iops average (\d+)", out)
    if not found:
        raise farblock.Failure(f"{THEIRS}: no result in {out}")
    iops = int(found[1])
    return {"iops": iops, "cpu_us": cpu * 1e6 / max(iops * options.secs, 1)}


CLIENTS = {OURS: ours, THEIRS: theirs}


def once(client, daemon, url, options):
    foreign = Foreign([daemon.pid])
    sample = CLIENTS[client](url, options)
    sample.update(client=client, foreign_cores=foreign.cores(),
                  iops_per_core=1e6 / sample["cpu_us"])
    return sample


def measure(daemon, url, options):
    samples = []
    for round_ in range(options.rounds):
        for client in list(CLIENTS)[::1 if round_ % 2 else -1]:
            samples.append(quietest(lambda c=client: once(c, daemon, url, options), options))
    return samples


def report(samples, options):
    values = {c: {key: [s[key] for s in samples if s["client"] == c] for key, _, _ in METRICS}
              for c in CLIENTS}
    print(f"| 4 KiB random read, depth 32 | {OURS} | {THEIRS} | ratio |\n|---|---|---|---|")
    ratios = {}
    for key, title, unit in METRICS:
        middle = {c: statistics.median(values[c][key]) for c in CLIENTS}
        ratios[key] = middle[OURS] / middle[THEIRS]
        cells = [f"{middle[c] * unit:.2f} [{min(values[c][key]) * unit:.2f}-"
                 f"{max(values[c][key]) * unit:.2f}]" for c in CLIENTS]
        print(f"| {title} | {' | '.join(cells)} | {ratios[key]:.3f} |")
    is_met = ratios["iops_per_core"] > 1 and ratios["cpu_us"] <= 0.5
    noisy = [s for s in samples if s["foreign_cores"] > options.max_foreign]
    print(f"\nMore IOPS per client core, at most half the CPU time: {'met' if is_met else 'missed'}"
          f"\n{describe()}; target on CPU {options.target_cpu}, client on CPU "
          f"{options.client_cpu}; {options.rounds} rounds of {options.secs} s; {len(noisy)} of "
          f"{len(samples)} samples disturbed by others (more than {options.max_foreign:g} of a "
          f"core).")
    save(samples, options)


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    cpus = sorted(os.sched_getaffinity(0))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--secs", type=int, default=2, help="a sample, whole seconds: 2")
    parser.add_argument("--size", type=int, default=64, help="LUN in MiB")
    parser.add_argument("--target-cpu", type=int, default=cpus[0])
    parser.add_argument("--client-cpu", type=int, default=cpus[min(1, len(cpus) - 1)])
    parser.add_argument("--retries", type=int, default=3, help="of a disturbed sample: 3")
    parser.add_argument("--max-foreign", type=float, default=0.08, help="cores")
    parser.add_argument("--json", metavar="FILE", help="every sample")
    parser.add_argument("--build", metavar="DIR", help=f"default {farblock.BUILD}")
    options = parser.parse_args()
    if options.build:
        farblock.BUILD = os.path.abspath(options.build)
    return options


def main():
    options = parse()
    if not shutil.which(THEIRS):
        print(f"{THEIRS} is not installed (etc/deps.sh bench)", file=sys.stderr)
        return 77
    with farblock.Scratch(in_memory=True) as scratch:
        config = farblock.Config()
        url = config.target([config.ramdisk("rd0", options.size * MIB)]).url()
        with farblock.Farblockd(scratch, config, cpus=(options.target_cpu,)) as daemon:
            run([farblock.program(OURS), "bench", url, "--op", "write", "--bs", "128k", "--time",
                 "1"], options)  # so that reads find memory
            wait_idle(daemon.pid)
            report(measure(daemon, url, options), options)
    return 0


if __name__ == "__main__":
    farblock.main(main)
