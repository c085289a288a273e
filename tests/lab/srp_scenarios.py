# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: what only the kernel's ib_srp does. Those of iSCSI that say the same of SRP are used as
they are; lab.py lists both."""

import data
import faults
import luns
import net
from data import thin_file
from farblock import Failure
from kernel import wait_until
from logins import MIB, no_complaint, ramdisk, round_trip, same


def fifty_logins(lab):
    """50 logins and logouts in a row leave nothing behind, neither here nor there."""
    daemon, target, initiator = lab.serve(ramdisk)
    for _ in range(50):
        initiator.logout(initiator.login(target))
    wait_until(lambda: not daemon.rpc("session.list"), "no session is left")
    same(initiator.disks(), {}, "disks left in the guest")
    no_complaint(initiator)


def refused(lab):
    """Another id_ext, an initiator without an ACL and a disabled target are refused; the kernel
    prints the reason, farblockd tells the cause."""
    daemon, target, initiator = lab.serve(ramdisk)
    for wrong, word in (({"id_ext": "0123456789abcdef"}, "no such target"), ({}, "disabled")):
        if not wrong:
            daemon.rpc("tree.run", command="disable", path=target.path)
        status, output = initiator.ask(target, **wrong)
        if not status or "REJ" not in output:
            raise Failure(f"add_target with {wrong}: exit status {status}: {output}")
        if not any(word in found["reason"] for found in daemon.rpc("login.refusals")):
            raise Failure(f"refusals: {daemon.rpc('login.refusals')}, none with '{word}'")


def channels(lab):
    """One and four channels: one session each, and every byte right."""
    daemon, target, initiator = lab.serve(thin_file)
    for count in (1, 4):
        port = initiator.login(target, update={"ch_count": count})
        same(initiator.of_host(port, "ch_count"), str(count), "the kernel's channels")
        same(len(daemon.rpc("session.list")), 1, "sessions")
        round_trip(lab, initiator.disk(), ("4k", "64k", "1M"))
        initiator.logout(port)
    no_complaint(initiator)


def immediate_data(lab):
    """With and without immediate data every byte is right."""
    _, target, initiator = lab.serve(thin_file)
    for wanted in ("Y", "N"):
        lab.guest.run(f"echo {wanted} >/sys/module/ib_srp/parameters/use_imm_data")
        port = initiator.login(target)
        round_trip(lab, initiator.disk(), ("512", "4k", "8k", "16k", "1M"), 1)
        initiator.logout(port)
    no_complaint(initiator)


# Without registration each page is a descriptor of its own.
PAGES = {"never_register": "Y"}


def tables(lab):
    """cmd_sg_entries 1 to 255, with tables in the IU, and with tables that farblockd has to read from
    the initiator."""
    _, target, initiator = lab.serve(thin_file, settings=PAGES)
    for entries, outside in ((1, 0), (12, 0), (255, 0), (1, 256), (12, 2048)):
        port = initiator.login(target, update={
            "cmd_sg_entries": entries, "allow_ext_sg": int(outside > 0),
            "sg_tablesize": outside or entries})
        disk = initiator.disk()
        lab.guest.run(f"cd /sys/block/{disk[5:]}/queue && cat max_hw_sectors_kb >max_sectors_kb")
        round_trip(lab, disk, ("4k", "256k", "4M"), 4)
        initiator.logout(port)
    no_complaint(initiator)


def aborts(lab):
    """Commands that take longer than the kernel waits are aborted and tried again; a storage that is
    quick again makes good for all of it."""
    daemon, target, initiator = lab.serve(ramdisk)
    initiator.login(target)
    disk = initiator.disk()
    lab.guest.run(f"echo 2 >/sys/block/{disk[5:]}/device/timeout")
    delay = {"command": "set", "path": "/backstores/ramdisk/rd0", "positional": ["attribute"]}
    daemon.rpc("tree.run", **delay, named={"delay_write_us": 20000000})
    initiator.in_background("write", f"dd if=/dev/zero of={disk} bs=64k count=4 oflag=direct")
    wait_until(lambda: "SRP abort called" in lab.guest.run("dmesg"), "the kernel aborts")
    daemon.rpc("tree.run", **delay, named={"delay_write_us": 0})
    initiator.finished("write")
    lab.guest.run(f"echo 30 >/sys/block/{disk[5:]}/device/timeout")
    round_trip(lab, disk, ("64k",))


def luns_live(lab):
    """A LUN added while logged in is there after a rescan, and gone after its deletion; the LUN beside
    it continues without an error."""
    daemon, target, initiator = lab.serve(ramdisk)
    initiator.login(target)
    disk, path = initiator.disk(), f"{target.path}/luns"
    initiator.in_background("beside", f"""
        while [ ! -e /run/stop ]; do
            dd if={disk} of=/dev/null bs=64k count=64 iflag=direct status=none || exit
        done""")
    daemon.rpc("tree.run", command="create", path="/backstores/ramdisk",
               named={"name": "live", "size": str(16 * MIB)})
    daemon.rpc("tree.run", command="create", path=path,
               named={"storage_object": "/backstores/ramdisk/live", "lun": "1"})
    initiator.rescan()
    round_trip(lab, initiator.disk(1), ("64k",))
    daemon.rpc("tree.run", command="delete", path=path, named={"lun": "1", "force": True})
    wait_until(lambda: 1 not in luns.usable(lab, initiator), "LUN 1 cannot be read any more")
    lab.guest.run("touch /run/stop")
    initiator.finished("beside")
    lab.guest.run("rm /run/stop")


def logins_under_load(lab):
    """A second path logs in and out, again and again, under load on the first: no I/O is lost."""
    portals = [(host, net.PORT) for host in lab.place.hosts]
    daemon, target, initiator = lab.serve(thin_file, portals=portals)
    initiator.login(target)
    disk = initiator.disk()
    faults.load(lab, initiator, disk)
    for _ in range(5):
        initiator.logout(initiator.login(target, 1))
    faults.finish(initiator)
    wait_until(lambda: len(daemon.rpc("session.list")) == 1, "one session is left")


SCENARIOS = [fifty_logins, refused, channels, immediate_data, tables, aborts, luns_live,
             logins_under_load, *data.SCENARIOS, luns.resize, luns.many_luns,
             luns.write_protected, faults.resets, faults.target_killed, faults.target_paused,
             faults.session_dropped, faults.two_paths]
CHECK = [channels, tables, data.byte_for_byte, faults.target_killed]
