#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the lab's scenarios: farblockd here, real kernel initiators in a guest. Called by run.sh.

    lab.py [NAME...]   all scenarios, or those named; the name of a group is all of it
    lab.py --list      their names and what they claim

The groups: tcp, the kernel's iscsi_tcp; iser, its ib_iser over siw, to the daemon's software
iWARP; lio, farblock-initiator to the kernel's ib_isert over siw.
"""

import os
import sys
import time

import farblock_path  # noqa: F401: makes tests/lib importable
import farblock
import data
import faults
import lio
import logins
import luns
import net
import open_iscsi
from guest import Guest

GROUPS = {
    "tcp": [*logins.SCENARIOS, *data.SCENARIOS, *luns.SCENARIOS, *faults.SCENARIOS],
    "iser": [logins.discovery, logins.discovery_wildcard, logins.chap, logins.chap_mutual,
             logins.negotiation, logins.fifty_logins, logins.idle, *data.SCENARIOS,
             luns.luns_live, *faults.SCENARIOS],
    "lio": lio.SCENARIOS,
}


class Lab:
    """What a scenario gets: a guest, a folder, and daemons and initiators that end with it."""

    def __init__(self, scratch, guest, carrier):
        self.scratch, self.guest, self.carrier = scratch, guest, carrier
        self.daemons, self.initiators = [], []

    def daemon(self, config, **options):
        daemon = farblock.Farblockd(self.scratch, config, f"farblockd-{time.monotonic_ns()}",
                                    **options)
        self.daemons.append(daemon)
        return daemon.start()

    def initiator(self, settings=None, **options):
        initiator = open_iscsi.Initiator(self.guest, settings, carrier=self.carrier,
                                         **options)
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


def one(scratch, guest, group, function):
    """Runs a scenario; returns why it failed or None."""
    lab = Lab(scratch, guest, group)
    try:
        function(lab)
        lab.end()
    except farblock.Failure as why:
        return f"{why}\n{lab.story()}"
    finally:
        lab.abandon()
    return None


def all_scenarios():
    """{name: (group, function)}; the group is the name's beginning, but for TCP."""
    return {("" if group == "tcp" else f"{group}-") + function.__name__.replace("_", "-"):
            (group, function) for group, functions in GROUPS.items() for function in functions}


def chosen(names):
    known = all_scenarios()
    for name in names:
        if name not in known and name not in GROUPS:
            print(f"lab: no scenario '{name}' (run.sh --list names them)", file=sys.stderr)
            sys.exit(2)
    return {name: what for name, what in known.items()
            if not names or name in names or what[0] in names}


def tell(name, result, start, why=""):
    print(f"{name}: {result} ({time.monotonic() - start:.1f} s){why}", flush=True)
    return result


def run_all(scenarios):
    results, begin = [], time.monotonic()
    with farblock.Scratch() as scratch:
        guest = Guest(scratch, net.Tap).start()
        try:
            print(f"lab: guest up in {time.monotonic() - begin:.0f} s", flush=True)
            for name, (group, function) in scenarios.items():
                start = time.monotonic()
                try:
                    why = one(scratch, guest, group, function)
                except farblock.Skip as reason:
                    results.append(tell(name, "skipped", start, f": {reason}"))
                    continue
                results.append(tell(name, "failed" if why else "passed", start,
                                    f": {why}" if why else ""))
                if why:
                    guest.kill()  # what a failure leaves behind is nobody's business
                    guest.start()
        finally:
            guest.kill()
    print(f"lab: {results.count('passed')} passed, {results.count('failed')} failed, "
          f"{results.count('skipped')} skipped, in {time.monotonic() - begin:.0f} s")
    if "passed" not in results and "failed" not in results:
        return 77
    return 1 if "failed" in results else 0


def main():
    names = sys.argv[1:]
    if names == ["--list"]:
        for name, (_, function) in all_scenarios().items():
            print(f"{name}: {' '.join(function.__doc__.split())}")
        return 0
    scenarios = chosen(names)
    if "FARBLOCK_LAB_INSIDE" not in os.environ:
        net.enter([sys.executable, os.path.abspath(__file__), *names])
    net.up()
    return run_all(scenarios)


if __name__ == "__main__":
    farblock.main(main)
