# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: task management, and either end or the cable going away under load."""

import re
import time

import net
from data import thin_file
from farblock import Failure
from kernel import wait_until
from logins import ramdisk, round_trip, same
from open_iscsi import IMPATIENT

# Writes at random places, many at once, and verifies every block, again and again until it is told to
# end: an acknowledged write that is lost, or one that lands after a later one, shows. At its rate a
# round takes some seconds on any machine.
RATE, BLOCK, SECONDS = 150, 16384, 4
STOP = "/run/stop"
LOAD = """until [ -e {stop} ]; do
    fio --name=load {where} --direct=1 --ioengine=libaio --iodepth=16 --rw=randwrite \
        --bs={block} --size=16M --io_size={size} --rate_iops={rate} --norandommap \
        --randseed=$RANDOM --serialize_overlap=1 --verify=crc32c --verify_fatal=1 --do_verify=1 \
        --minimal || exit
done"""


def wait_for_writes(lab, disk, start=lambda: None):
    """Returns as soon as the disk has been written to since start()."""
    written = f"awk '{{print $7}}' /sys/dev/block/$(stat -L -c %Hr:%Lr {disk})/stat"
    before = int(lab.guest.run(written))
    start()
    wait_until(lambda: int(lab.guest.run(written)) > before + 1000, "the load writes")


def load(lab, initiator, disk, where=None):
    """Starts it and returns as soon as it writes; end_of_load() ends it. where: fio's option, if not
    the disk itself."""
    lab.guest.run(f"rm -f {STOP}")
    script = LOAD.format(stop=STOP, where=where or f"--filename={disk}", block=BLOCK,
                         size=SECONDS * RATE * BLOCK, rate=RATE)
    wait_for_writes(lab, disk, lambda: initiator.in_background("load", script))


def end_of_load(initiator):
    """The load, which is still there, ends well."""
    if initiator.is_finished("load"):
        initiator.finished("load")
        raise Failure("the load was over before its time")
    initiator.guest.run(f"touch {STOP}")
    initiator.finished("load")
    initiator.guest.run(f"rm {STOP}")


def finish(initiator):
    """The same, and the guest's kernel has given up no I/O."""
    end_of_load(initiator)
    for line in initiator.kernel_log().splitlines():
        if "I/O error" in line or "BUG" in line:
            raise Failure(f"the guest's kernel: {line.strip()}")


def impatient(lab):
    """An iSCSI session notices a lost connection by its NOPs; SRP has none."""
    return IMPATIENT if lab.fabric == "iscsi" else None


def resets(lab):
    """LUN and target resets (SRP: of the host, which logs in again) by sg_reset under load: no I/O is
    lost."""
    daemon, target, initiator = lab.serve(thin_file)
    initiator.login(target)
    disk = initiator.disk()
    load(lab, initiator, disk)
    for kind in initiator.resets:
        lab.guest.run(f"sg_reset {kind} -N {disk}")
        time.sleep(1)
    finish(initiator)


def functions(lab):
    """How many task management functions the kernel has sent in the one session."""
    return int(lab.guest.run("iscsiadm -m session -s | sed -n 's/.*tmfcmd_pdus: //p'") or 0)


def aborts(lab):
    """Commands that take longer than the kernel waits are aborted with ABORT TASK and tried
    again; a storage that is quick again makes good for all of it."""
    daemon, target, initiator = lab.serve(ramdisk)
    initiator.login(target, update={  # whose NOPs would give a slow command more time
        "node.conn[0].timeo.noop_out_interval": "0", "node.conn[0].timeo.noop_out_timeout": "0"})
    disk = initiator.disk()
    lab.guest.run(f"echo 2 >/sys/block/{disk[5:]}/device/timeout")
    daemon.rpc("tree.run", command="set", path="/backstores/ramdisk/rd0", positional=["attribute"],
               named={"delay_write_us": 20000000})
    initiator.in_background("write", f"dd if=/dev/zero of={disk} bs=64k count=4 oflag=direct")
    wait_until(lambda: functions(lab), "the kernel sends a task management function")
    daemon.rpc("tree.run", command="set", path="/backstores/ramdisk/rd0", positional=["attribute"],
               named={"delay_write_us": 0})
    initiator.finished("write")
    lab.guest.run(f"echo 30 >/sys/block/{disk[5:]}/device/timeout")
    round_trip(lab, disk, ("64k",))


