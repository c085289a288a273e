# SPDX-License-Identifier: BSD-2-Clause
"""A LUN that is attached over two paths, TCP and iSER over software iWARP, of two targets of one
daemon, each with a port group of its own. Paths are cut, and states of the groups changed, under a
load that verifies what it has written."""

import time

from cut_path import Path
from farblock import Shell, check, eventually

DISK = "/backstores/fileio/disk"
GROUPS = ("tcp", "iser")
OPTIMIZED, NON_OPTIMIZED, STANDBY, UNAVAILABLE = "0", "1", "2", "3"


class TwoPaths:
    """cut[0] is that of TCP, cut[1] that of iSER. Timings are collected for a report."""

    def __init__(self, config, scratch, attachments, size):
        self.attachments, self.daemon, self.load = attachments, None, None
        self.times = {}
        disk = config.fileio("disk", scratch.file("disk.img"), size)
        self.targets = [config.target([disk]) for _ in GROUPS]
        self.cut = [Path(target.portals[0]) for target in self.targets]

    def urls(self):
        return [f"{scheme}://127.0.0.1:{path.address[1]}/{target.iqn}/0"
                for scheme, path, target in zip(("iscsi", "iser"), self.cut, self.targets)]

    def begin(self, daemon, *words):
        """Returns the device."""
        self.daemon, shell = daemon, Shell(daemon)
        for tag, (group, target) in enumerate(zip(GROUPS, self.targets), 1):
            shell(f"{DISK}/alua", "create", group, str(tag))
            shell(f"{DISK}/alua/{group}", "set", "alua", "alua_access_type=1")
            shell(f"{target.path}/luns/lun0", "set", "alua", f"alua_tg_pt_gp_name={group}")
        device = self.attachments.attach(*self.urls(), "--name", "disk", *words)
        eventually("both paths", lambda: self.states() == ["up", "up"])
        return device

    def paths(self):
        return self.attachments.one("disk")["paths"]

    def states(self):
        return [path["state"] for path in self.paths()]

    def is_used(self, index, count=50):
        """The load uses a path: so many commands more."""
        before = self.paths()[index]["commands"]
        eventually(f"commands on the path of {GROUPS[index]}", lambda: self.load.is_going_on() and
                   self.paths()[index]["commands"] >= before + count)

    def timed(self, what, begin):
        self.times.setdefault(what, []).append(time.monotonic() - begin)

    def cut_once(self, index, kind):
        """kind: reset or silence. The load goes on over the other path, and comes back."""
        self.is_used(index)
        begin = time.monotonic()
        getattr(self.cut[index], kind)()
        eventually("the loss", lambda: self.states()[index] != "up")
        self.is_used(1 - index)
        self.timed(f"{GROUPS[index]}, {kind}: goes on over the other path", begin)
        begin = time.monotonic()
        self.cut[index].restore()
        eventually("the path's return", lambda: self.states()[index] == "up")
        self.timed(f"{GROUPS[index]}, {kind}: the path is used again", begin)

    def set_state(self, index, state):
        Shell(self.daemon)(f"{DISK}/alua/{GROUPS[index]}", "set", "alua",
                           f"alua_access_state={state}")

    def leave_once(self, index, state):
        """The group of a path leaves active/optimized, and comes back: I/O follows."""
        self.is_used(index)
        begin = time.monotonic()
        self.set_state(index, state)
        self.is_idle(index)
        what = f"{GROUPS[index]}, state {state}"
        self.timed(f"{what}: I/O leaves it", begin)
        self.is_used(1 - index)
        begin = time.monotonic()
        self.set_state(index, OPTIMIZED)
        self.is_used(index, 1)
        self.timed(f"{what}: I/O is back", begin)

    def no_state_serves(self, state):
        """Neither group serves I/O, and both sessions are lost meanwhile: the load waits, and goes on
        when the groups serve it again."""
        self.is_used(0)
        for index in (0, 1):
            self.set_state(index, state)
        eventually("no path", lambda: self.attachments.one("disk")["state"] == "no-path")
        before = [path["reconnects"] for path in self.paths()]
        for path in self.cut:
            path.reset()
        eventually("the loss", lambda: self.states() == ["connecting"] * 2)
        for path in self.cut:
            path.restore()
        eventually("both sessions", lambda: all(path["reconnects"] > count for path, count in
                                                zip(self.paths(), before)))
        check(self.attachments.one("disk")["state"] == "no-path", f"{self.paths()}")
        begin = time.monotonic()
        for index in (0, 1):
            self.set_state(index, OPTIMIZED)
        for index in (0, 1):
            self.is_used(index)
        self.timed(f"both, state {state}, sessions lost meanwhile: I/O is back", begin)

    def is_idle(self, index):
        """The load goes on without a path."""
        seen = [self.paths()]

        def moves():
            seen.append(self.paths())
            old, new = ([path["commands"] for path in paths] for paths in seen[-2:])
            return (self.load.is_going_on() and new[index] == old[index] and
                    new[1 - index] >= old[1 - index] + 10)
        eventually(f"I/O leaves the path of {GROUPS[index]}", moves)

    def all_took_less_than(self, seconds):
        """The median of each: of a busy machine's single times some are longer."""
        for what, took in self.times.items():
            median = sorted(took)[len(took) // 2]
            check(median < seconds, f"{what}: {median:.3f} s")

    def report(self):
        for what, took in self.times.items():
            print(f"{what}: {len(took)} times, {min(took):.3f} to {max(took):.3f} s, "
                  f"mean {sum(took) / len(took):.3f} s", flush=True)
