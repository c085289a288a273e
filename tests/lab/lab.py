#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the lab's scenarios: farblockd here, real kernel initiators in a guest. Called by run.sh.

    lab.py [SCENARIO...]   all, or those named
    lab.py --list          their names and what they claim
"""

import os
import sys
import time

import farblock_path  # noqa: F401: makes tests/lib importable
import farblock
import data
import faults
import logins
import luns
import net
import open_iscsi
from guest import Guest

SCENARIOS = [*logins.SCENARIOS, *data.SCENARIOS, *luns.SCENARIOS, *faults.SCENARIOS]


class Lab:
    """What a scenario gets: a guest, a folder, and daemons and initiators that end with it."""

    def __init__(self, scratch, guest):
        self.scratch, self.guest = scratch, guest
        self.daemons, self.initiators = [], []

    def daemon(self, config, **options):
        daemon = farblock.Farblockd(self.scratch, config, f"farblockd-{time.monotonic_ns()}",
                                    **options)
        self.daemons.append(daemon)
        return daemon.start()

    def initiator(self, settings=None, **options):
        initiator = open_iscsi.Initiator(self.guest, settings, **options)
        self.initiators.append(initiator)
        return initiator

    def serve(self, *disks, settings=None, config=None, **options):
        """One daemon with one target of these disks on the first address, one initiator."""
        config = config or farblock.Config()
        made = [disk(config, self.scratch) for disk in disks]
        options.setdefault("portals", [(net.HOSTS[0], net.PORT)])
        target = config.target(made, **options)
        return self.daemon(config), target, self.initiator(settings)

    def end(self):
        """Everything ends well: sessions log out, daemons end with status 0."""
        for initiator in self.initiators:
            initiator.end()
        for daemon in self.daemons:
            status = daemon.stop()
            if status:
                raise farblock.Failure(f"farblockd: ended with status {status}: "
                                       f"{daemon.log()[-1500:].strip()}")
            if daemon.sanitizer_report():
                raise farblock.Failure(f"farblockd: {daemon.sanitizer_report()}")

    def abandon(self):
        for daemon in self.daemons:
            daemon.kill()

    def story(self):
        """What the daemons and the guest's kernel said, for a failure."""
        text = "".join(f"--- {d.name}\n{d.log()[-3000:]}" for d in self.daemons)
        try:
            text += "--- guest\n" + self.guest.ask("dmesg | tail -40", 10)[1]
        except farblock.Failure as why:
            text += f"--- {why}\n"
        return text


def one(scratch, guest, function):
    """Runs a scenario; returns why it failed or None."""
    lab = Lab(scratch, guest)
    try:
        function(lab)
        lab.end()
    except farblock.Failure as why:
        return f"{why}\n{lab.story()}"
    finally:
        lab.abandon()
    return None


def name_of(function):
    return function.__name__.replace("_", "-")


def chosen(names):
    known = {name_of(f): f for f in SCENARIOS}
    for name in names:
        if name not in known:
            print(f"lab: no scenario '{name}' (run.sh --list names them)", file=sys.stderr)
            sys.exit(2)
    return [known[name] for name in names] or SCENARIOS


def run_all(functions):
    passed, failed, begin = 0, 0, time.monotonic()
    with farblock.Scratch() as scratch:
        guest = Guest(scratch, net.Tap).start()
        try:
            print(f"lab: guest up in {time.monotonic() - begin:.0f} s", flush=True)
            for function in functions:
                start = time.monotonic()
                why = one(scratch, guest, function)
                took = time.monotonic() - start
                if why is None:
                    passed += 1
                    print(f"{name_of(function)}: passed ({took:.1f} s)", flush=True)
                    continue
                failed += 1
                print(f"{name_of(function)}: failed ({took:.1f} s): {why}", flush=True)
                guest.kill()  # what a failure leaves behind is nobody's business
                guest.start()
        finally:
            guest.kill()
    print(f"lab: {passed} passed, {failed} failed, in {time.monotonic() - begin:.0f} s")
    return 1 if failed else 0


def main():
    names = sys.argv[1:]
    if names == ["--list"]:
        for function in SCENARIOS:
            print(f"{name_of(function)}: {' '.join(function.__doc__.split())}")
        return 0
    functions = chosen(names)
    if "FARBLOCK_LAB_INSIDE" not in os.environ:
        net.enter([sys.executable, os.path.abspath(__file__), *names])
    net.up()
    return run_all(functions)


if __name__ == "__main__":
    farblock.main(main)
