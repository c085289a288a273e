#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Do old writes come back when a path is lost, and how long does a request take? An initiator and a
target in a guest each, two paths to one LUN. In an outage the network holds the frames of the busier
path, without a word, and delivers them afterwards, as one does that was only slow, or loses them.
Meanwhile the initiator fails over, sends the writes again on the other path, and newer ones after
them. Counts the acknowledged writes that older ones have replaced (docs/fences.md). Not a test.

    failover.py farblockd|lio open-iscsi|ib_srp|farblock-initiator [OPTION...] [-- WORD...]

WORDs are for farblock-initiator attach (--fence-wait 10), or are parameters of the module ib_srp.
Needs tests/lab/prepare.sh to have run."""

import argparse
import os
import random
import statistics
import sys
import time
from typing import NamedTuple

import farblock_path  # noqa: F401: makes tests/lib importable
import farblock
import guest
import net
from failover_sides import INITIATORS, TARGETS, ib_srp_names
from kernel import wait_until
from switch import TO_INITIATOR, TO_TARGET, Switch

BLOCKS, HOLD_MS, WRITE = 32, 300, 4096
STOP = "/run/stamps.stop"
DIRECTIONS = {"both": (TO_TARGET, TO_INITIATOR), "to-target": (TO_TARGET,)}


def stamps(scratch):
    path, source = scratch.file("stamps"), os.path.join(os.path.dirname(__file__), "stamps.c")
    farblock.run(["cc", "-O1", "-static", "-pthread", "-o", path, source])
    os.chmod(scratch.path, 0o755)
    return path


def lines(machine):
    return machine.run("cat /run/stamps.log; true").splitlines()


def busier(switch):
    """The path that carries most now."""
    before = switch.passed()
    time.sleep(1)
    frames = [now - then for now, then in zip(switch.passed(), before)]
    return frames.index(max(frames))


class Outage(NamedTuple):
    seconds: float
    failed_over: bool
    held: int  # bytes for the target
    came_back: int  # acknowledged writes that older ones have replaced
    slowest: float  # request, seconds


def outage(machine, switch, side, asked):
    before, seconds, path = len(lines(machine)), random.uniform(*asked.seconds), busier(switch)
    switch.cut(path, DIRECTIONS[asked.direction], asked.lossy)
    time.sleep(seconds)
    failed_over = side.working() == 1
    held = switch.heal()
    wait_until(lambda: side.working() == 2, "both paths are used")
    time.sleep(5)
    new = lines(machine)[before:]
    found = Outage(seconds, failed_over, held, sum("came back" in line for line in new),
                   max((float(line.split()[2]) for line in new if line.startswith("slow ")), default=0))
    print(f"| path {path}, {seconds:.0f} s | failed over: {'yes' if failed_over else 'no'} | "
          f"{held} bytes held | {found.came_back} came back | slowest request {found.slowest:.1f} s |",
          flush=True)
    return found


def total(target, asked, found):
    slowest, back = [one.slowest for one in found], [one.came_back for one in found]
    print(f"{target.version()}, {asked.initiator} {' '.join(asked.words)}, {asked.groups} group(s): "
          f"{len(found)} outages of {min(found).seconds:.0f} to {max(found).seconds:.0f} s, "
          f"{sum(one.failed_over for one in found)} with a failover, "
          f"{sum(one.held >= WRITE for one in found)} with {WRITE} bytes held; "
          f"{sum(back)} came back in {sum(map(bool, back))}; slowest request: median "
          f"{statistics.median(slowest):.1f} s ({min(slowest):.1f} to {max(slowest):.1f})", flush=True)


def measure(scratch, switch, machines, asked):
    machine, other = machines
    machine.run(f"ip addr replace {net.GUESTS[1]}/24 dev eth0")
    is_srp, found = asked.initiator == "ib_srp", []
    names = ib_srp_names(machine) if is_srp else []
    target = TARGETS[asked.target](other, scratch, is_srp, asked.groups, names)
    side = INITIATORS[asked.initiator](machine, target, asked.words)
    side.begin()
    side.kernel.in_background("stamps", f"rm -f {STOP}; cp /host{stamps(scratch)} /run/stamps && "
                              f"exec /run/stamps {side.device} {BLOCKS} {HOLD_MS} {STOP}")
    time.sleep(5)
    for _ in range(asked.outages):
        found.append(outage(machine, switch, side, asked))
    total(target, asked, found)
    machine.run(f"touch {STOP}")
    print(side.kernel.finished("stamps").splitlines()[-1], flush=True)
    side.end()


def run():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("initiator", choices=INITIATORS)
    parser.add_argument("--outages", type=int, default=10)
    parser.add_argument("--seconds", type=float, nargs=2, default=(10, 30))
    parser.add_argument("--groups", type=int, choices=(1, 2), default=1,
                        help="portal groups of iSCSI: both portals in one, or one for each")
    parser.add_argument("--direction", choices=DIRECTIONS, default="both")
    parser.add_argument("--lossy", action="store_true", help="frames are lost, not held")
    ours, _, words = " ".join(sys.argv[1:]).partition(" -- ")
    asked = parser.parse_args(ours.split())
    asked.words = words.split()
    with farblock.Scratch() as scratch:
        switch = Switch(scratch)
        with guest.Guest(scratch, switch.ports[0], "initiator", shares_host=True) as machine, \
                guest.Guest(scratch, switch.ports[1], "target", shares_host=True) as other:
            measure(scratch, switch, (machine, other), asked)
    return 0


if __name__ == "__main__":
    farblock.main(run)
