# SPDX-License-Identifier: BSD-2-Clause
"""What the kernel says about processes and the machine, for measurements."""

import json
import os
import platform
import time

TICKS = os.sysconf("SC_CLK_TCK")
PF_KTHREAD = 0x200000


def cpu_seconds(pid):
    """CPU time of a process, all threads, user and system, to the nanosecond."""
    return time.clock_gettime_ns((~pid << 3) | 2) / 1e9


def quietest(take, options):
    """The sample of take() with the least foreign CPU time of a few attempts; the first quiet one
    if there is one. take() gives a dict with foreign_cores."""
    best = None
    for _ in range(1 + options.retries):
        one = take()
        if best is None or one["foreign_cores"] < best["foreign_cores"]:
            best = one
        if best["foreign_cores"] <= options.max_foreign:
            break
    return best


def resident_bytes(pid):
    """Memory of a process; compare it only after its disks have been filled."""
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    return 0


def describe():
    """One line for below a table."""
    with open("/proc/cpuinfo") as info:
        model = next((line.split(":")[1].strip() for line in info
                      if line.startswith("model name")), platform.machine())
    return f"{model}, {os.cpu_count()} CPUs, Linux {platform.release()}"


def save(samples, options):
    """Every sample, for other programs, if --json asks for it."""
    if options.json:
        with open(options.json, "w") as out:
            json.dump({"machine": describe(), "samples": samples}, out, indent=1)


def _ticks():
    """CPU ticks of every user process with its reaped children, by pid."""
    table = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as stat:
                text = stat.read()
        except OSError:
            continue
        fields = text[text.rindex(")") + 2:].split()
        if not int(fields[6]) & PF_KTHREAD:
            table[int(name)] = (int(fields[11]) + int(fields[12]),
                                int(fields[13]) + int(fields[14]))
    return table


def _stolen():
    """Ticks that a hypervisor gave to others while a CPU of this machine wanted to run."""
    with open("/proc/stat", encoding="ascii") as stat:
        return int(stat.readline().split()[8])


class Foreign:
    """How much of the machine others than our processes used since this was made: other
    processes, and what the hypervisor took."""

    def __init__(self, pids):
        self.ours = {os.getpid(), *pids}
        self.begin, self.before, self.stolen = time.monotonic(), _ticks(), _stolen()

    def cores(self):
        seconds, used = time.monotonic() - self.begin, _stolen() - self.stolen
        most = seconds * TICKS * (os.cpu_count() or 1)
        for pid, (own, children) in _ticks().items():
            if pid in self.ours:
                continue
            own_before, children_before = self.before.get(pid, (0, 0))
            # A child that ends hands its whole life to its parent: never more than the
            # window could hold.
            used += own - own_before + min(children - children_before, most)
        return used / TICKS / seconds
