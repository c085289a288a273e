#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the lab's scenarios: farblockd and real kernel initiators in a guest. Called by run.sh.

    lab.py [NAME...]   all scenarios, or those named, with wildcards; the name of a group is all of
                       it, GROUP:check a few that are fast, check those of all groups
    lab.py --list      their names and what they claim
"""

import os
import sys
import time
from fnmatch import fnmatch
from typing import NamedTuple

import farblock_path  # noqa: F401: makes tests/lib importable
import farblock
import block
import boot
import copies
import data
import devices
import faults
import ib_srp
import iscsi
import libiscsi
import lio
import lio_disks
import local_disks
import logins
import luns
import net
import open_iscsi
import pscsi
import remote_disks
import srp_paths
import srp_scenarios as srp
import transports
from guest import HANG, Guest
from place import Here, Inside

ISER = [logins.discovery, logins.discovery_wildcard, logins.chap, logins.chap_mutual,
        logins.negotiation, logins.fifty_logins, logins.idle, *data.SCENARIOS, luns.luns_live,
        *faults.SCENARIOS]
# A port that is down takes rxe's own connection management with it: a message sent then leaves the
# kernel's queue pair for them in error permanently, and no connection succeeds any more.
RXE = [scenario for scenario in ISER if scenario is not faults.cable_pulled]
CHECK = [logins.chap, data.byte_for_byte, faults.target_killed]
DEVICE = [*CHECK, devices.device_removed]


class Group(NamedTuple):
    """Scenarios, and those of them that say most in little time. device: the initiator's, for iSER
    and SRP; is_inside: our program is in the guest, and uses it too."""
    scenarios: list
    check: list
    device: str = None
    is_inside: bool = False
    fabric: str = "iscsi"


GROUPS = {
    "tcp": Group([*logins.SCENARIOS, *data.SCENARIOS, *luns.SCENARIOS, *faults.SCENARIOS], CHECK),
    "iser": Group(ISER, CHECK, "siw"),
    "lio": Group(lio.SCENARIOS, [lio.chap, lio.byte_for_byte], "siw"),
    "rxe": Group([*RXE, *copies.SCENARIOS, *devices.SCENARIOS], DEVICE, "rxe", True),
    "siw-verbs": Group([*ISER, *copies.SCENARIOS, *devices.SCENARIOS], DEVICE, "siw", True),
    "srp": Group([*srp.SCENARIOS, faults.cable_pulled, *srp_paths.SCENARIOS, *srp_paths.OUTSIDE],
                 [*srp.CHECK, *srp_paths.CHECK], "siw", False, "srpt"),
    "srp-rxe": Group([*srp.SCENARIOS, *copies.SCENARIOS, *srp_paths.SCENARIOS], srp.CHECK, "rxe",
                     True, "srpt"),
    "srp-siw-verbs": Group([*srp.SCENARIOS, *copies.SCENARIOS, *srp_paths.SCENARIOS], srp.CHECK,
                           "siw", True, "srpt"),
    "transports": Group(transports.SCENARIOS, transports.CHECK, "siw"),
    "transports-rxe": Group(transports.SCENARIOS, [transports.identity], "rxe", True),
    "lio-rxe": Group(lio.INSIDE, [lio.chap, lio.byte_for_byte], "rxe", True),
    "lio-siw-verbs": Group(lio.INSIDE_SIW, [lio.verified], "siw", True),
    "lio-srpt": Group(lio.SRP, lio.SRP_CHECK, "siw", False, "srpt"),
    "lio-srpt-rxe": Group(lio.SRP_INSIDE, lio.SRP_CHECK, "rxe", True, "srpt"),
    "lio-srpt-siw-verbs": Group(lio.SRP_INSIDE, [lio.verified], "siw", True, "srpt"),
    "pscsi": Group(pscsi.SCENARIOS, [pscsi.passed_through], None, True),
    "block": Group(block.SCENARIOS, block.CHECK, None, True),
    "carrier": Group(local_disks.SCENARIOS, local_disks.CHECK, None, True),
    "attach": Group(remote_disks.SCENARIOS, remote_disks.CHECK, None, True),
    "attach-rxe": Group(remote_disks.SCENARIOS, [], "rxe", True),
    "attach-siw": Group(remote_disks.SCENARIOS, [], "siw", True),
    "attach-srp-rxe": Group(remote_disks.SCENARIOS, [], "rxe", True, "srpt"),
    "attach-srp-siw": Group(remote_disks.SCENARIOS, [], "siw", True, "srpt"),
    "boot": Group(boot.SCENARIOS, [], None, True),
    "attach-lio": Group(lio_disks.TCP, [lio_disks.logins], None, True),
    "attach-lio-rxe": Group(lio_disks.RXE, [], "rxe", True),
    "attach-lio-siw": Group(lio_disks.SCENARIOS, [], "siw", True),
    "attach-lio-srp-rxe": Group(lio_disks.RXE, [], "rxe", True, "srpt"),
    "attach-lio-srp-siw": Group(lio_disks.SCENARIOS, [], "siw", True, "srpt"),
    "libiscsi": Group(libiscsi.SCENARIOS, libiscsi.CHECK, "rxe", True),
}


class Lab:
    """What a scenario gets: a guest, a folder, and daemons, initiators and devices of the guest,
    which end with it."""

    def __init__(self, scratch, guest, group):
        self.scratch, self.guest, self.device = scratch, guest, group.device
        self.is_inside, self.fabric = group.is_inside, group.fabric
        self.carrier = "srp" if group.fabric == "srpt" else "iser" if group.device else "tcp"
        self.place = Inside(guest, group.device) if group.is_inside else Here()
        self.daemons, self.initiators, self.devices, self.lio = [], [], [], None

    def daemon(self, config, **options):
        daemon = self.place.daemon(self.scratch, config, f"farblockd-{time.monotonic_ns()}",
                                   **options)
        self.daemons.append(daemon)
        return daemon.start()

    def initiator(self, settings=None):
        kind = ib_srp if self.fabric == "srpt" else open_iscsi
        initiator = kind.Initiator(self.guest, self.place.hosts[0], settings, self.device)
        self.initiators.append(initiator)
        return initiator

    def serve(self, *disks, settings=None, **options):
        """As target(), and one initiator."""
        return *self.target(*disks, **options), self.initiator(settings)

    def target(self, *disks, config=None, **options):
        """One daemon with one target of these disks on the first address."""
        config = config or farblock.Config()
        made = [disk(config, self.scratch) for disk in disks]
        options.setdefault("portals", [(self.place.hosts[0], net.PORT)])
        options["portal_keys"] = self.place.portal
        if self.fabric == "srpt":
            options.pop("parameters", None)
            target = config.srp_target(made, acls=net.GUESTS, **options)
        else:
            options["attributes"] = {"login_timeout": 30, **options.get("attributes", {})}
            target = config.target(made, **options)
        return self.daemon(config), target

    def end(self):
        """Everything ends well: sessions log out, daemons end with status 0, nothing holds their
        devices."""
        for initiator in self.initiators:
            initiator.end()
        for daemon in self.daemons:
            status = daemon.stop(HANG)
            if status:
                raise farblock.Failure(f"farblockd: ended with status {status}: "
                                       f"{daemon.log()[-1500:].strip()}")
            if daemon.sanitizer_report():
                raise farblock.Failure(f"farblockd: {daemon.sanitizer_report()}")
        for device in self.devices:
            device.end()

    def abandon(self):
        for daemon in self.daemons:
            try:
                daemon.kill()
            except farblock.Failure:  # the guest it was in is gone
                pass

    def story(self):
        """What the daemons and the guest's kernel said, for a failure."""
        text = "".join(f"--- {d.name}\n{d.log()[-3000:]}" for d in self.daemons)
        try:
            blocked = "echo w >/proc/sysrq-trigger"  # tasks that wait in the kernel, for what
            text += "--- guest\n" + self.guest.ask(f"{blocked}; dmesg | tail -120", 30)[1]
        except farblock.Failure as why:
            text += f"--- {why}\n"
        return text


