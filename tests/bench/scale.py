# SPDX-License-Identifier: BSD-2-Clause
"""Cost must stay flat: CPU per I/O of farblockd with 1,000 connections, and with 1,000 LUNs,
against one of each, and the memory an idle connection takes."""

import contextlib
import json
import statistics
import subprocess
import sys

import farblock
from machine import Foreign, describe, resident_bytes

MANY = 1000
LUN_SIZE = 256 << 10
FLAT, MEMORY = 1.25, 64 << 10


def load(daemon, url, options, *arguments):
    """One sample at depth 32: CPU us per I/O, and how disturbed it was."""
    foreign = Foreign([daemon.pid])
    done = farblock.run(["iscsi_load", f"-C{options.client_cpu}", f"-P{daemon.pid}",
                         f"-t{options.secs}", "-q32", *arguments, url])
    return json.loads(done.stdout)["target_us_per_io"], foreign.cores()


def quiet_load(daemon, url, options, *arguments):
    samples = []
    for _ in range(1 + options.retries):
        samples.append(load(daemon, url, options, *arguments))
        if samples[-1][1] <= options.max_foreign:
            break
    return min(samples, key=lambda s: s[1])[0]


@contextlib.contextmanager
def idle_sessions(url, count):
    """So many sessions logged in, answering pings and doing nothing else."""
    process = subprocess.Popen([farblock.program("iscsi_load"), "-I", f"-c{count}", "-t86400",
                                url], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        if line != "logged in\n":
            raise farblock.Failure(f"{count} idle sessions: {line.strip()}")
        yield
    finally:
        process.terminate()
        process.wait()


def connections(scratch, options):
    """(us/IO alone, us/IO beside idle connections) a round, and bytes a connection."""
    config, rounds, memory = farblock.Config(), [], []
    target = config.target(luns=[config.ramdisk("rd0", MANY * LUN_SIZE)])
    with farblock.Farblockd(scratch, config, "one", (options.target_cpu,)) as daemon:
        load(daemon, target.url(), options, "-w")
        for _ in range(options.rounds):
            alone, before = quiet_load(daemon, target.url(), options), resident_bytes(daemon.pid)
            with idle_sessions(target.url(), MANY - 1):
                memory.append((resident_bytes(daemon.pid) - before) / (MANY - 1))
                rounds.append((alone, quiet_load(daemon, target.url(), options)))
    # Only the first round finds no memory left over from the one before.
    return rounds, memory[0]


def luns(scratch, options):
    """(us/IO on one LUN, us/IO spread over many of the same total size) a round."""
    one, many, rounds = farblock.Config(), farblock.Config(), []
    single = one.target(luns=[one.ramdisk("rd0", MANY * LUN_SIZE)])
    spread = many.target(luns=[many.ramdisk(f"rd{i}", LUN_SIZE) for i in range(MANY)])
    cpus = (options.target_cpu,)
    with farblock.Farblockd(scratch, one, "lun", cpus) as a, \
            farblock.Farblockd(scratch, many, "luns", cpus) as b:
        load(a, single.url(), options, "-w")
        load(b, spread.url(), options, "-w", f"-L{MANY}")
        for _ in range(options.rounds):
            b.pause()
            first = quiet_load(a, single.url(), options)
            a.pause()
            b.resume()
            rounds.append((first, quiet_load(b, spread.url(), options, f"-L{MANY}")))
            a.resume()
    return rounds


def line(title, rounds):
    one = statistics.median(r[0] for r in rounds)
    many = statistics.median(r[1] for r in rounds)
    met = "met" if many <= FLAT * one else "missed"
    return f"| {title} | {one:.2f} us | {many:.2f} us | {many / one:.2f} x | <= {FLAT} x | {met} |"


def run(options):
    farblock.program("farblockd")
    with farblock.Scratch() as scratch:
        by_connections, memory = connections(scratch, options)
        by_luns = luns(scratch, options)
    print("| CPU per 4 KiB read, depth 32 | one | 1,000 | ratio | must be | |\n|---|---|---|---|---|---|")
    print(line("connections, 999 of them idle", by_connections))
    print(line("LUNs, reads spread over all", by_luns))
    met = "met" if memory <= MEMORY else "missed"
    print(f"| memory an idle connection | | {memory / 1024:.1f} KiB | | <= {MEMORY >> 10} KiB | {met} |")
    print(f"\n{describe()}; {options.rounds} rounds of {options.secs:g} s.")
    if options.json:
        with open(options.json, "w") as out:
            json.dump({"connections": by_connections, "luns": by_luns,
                       "bytes_per_connection": memory}, out, indent=1)
    sys.stdout.flush()
    return 0