def target_killed(lab):
    """The daemon killed with SIGKILL and started again, twice under load: the kernel logs
    in again, no I/O fails, every block verifies."""
    daemon, target, initiator = lab.serve(thin_file)
    initiator.login(target)
    disk = initiator.disk()
    load(lab, initiator, disk)
    for pause in (0, 3):
        daemon.kill()
        time.sleep(pause)
        daemon.start()
        wait_until(lambda: initiator.is_up() and
                   sessions(daemon), "the session is back")
        time.sleep(1)
    finish(initiator)


def sessions(daemon):
    return daemon.rpc("session.list")


def target_paused(lab):
    """The daemon stopped with SIGSTOP for longer than the initiator's NOPs wait: the session is
    reinstated while the old connection is still there."""
    daemon, target, initiator = lab.serve(thin_file, settings=impatient(lab))
    initiator.login(target)
    disk = initiator.disk()
    load(lab, initiator, disk)
    daemon.pause()
    time.sleep(6)
    daemon.resume()
    finish(initiator)
    wait_until(lambda: len(sessions(daemon)) == 1, "one session is left")


def cable_pulled(lab):
    """The cable pulled for 6 s under load, without a FIN or RST: reinstatement, no I/O lost."""
    daemon, target, initiator = lab.serve(thin_file, settings=impatient(lab))
    initiator.login(target)
    disk = initiator.disk()
    load(lab, initiator, disk)
    lab.place.cut(True)
    try:
        time.sleep(6)
    finally:
        lab.place.cut(False)
    finish(initiator)
    wait_until(lambda: len(sessions(daemon)) == 1, "one session is left")


def session_dropped(lab):
    """Sessions dropped by the administrator under load come back by themselves."""
    daemon, target, initiator = lab.serve(thin_file)
    initiator.login(target)
    disk = initiator.disk()
    load(lab, initiator, disk)
    dropped = set()
    for _ in range(3):
        sid = wait_until(lambda: {s["sid"] for s in sessions(daemon)} - dropped, "a session").pop()
        dropped.add(sid)
        daemon.rpc("session.drop", sid=sid)
    finish(initiator)


def failed_paths(lab):
    return re.findall(r"(\d+:\d+) F", lab.guest.run("dmsetup status two"))


def reinstated(lab, numbers):
    """Has multipath try all paths again, as multipathd does; which have failed nevertheless."""
    for number in numbers:
        lab.guest.run(f"dmsetup message two 0 reinstate_path {number}")
    return failed_paths(lab)


def two_paths(lab):
    """dm-multipath over two portals: a portal that goes away under load costs no I/O, nor does
    the other one after the first is back."""
    portals = [(host, net.PORT) for host in lab.place.hosts]
    settings = {"iscsi": {"node.session.timeo.replacement_timeout": "2"}, "srpt": None}
    daemon, target, initiator = lab.serve(thin_file, portals=portals,
                                          settings=settings[lab.fabric])
    initiator.gives_up(2)
    for portal in (0, 1):
        initiator.login(target, portal)
    paths = initiator.disk(count=2)
    numbers = [lab.guest.run(f"cat /sys/block/{p[5:]}/dev").strip() for p in paths]
    sectors = lab.guest.run(f"blockdev --getsz {paths[0]}").strip()
    lab.guest.run(f"""
        modprobe -a dm_multipath dm_round_robin scsi_dh_alua
        dmsetup create two --noudevsync --table "0 {sectors} multipath 1 queue_if_no_path 1 alua \
            1 1 round-robin 0 2 1 {numbers[0]} 100 {numbers[1]} 100"
        dmsetup mknodes""")
    load(lab, initiator, "/dev/mapper/two")
    for portal in (0, 1):
        path = f"{target.path}/portals"
        host = lab.place.hosts[portal]
        daemon.rpc("tree.run", command="delete", path=path,
                   named={"ip_address": host, "ip_port": net.PORT, "force": True})
        for found in sessions(daemon):
            if host in str(found):
                daemon.rpc("session.drop", sid=found["sid"])
        wait_until(lambda: failed_paths(lab), "multipath has given up the path")
        daemon.rpc("tree.run", command="create", path=path,
                   named={"ip_address": host, "ip_port": net.PORT})
        wait_until(lambda: len(sessions(daemon)) == 2, "both paths are logged in")
        wait_until(lambda: not reinstated(lab, numbers), "multipath uses both paths")
    end_of_load(initiator)  # its paths do fail I/O, which multipath tries again
    lab.guest.run("dmsetup remove --noudevsync two")
    same(len(sessions(daemon)), 2, "sessions")


SCENARIOS = [resets, aborts, target_killed, target_paused, cable_pulled, session_dropped,
             two_paths]