def one(scratch, guest, group, function):
    """Runs a scenario; returns why it failed or None."""
    lab = Lab(scratch, guest, GROUPS[group])
    try:
        function(lab)
        lab.end()
    except (farblock.Failure, iscsi.Closed, OSError) as why:
        return f"{why}\n{lab.story()}"
    finally:
        lab.abandon()
    return None


def all_scenarios():
    """{name: (group, function)}; the group is the name's beginning, but for TCP."""
    return {("" if name == "tcp" else f"{name}-") + function.__name__.replace("_", "-"):
            (name, function) for name, group in GROUPS.items() for function in group.scenarios}


def names_of(group, function):
    """What it can be asked for by beside its own name."""
    return {group, f"{group}:check", "check"} if function in GROUPS[group].check else {group}


def chosen(names):
    known = all_scenarios()
    meant = {name: {other for other, what in known.items()
                    if name in names_of(*what) or fnmatch(other, name)} for name in names}
    for name in (name for name in names if not meant[name]):
        print(f"lab: no scenario '{name}' (lab.py --list names them)", file=sys.stderr)
        sys.exit(2)
    found = {name: what for name, what in known.items()
             if not names or any(name in others for others in meant.values())}
    # Those that share a guest, one after the other.
    return dict(sorted(found.items(), key=lambda item: kind_of(item[1][0])))


def tell(name, result, start, why=""):
    print(f"{name}: {result} ({time.monotonic() - start:.1f} s){why}", flush=True)
    return result


def kind_of(name):
    """The guest of a group: those of the same kind share one."""
    group = GROUPS[name]
    return (group.device or "inside") if group.is_inside else "outside"


def guest_of(scratch, kind):
    if kind == "outside":
        return Guest(scratch, net.Tap)
    return Guest(scratch, net.Tap, f"guest-{kind}", 2048, shares_host=True)


def run_one(scratch, guest, name, group, function):
    """Returns "passed", "failed" or "skipped"."""
    start = time.monotonic()
    try:
        why = one(scratch, guest, group, function)
    except farblock.Skip as reason:
        return tell(name, "skipped", start, f": {reason}")
    return tell(name, "failed" if why else "passed", start, f": {why}" if why else "")


def run_all(scenarios):
    results, begin = [], time.monotonic()
    guest, kind = None, None
    with farblock.Scratch() as scratch:
        try:
            for name, (group, function) in scenarios.items():
                if guest is None or kind != kind_of(group):
                    if guest:
                        guest.kill()
                    start, kind = time.monotonic(), kind_of(group)
                    guest = guest_of(scratch, kind).start()
                    print(f"lab: guest up in {time.monotonic() - start:.0f} s", flush=True)
                results.append(run_one(scratch, guest, name, group, function))
                if results[-1] == "failed":
                    guest.kill()  # discard what a failure leaves behind
                    guest = None
        finally:
            if guest:
                guest.kill()
    print(f"lab: {results.count('passed')} passed, {results.count('failed')} failed, "
          f"{results.count('skipped')} skipped, in {time.monotonic() - begin:.0f} s")
    if "failed" in results:
        return 1
    return 77 if "skipped" in results else 0


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
