# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios of ib_srp below dm-multipath, with multipathd: paths that are cut, that log out and in,
and whose disks are deleted, while fio verifies what it writes; and what dm-multipath asks of
them."""

from functools import partial

import farblock
import net
from data import thin_file
from farblock import Failure
from faults import end_of_load, load, wait_for_writes
from kernel import wait_until
from logins import MIB, ramdisk, round_trip, same
from multipath import Multipath
from place import rdma_device

# Without registrations: see "ib_srp's logout" in README.md.
PAGES = {"never_register": "Y"}
# Seconds until I/O of a lost path fails, and until its disk does.
TIMES = {"reconnect_delay": "1", "fast_io_fail_tmo": "3", "dev_loss_tmo": "off"}
COMMAND_TIMEOUT = 10
RELEASE = "/run/release"


class Paths:
    """Two addresses of a LUN, by one target or a target each, and a session with each."""

    def __init__(self, lab, multipath, targets=1, times=None, settings=None, **options):
        self.lab, self.guest, self.multipath, self.options = lab, lab.guest, multipath, options
        config, hosts = farblock.Config(), lab.place.hosts
        disk = thin_file(config, lab.scratch, size=64 * MIB)
        portals = [[(host, net.PORT) for host in hosts]] if targets == 1 else \
            [[(host, net.PORT)] for host in hosts]
        made = [config.srp_target([disk], farblock.SRP_PORT[:-2] + f"{i:02x}", net.GUESTS, some,
                                  portal_keys=lab.place.portal) for i, some in enumerate(portals)]
        self.places = [(target, i) for target in made for i in range(len(target.portals))]
        self.daemon = lab.daemon(config)
        if not lab.is_inside:  # a path does not lead through the other's address
            self.guest.run(f"ip addr replace {net.GUESTS[1]}/24 dev eth0")
        self.initiator = lab.initiator(settings)
        self.initiator.report = {**TIMES, **(times or {})}
        self.ports = [self.log_in(number) for number in (0, 1)]
        self.device = multipath.device(2)

    def log_in(self, number):
        """Returns the remote port. Its disk gets a short limit of time."""
        target, portal = self.places[number]
        before = {name for names in self.initiator.disks().values() for name in names}
        port = self.initiator.login(target, portal, self.options)
        wait_until(lambda: set(self.initiator.disks().get(0, ())) - before, "its disk is there")
        self.guest.run(f"""for t in {self.initiator.host_of(port)}/device/target*/*/timeout; do
            echo {COMMAND_TIMEOUT} >$t || exit; done""")
        return port

    def log_out(self):
        """Of both paths."""
        for port in self.ports:
            self.initiator.logout(port)
        wait_until(lambda: not self.daemon.rpc("session.list"), "no session is left")
        wait_until(lambda: not self.multipath.paths(), "the map has no path")

    def log_in_again(self, **options):
        """The same over both paths, with other options."""
        self.log_out()
        self.options.update(options)
        self.ports = [self.log_in(number) for number in (0, 1)]
        self.multipath.device(2)

    def is_whole(self):
        return len(self.multipath.working()) == 2

    def load(self, where=None):
        load(self.lab, self.initiator, self.device, where)

    def end_of_load(self):
        """It was not stopped, and all paths are there."""
        wait_until(self.is_whole, "both paths are used")
        end_of_load(self.initiator)

    def lose(self, cut, restore):
        """Under load a path is cut until multipathd has noticed, and I/O continues on the other;
        then it is restored, and comes back by itself."""
        cut()
        try:
            wait_until(lambda: len(self.multipath.working()) == 1, "one path is used")
            wait_for_writes(self.lab, self.device)
        finally:
            restore()
        wait_until(self.is_whole, "both paths are used")


def address_lost(lab):
    """Each of two addresses disappears without a word under load: I/O fails over after
    fast_io_fail_tmo, and the path comes back by itself. No error, no wrong byte."""
    with Multipath(lab.guest) as multipath:
        paths = Paths(lab, multipath)
        paths.load()
        for host in lab.place.hosts:
            paths.lose(partial(lab.place.cut_address, host, True),
                       partial(lab.place.cut_address, host, False))
        paths.end_of_load()
        wait_until(lambda: len(paths.daemon.rpc("session.list")) == 2, "two sessions are left")


def change(paths, target, command, child="", **named):
    paths.daemon.rpc("tree.run", command=command, path=target.path + child, named=named)


def target_disabled(lab):
    """Of two targets with the same LUN each is disabled under load: T_LOGOUT, and refused logins
    until it is enabled. No error, no wrong byte."""
    with Multipath(lab.guest) as multipath:
        paths = Paths(lab, multipath, targets=2)
        paths.load()
        for target, _ in paths.places:
            paths.lose(partial(change, paths, target, "disable"),
                       partial(change, paths, target, "enable"))
        paths.end_of_load()


def delete_portal(paths, target, host, port):
    change(paths, target, "delete", "/portals", ip_address=host, ip_port=port, force=True)
    for found in paths.daemon.rpc("session.list"):
        if host in str(found):
            paths.daemon.rpc("session.drop", sid=found["sid"])


def portal_deleted(lab):
    """Each of two portals is deleted under load, and its session dropped: the kernel cannot connect
    until the portal is made again. No error, no wrong byte."""
    with Multipath(lab.guest) as multipath:
        paths = Paths(lab, multipath)
        target, _ = paths.places[0]
        paths.load()
        for host, port in target.portals:
            paths.lose(partial(delete_portal, paths, target, host, port),
                       partial(change, paths, target, "create", "/portals", ip_address=host,
                               ip_port=port, **lab.place.portal))
        paths.end_of_load()


def path_gone(lab):
    """A portal is away for longer than dev_loss_tmo: the kernel removes the disk and multipathd the
    path; after a new login both are back. I/O continues on the other path."""
    with Multipath(lab.guest) as multipath:
        paths = Paths(lab, multipath, times={"dev_loss_tmo": "8"})
        (target, _), port = paths.places[1], paths.ports[1]
        where = target.portals[1]
        paths.load()
        delete_portal(paths, target, *where)
        wait_until(lambda: port not in paths.initiator.ports(), "the remote port is removed")
        wait_until(lambda: len(multipath.paths()) == 1, "the map has one path")
        wait_for_writes(lab, paths.device)
        change(paths, target, "create", "/portals", ip_address=where[0], ip_port=where[1],
               **lab.place.portal)
        paths.log_in(1)
        paths.end_of_load()


def logs_out_and_in(paths, rounds=3):
    """All paths log out, and later in; then one of them, while the other is used."""
    for _ in range(rounds):
        paths.log_in_again()
        wait_for_writes(paths.lab, paths.device)
        paths.initiator.logout(paths.ports[0])
        wait_for_writes(paths.lab, paths.device)
        paths.ports[0] = paths.log_in(0)
        wait_until(paths.is_whole, "both paths are used again")


def logouts_below_files(lab):
    """ext4 on dm-multipath, fio in its files: all sessions log out and in again and again. Every
    block verifies, and fsck finds nothing."""
    with Multipath(lab.guest) as multipath:
        paths = Paths(lab, multipath, settings=PAGES, ch_count=4)
        lab.guest.run(f"mkfs.ext4 -q {paths.device} && mount {paths.device} /mnt")
        paths.load("--directory=/mnt")
        logs_out_and_in(paths)
        paths.end_of_load()
        lab.guest.run(f"umount /mnt && e2fsck -fn {paths.device}")


def logouts_below_blocks(lab):
    """fio on the blocks of dm-multipath: all sessions log out and in again and again. Every block
    verifies."""
    with Multipath(lab.guest) as multipath:
        paths = Paths(lab, multipath, settings=PAGES, ch_count=4)
        # Between two rounds of fio multipathd would remove an unused map without paths.
        lab.guest.run(f"rm -f {RELEASE}; mkfifo {RELEASE}")
        paths.initiator.in_background("held", f"read x 9<{paths.device} <{RELEASE}")
        paths.load()
        logs_out_and_in(paths)
        paths.end_of_load()
        lab.guest.run(f"echo >{RELEASE}")
        paths.initiator.finished("held")


def disks_deleted(lab):
    """The disk of each path is deleted under load, and found again by a scan of its host: the
    session stays, multipathd uses the new disk."""
    with Multipath(lab.guest) as multipath:
        paths = Paths(lab, multipath)
        before = {s["sid"] for s in paths.daemon.rpc("session.list")}
        paths.load()
        for disk in sorted(multipath.working()):
            lab.guest.run(f"echo 1 >/sys/block/{disk}/device/delete")
            wait_until(lambda: len(multipath.paths()) == 1, "the map has one path")
            wait_for_writes(lab, paths.device)
            paths.initiator.rescan()
            wait_until(paths.is_whole, "both paths are used")
        paths.end_of_load()
        same({s["sid"] for s in paths.daemon.rpc("session.list")}, before, "sessions")


def verified(lab, device, block, depth=4, direct=1, size="32M"):
    """fio writes in that order of size at random places and verifies each block."""
    lab.guest.run(f"""fio --name=v --filename={device} --direct={direct} --ioengine=libaio \
        --iodepth={depth} --rw=randwrite --bs={block} --size={size} --verify=crc32c \
        --verify_fatal=1 --do_verify=1 --sync=1 --minimal >/tmp/fio 2>&1 ||
        {{ tail -5 /tmp/fio; exit 1; }}""")


def large_transfers(lab):
    """Blocks of 4 and 8 MiB through dm-multipath, direct and buffered, with cmd_sg_entries 255 and
    1 and lists of up to 2,048 entries. Every block verifies."""
    with Multipath(lab.guest) as multipath:
        # siw refuses to register lists of more than 256 scattered pages, and ib_srp tries for ever.
        pages = PAGES if lab.device == "siw" else {}
        paths = Paths(lab, multipath, settings={"indirect_sg_entries": 2048, **pages}, ch_count=1,
                      queue_size=32, max_cmd_per_lun=32, max_sect=131072, allow_ext_sg=1)
        for entries in (255, 1):
            paths.log_in_again(cmd_sg_entries=entries)
            lab.guest.run("""for d in /sys/block/sd*/queue /sys/block/dm-*/queue; do
                cat $d/max_hw_sectors_kb >$d/max_sectors_kb || exit; done""")
            for block, direct in (("4M", 1), ("8M", 1), ("4M", 0), ("8M", 0)):
                verified(lab, paths.device, block, direct=direct)


def schedulers(lab):
    """Each I/O scheduler of the kernel, on the paths and on dm-multipath."""
    with Multipath(lab.guest) as multipath:
        paths = Paths(lab, multipath)
        files = lab.guest.run(f"""
            for d in $(basename $(readlink -f {paths.device})) {' '.join(multipath.working())}; do
                echo /sys/block/$d/queue/scheduler; done""").split()
        for name in lab.guest.run(f"tr -d '[]' <{files[0]}").split():
            lab.guest.run("\n".join(f"echo {name} >{file} || exit" for file in files))
            verified(lab, paths.device, "4k", 32, size="2M")


def module_unloaded(lab):
    """ib_srp cannot be unloaded while its disk is used; killed, the user leaves commands behind,
    and unloading then logs out. Loaded again it logs in, and the disk works."""
    daemon, target, initiator = lab.serve(ramdisk)
    initiator.login(target)
    disk = initiator.disk()
    initiator.in_background("use", f"""exec fio --name=use --filename={disk} --thread --direct=1 \
        --ioengine=libaio --iodepth=32 --rw=randrw --bs=64k --size=16M --time_based --runtime=9999 \
        --minimal & echo $! >/run/use.pid; wait""")
    wait_for_writes(lab, disk)
    if lab.guest.ask("modprobe -rq ib_srp")[0] == 0:
        raise Failure("ib_srp was unloaded while its disk was used")
    same(len(daemon.rpc("session.list")), 1, "sessions")
    lab.guest.run("kill -9 $(cat /run/use.pid)")
    wait_until(lambda: initiator.is_finished("use"), "fio is gone")
    wait_until(lambda: lab.guest.ask("modprobe -r ib_srp")[0] == 0, "ib_srp is unloaded")
    wait_until(lambda: not daemon.rpc("session.list"), "no session is left")
    again = lab.initiator()
    again.login(target)
    round_trip(lab, again.disk(), ("64k",))


def device_unplugged(lab):
    """The initiator's RDMA device is removed while it is logged in, idle and under load: the
    session ends; with the device back a new login works."""
    daemon, target, initiator = lab.serve(ramdisk)
    for is_loaded in (False, True):
        initiator.login(target)
        disk = initiator.disk()
        round_trip(lab, disk, ("64k",))
        if is_loaded:
            initiator.in_background("use", f"""
                while dd if={disk} of=/dev/null bs=64k iflag=direct status=none; do :; done""")
        lab.guest.run(f"rdma link del {lab.device}0")
        wait_until(lambda: not initiator.ports(), "the remote port is gone")
        wait_until(lambda: not daemon.rpc("session.list"), "no session is left")
        if is_loaded:
            wait_until(lambda: initiator.is_finished("use"), "the reader meets an error")
        rdma_device(lab.guest, lab.device)
    initiator.login(target)
    round_trip(lab, initiator.disk(), ("64k",))


SCENARIOS = [target_disabled, portal_deleted, logouts_below_files, logouts_below_blocks,
             disks_deleted, large_transfers, schedulers, module_unloaded]
OUTSIDE = [address_lost, path_gone, device_unplugged]
CHECK = [target_disabled]
