# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: one LUN at once over TCP, iSER and SRP, to the kernel's initiators of all three, with
dm-multipath above them."""

import re

import farblock
import ib_srp
import net
import open_iscsi
from data import backing, thin_file
from farblock import Failure
from kernel import COMMAND_TIMEOUT, wait_until
from logins import MIB, same
from multipath import Multipath

SRP_PORT = net.PORT + 1
# What the kernel calls its initiators: our word.
DRIVERS = {"iscsi_tcp": "tcp", "iscsi_iser": "iser", "ib_srp": "srp"}
DISK = "/backstores/fileio/disk"
GROUPS = f"{DISK}/alua"


class All:
    """A LUN in an iSCSI and an SRP target, and the sessions of the guest with both."""

    def __init__(self, lab, count=1):
        self.lab, self.guest = lab, lab.guest
        config, host = farblock.Config(), lab.place.hosts[0]
        disks = [thin_file(config, lab.scratch, f"disk{i or ''}", 64 * MIB) for i in range(count)]
        keys = {"portal_keys": lab.place.portal}
        self.iscsi = config.target(disks, portals=[(host, net.PORT)],
                                   attributes={"login_timeout": 30}, **keys)
        self.srp = config.srp_target(disks, portals=[(host, SRP_PORT)], acls=net.GUESTS, **keys)
        self.daemon = lab.daemon(config)
        self.open_iscsi = open_iscsi.Initiator(lab.guest, host, None, lab.device)
        self.ib_srp = ib_srp.Initiator(lab.guest, host, None, lab.device)
        lab.initiators += [self.open_iscsi, self.ib_srp]

    def log_in(self, lun=0):
        """Over TCP, iSER and SRP; returns the disks of a LUN."""
        self.guest.run("modprobe iscsi_tcp")
        for interface in ("default", "iser"):
            self.open_iscsi.login(self.iscsi, interface=interface)
        self.ib_srp.login(self.srp)
        return self.wait_for_disks(lun)

    def disks(self, lun=0):
        """{"tcp": "sda", "iser": "sdb", "srp": "sdc"}"""
        output = self.guest.run("""
            for d in /sys/block/sd*; do
                [ -e $d/device ] || continue
                a=$(readlink -f $d/device); a=${a##*/}
                echo $(cat /sys/class/scsi_host/host${a%%:*}/proc_name) ${a##*:} ${d##*/}
            done""")
        found = [line.split() for line in output.splitlines()]
        return {DRIVERS[words[0]]: words[2] for words in found if int(words[1]) == lun}

    def wait_for_disks(self, lun=0):
        wait_until(lambda: len(self.disks(lun)) == len(DRIVERS), f"LUN {lun} is there three times")
        found = self.disks(lun)
        self.guest.run("\n".join(f"echo {COMMAND_TIMEOUT} >/sys/block/{name}/device/timeout || exit"
                                 for name in found.values()))
        return found

    def rescan(self):
        self.open_iscsi.rescan()
        self.ib_srp.rescan()

    def tree(self, path, command, **named):
        return self.daemon.rpc("tree.run", path=path, command=command, named=named)

    def set(self, path, group, **named):
        return self.daemon.rpc("tree.run", path=path, command="set", positional=[group],
                               named=named)

    def reads(self, disk):
        """Whether a block can be read, past the cache. A LUN that is gone has no blocks."""
        return self.guest.run(f"dd if=/dev/{disk} bs=4k count=1 iflag=direct status=none"
                              " 2>/dev/null | wc -c").strip() == "4096"

    def writes(self, disk):
        return self.guest.ask(f"dd if=/dev/zero of=/dev/{disk} bs=4k count=1 oflag=direct"
                              " status=none")[0] == 0

    def sizes(self):
        return {int(self.guest.run(f"blockdev --getsize64 /dev/{disk}"))
                for disk in self.disks().values()}


def identity(lab):
    """multipathd makes one map of the three paths, by VPD 83h; what goes through the map is in the
    file behind the LUN and is read over each transport."""
    lun = All(lab)
    with Multipath(lab.guest) as multipath:
        disks = lun.log_in()
        names = {lab.guest.run(f"cat /sys/block/{d}/device/wwid").strip() for d in disks.values()}
        same(len(names), 1, f"identities of the disk ({names})")
        device = multipath.device(3)
        same(multipath.maps(), ["3" + names.pop().removeprefix("naa.")], "the map")
        lab.guest.run(f"""
            head -c {8 * MIB} /dev/urandom >/tmp/big
            for i in 0 1 2 3; do
                dd if=/tmp/big of={device} bs=64k skip=$((32*i)) seek=$((32*i)) count=32 \
                    oflag=direct status=none || exit
            done""")
        for disk in disks.values():
            lab.guest.run(f"dd if=/dev/{disk} bs=1M count=8 iflag=direct status=none |"
                          " cmp - /tmp/big")
        wanted = lab.guest.run("sha256sum </tmp/big; rm /tmp/big").split()[0]
        same(lab.place.sha256_of(backing(lab), 8 * MIB), wanted, "the file behind the LUN")
        same(len(lun.daemon.rpc("session.list")), 3, "sessions")


def persist(lun, disk, words):
    """sg_persist; it meets the unit attentions of what others did."""
    return lun.guest.run(f"""
        for i in 1 2 3; do sg_turs /dev/{disk} && break; done >/dev/null 2>&1
        sg_persist -n {words} /dev/{disk}""")


def registrations(lun, disk):
    """READ FULL STATUS: {key: (relative target port, whether it holds, TransportID)}."""
    found = {}
    for part in persist(lun, disk, "--in --read-full-status").split("Key=")[1:]:
        port = re.search(r"Relative port address: (0x[0-9a-f]+)", part)
        found[int(part.split()[0], 16)] = (
            int(port[1], 16), "Reservation holder" in part,
            " ".join(part.split("Transport Id of initiator:")[1].split()))
    return found


def reservation(lab):
    """A persistent reservation that is taken over one transport keeps the others from writing, is
    preempted by another, and moved to each by REGISTER AND MOVE with its TransportID."""
    lun = All(lab)
    disks = lun.log_in()
    keys = {"tcp": 0xa1, "iser": 0xa2, "srp": 0xa3}
    srp_id, = [s["initiator"][3:] for s in lun.daemon.rpc("session.list")
               if s["initiator"].startswith("ib.")]
    for name, disk in disks.items():
        persist(lun, disk, f"--out --register --param-sark={keys[name]:#x}")
    ids = {}
    for name, disk in disks.items():
        persist(lun, disk, f"--out --reserve --param-rk={keys[name]:#x} --prout-type=3")
        same({n for n, d in disks.items() if lun.writes(d)}, {name}, "who can write")
        found = registrations(lun, disk)
        same({key for key, what in found.items() if what[1]}, {keys[name]}, "who holds it")
        ids = {n: found[key] for n, key in keys.items()}
        persist(lun, disk, f"--out --release --param-rk={keys[name]:#x} --prout-type=3")
    for name in ("tcp", "iser"):
        if open_iscsi.NAME not in ids[name][2]:
            raise Failure(f"the TransportID of {name}: {ids[name]}")
    if srp_id not in ids["srp"][2].replace(" ", ""):
        raise Failure(f"the TransportID of srp: {ids['srp']}, without {srp_id}")
    same(len({ids[name][2] for name in ids}), 3, "TransportIDs")
    passed_on(lun, disks, keys, ids, srp_id)


def passed_on(lun, disks, keys, ids, srp_id):
    """The reservation, by REGISTER AND MOVE and by PREEMPT."""
    persist(lun, disks["tcp"], f"--out --reserve --param-rk={keys['tcp']:#x} --prout-type=3")
    for old, new in (("tcp", "srp"), ("srp", "iser"), ("iser", "tcp")):
        # sg_persist's own form "srp,..." takes half of an identifier.
        tid = bytes((4, *bytes(7), *bytes.fromhex(srp_id))).hex(",") if new == "srp" else \
            re.search(r"iqn\.\S+,i,0x[0-9a-f]{12}", ids[new][2])[0]
        persist(lun, disks[old], f"--out --register-move --param-rk={keys[old]:#x} "
                f"--param-sark={keys[new]:#x} --relative-target-port={ids[new][0]} "
                f"--transport-id={tid}")
        same({n for n, d in disks.items() if lun.writes(d)}, {new}, "who can write")
    for old, new in (("tcp", "srp"), ("srp", "iser")):
        persist(lun, disks[new], f"--out --preempt --param-rk={keys[new]:#x} "
                f"--param-sark={keys[old]:#x} --prout-type=3")
        same({n for n, d in disks.items() if lun.writes(d)}, {new}, "who can write")
    persist(lun, disks["iser"], f"--out --clear --param-rk={keys['iser']:#x}")
    for name, disk in disks.items():
        wait_until(lambda d=disk: lun.writes(d), f"{name} can write")


def reserved_map(lab):
    """mpathpersist registers the map with all three paths and reserves it: through the map writes
    go over all of them; a path that logs in later is registered by multipathd and writes too."""
    lun = All(lab)
    with Multipath(lab.guest, "reservation_key 0xabc") as multipath:
        disks = lun.log_in()
        device = multipath.device(3)
        lab.guest.run(f"""
            mpathpersist --out --register --param-sark=0xabc {device} &&
            mpathpersist --out --reserve --param-rk=0xabc --prout-type=5 {device}""")
        same({len(registrations_of_key(lun, d)) for d in disks.values()}, {3}, "registrations")
        lab.guest.run(f"dd if=/dev/zero of={device} bs=64k count=64 oflag=direct status=none")
        port, = lun.ib_srp.ports()
        lun.ib_srp.logout(port)
        wait_until(lambda: len(multipath.paths()) == 2, "the map has two paths")
        lun.ib_srp.login(lun.srp)
        multipath.device(3)
        disk = lun.wait_for_disks()["srp"]
        wait_until(lambda: len(registrations_of_key(lun, disk)) == 3, "all are registered")
        wait_until(lambda: lun.writes(disk), "the new path can write")
        lab.guest.run(f"mpathpersist --out --clear --param-rk=0xabc {device}")


def registrations_of_key(lun, disk):
    return re.findall("0xabc", persist(lun, disk, "--in --read-keys"))


def resize(lab):
    """The LUN grows: each path sees it after a rescan, the map after multipathd's resize, and the
    new blocks can be written through it."""
    lun = All(lab)
    with Multipath(lab.guest) as multipath:
        lun.log_in()
        device = multipath.device(3)
        size = 64 * MIB
        same(lun.sizes(), {size}, "sizes before")
        lun.tree(DISK, "resize", size=str(2 * size))
        for disk in lun.disks().values():
            lab.guest.run(f"dd if=/dev/{disk} of=/dev/null bs=4k count=1 iflag=direct status=none")
        said = re.findall(r"sd (\S+): Capacity data has changed", lab.guest.run("dmesg"))
        same(len(set(said)), 3, "paths of which the kernel says so")
        lun.rescan()
        same(lun.sizes(), {2 * size}, "sizes after the rescan")
        wait_until(lambda: resized(lab, multipath, device) == 2 * size, "the map has the new size")
        lab.guest.run(f"""
            head -c {MIB} /dev/urandom >/tmp/end
            dd if=/tmp/end of={device} bs=1M seek=127 oflag=direct status=none""")
        for disk in lun.disks().values():
            lab.guest.run(f"dd if=/dev/{disk} bs=1M skip=127 iflag=direct status=none |"
                          " cmp - /tmp/end")


def resized(lab, multipath, device):
    multipath.asked(f"resize map {device.rsplit('/', 1)[1]}")
    return int(lab.guest.run(f"blockdev --getsize64 {device}"))


def removed(lab):
    """LUN 1 is removed from both targets: no path can be read any more, multipath counts all of
    them as failed; LUN 0 continues over all three; shown again, LUN 1 is back on all three."""
    lun = All(lab, 2)
    with Multipath(lab.guest) as multipath:
        lun.log_in()
        disks = lun.wait_for_disks(1)
        wait_until(lambda: len(multipath.working()) == 6, "two maps of three paths")
        for target in (lun.iscsi, lun.srp):
            lun.tree(f"{target.path}/luns", "delete", lun="1", force=True)
        lun.rescan()
        for name, disk in disks.items():
            wait_until(lambda d=disk: not lun.reads(d), f"LUN 1 is gone over {name}")
        wait_until(lambda: not multipath.working() & set(disks.values()),
                   "multipath does not use the paths of LUN 1")
        for name, disk in lun.disks().items():
            same(lun.writes(disk), True, f"LUN 0 can be written over {name}")
        for target in (lun.iscsi, lun.srp):
            lun.tree(f"{target.path}/luns", "create", storage_object="/backstores/fileio/disk1",
                     lun="1")
        lun.rescan()
        lun.wait_for_disks(1)
        wait_until(lambda: len(multipath.working()) == 6, "two maps of three paths again")


ACTIVE, NONOPTIMIZED, STANDBY = 0, 1, 2
PRIORITIES = {ACTIVE: 50, NONOPTIMIZED: 10, STANDBY: 1}


def states(lab):
    """ALUA states that are set in the shell reach all three paths and become multipath's
    priorities; a group with the LUN of the SRP target alone changes the SRP path alone. I/O
    continues. Implicit changes only: otherwise the initiator may make a group active again."""
    lun = All(lab)
    lun.set(f"{GROUPS}/default_tg_pt_gp", "alua", alua_access_type="1")
    with Multipath(lab.guest) as multipath:
        disks = lun.log_in()
        device = multipath.device(3)
        write = f"dd if=/dev/zero of={device} bs=64k count=16 oflag=direct status=none"
        for state in (NONOPTIMIZED, ACTIVE):
            lun.set(f"{GROUPS}/default_tg_pt_gp", "alua", alua_access_state=str(state))
            wanted = {disk: PRIORITIES[state] for disk in disks.values()}
            wait_until(lambda w=wanted: multipath.priorities() == w, f"priorities {wanted}")
            lab.guest.run(write)
        lun.tree(GROUPS, "create", name="other", tag="7")
        lun.set(f"{GROUPS}/other", "alua", alua_access_type="1")
        lun.set(f"{lun.srp.path}/luns/lun0", "alua", alua_tg_pt_gp_name="other")
        for state in (STANDBY, NONOPTIMIZED, ACTIVE):
            lun.set(f"{GROUPS}/other", "alua", alua_access_state=str(state))
            wanted = {disk: PRIORITIES[state if name == "srp" else ACTIVE]
                      for name, disk in disks.items()}
            wait_until(lambda w=wanted: multipath.priorities() == w, f"priorities {wanted}")
            lab.guest.run(write)
            same(lun.writes(disks["srp"]), state != STANDBY, "writes over SRP")


SCENARIOS = [identity, reservation, reserved_map, resize, removed, states]
CHECK = [identity, reservation]
