# SPDX-License-Identifier: BSD-2-Clause
"""The targets and initiators of failover.py, each in a guest of its own, with a path on each of two
subnets."""

import json
import os
from types import SimpleNamespace

import farblock_path  # noqa: F401: makes tests/lib importable
import farblock
import ib_srp
import net
import open_iscsi
from data import thin_file
from kernel import Kernel, wait_until
from initiator_tool import NAME
from logins import MIB
from multipath import Multipath
from place import Inside, rdma_device
from srp_paths import COMMAND_TIMEOUT

IQN = "iqn.2025-01.org.farblock.lab:failover"
SERIAL = "0f4b10c6-0000-4000-8000-000000000001"
PORTALS = [(host, net.PORT) for host in net.HOSTS]
SETTINGS = {**open_iscsi.IMPATIENT, "node.session.timeo.replacement_timeout": "3",
            "node.conn[0].timeo.login_timeout": "5", "node.session.iscsi.MaxBurstLength": "262144"}
# All paths carry commands when one of them is cut.
ROUND_ROBIN = 'path_selector "round-robin 0"'
# An attempt to connect waits for as long as the path is silent, and I/O fails only after it: so it has
# to begin later than I/O fails.
TIMES = {"reconnect_delay": "10", "fast_io_fail_tmo": "3", "dev_loss_tmo": "off"}


def ib_srp_names(guest):
    """What ib_srp calls itself on each of the two paths."""
    rdma_device(guest, "rxe")
    guid = guest.run("cat /sys/class/infiniband/rxe0/node_guid").strip().replace(":", "")
    return [f"0x{path + 1:016x}{guid}" for path in (0, 1)]


class Farblockd:
    """Here, in the target's guest."""

    def __init__(self, guest, scratch, is_srp, groups, _):
        config, place = farblock.Config(), Inside(guest, "rxe" if is_srp else None)
        place.hosts = net.HOSTS
        disk = thin_file(config, scratch, size=64 * MIB)
        if is_srp:
            self.target = config.srp_target([disk], acls=net.GUESTS, portals=PORTALS)
        else:
            some = [PORTALS] if groups == 1 else [PORTALS[:1], PORTALS[1:]]
            self.target = config.target([disk], portals=some[0])
            if groups == 2:
                config.target([disk], portals=some[1])
                config.targets[0]["tpgs"].append({**config.targets.pop()["tpgs"][0], "tag": 2})
        self.iqn = self.target.iqn
        self.daemon = place.daemon(scratch, config, "farblockd").start()

    @staticmethod
    def version():
        return farblock.run(["farblockd", "--version"]).stdout.split("\n")[0]

    def add_target(self, path):
        host, port = PORTALS[path]
        return f"id_ext={self.target.port_id[:16]},ioc_guid={self.target.port_id[16:]}," \
               f"dest={host}:{port}"


# LIO's iblock on a RAM disk of the kernel's. Without a serial number it has no identity, and
# dm-multipath no map.
DISK = """
    modprobe -a configfs target_core_mod target_core_iblock || exit
    modprobe brd rd_nr=1 rd_size=65536 || exit
    mkdir -p /var/target/pr /etc/target/pr
    mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
    ip addr replace {second}/24 dev eth0
    cd /sys/kernel/config/target && mkdir -p core/iblock_0/disk &&
        echo udev_path=/dev/ram0 >core/iblock_0/disk/control &&
        echo {serial} >core/iblock_0/disk/wwn/vpd_unit_serial && echo 1 >core/iblock_0/disk/enable &&
        echo 0 >core/iblock_0/disk/attrib/emulate_write_cache || exit
    disk=$PWD/core/iblock_0/disk
"""
ISCSI = """
    modprobe iscsi_target_mod || exit
    mkdir -p iscsi/{iqn} && cd iscsi/{iqn} || exit
    for g in $(seq {groups}); do
        mkdir -p tpgt_$g/lun/lun_0 && ln -s $disk tpgt_$g/lun/lun_0/disk || exit
        for a in authentication=0 generate_node_acls=1 cache_dynamic_acls=1 demo_mode_write_protect=0
        do echo ${{a#*=}} >tpgt_$g/attrib/${{a%=*}} || exit; done
    done
    mkdir tpgt_1/np/{first}:{port} tpgt_{groups}/np/{second}:{port} || exit
    for g in $(seq {groups}); do echo 1 >tpgt_$g/enable || exit; done"""
SRP = """
    modprobe ib_srpt && mkdir -p srpt && cd srpt || exit
    t=0x$(tr -d : </sys/class/infiniband/rxe0/ports/1/gids/0)/tpgt_1
    mkdir -p $t/lun/lun_0 && ln -s $disk $t/lun/lun_0/disk || exit
    for name in {names}; do
        mkdir -p $t/acls/$name/lun_0 && ln -s $PWD/$t/lun/lun_0 $t/acls/$name/lun_0/disk || exit
    done
    echo {port} >discovery_auth/rdma_cm_port && echo 1 >$t/enable || exit
    cat /sys/module/ib_srpt/parameters/srpt_service_guid"""


class Lio:
    """The target of the guest's kernel."""

    iqn = IQN

    def __init__(self, guest, scratch, is_srp, groups, names):
        self.guest, (first, second) = guest, net.HOSTS
        if is_srp:
            rdma_device(guest, "rxe")
        told = guest.run((DISK + (SRP if is_srp else ISCSI)).format(
            iqn=IQN, serial=SERIAL, groups=groups, first=first, second=second, port=net.PORT, names=" ".join(names)))
        self.guid = f"{int(told, 16):016x}" if is_srp else None

    def version(self):
        return "LIO of Linux " + self.guest.run("uname -r").strip()

    def add_target(self, path):
        host, port = PORTALS[path]
        return f"id_ext={self.guid},ioc_guid={self.guid},dest={host}:{port}"


class Below:
    """An initiator of the kernel's below dm-multipath."""

    def __init__(self, guest):
        guest.run("modprobe dm_round_robin")
        self.multipath = Multipath(guest, ROUND_ROBIN)

    def begin(self):
        self.multipath.__enter__()
        self.log_in()
        self.device = self.multipath.device(2)

    def working(self):
        return len(self.multipath.working())

    def end(self):
        self.leave()


class OpenIscsi(Below):
    def __init__(self, guest, target, _):
        super().__init__(guest)
        self.kernel, self.target = open_iscsi.Initiator(guest, net.HOSTS[0], SETTINGS), target

    def log_in(self):
        self.kernel.discover()
        self.kernel.guest.run(f"iscsiadm -m node -T {self.target.iqn} -l")

    def leave(self):
        self.kernel.end()


class IbSrp(Below):
    """options: parameters of the module."""

    def __init__(self, guest, target, options):
        super().__init__(guest)
        settings = dict(option.split("=") for option in options)
        self.kernel, self.target = ib_srp.Initiator(guest, net.HOSTS[0], settings, "rxe"), target
        self.kernel.report = dict(TIMES)

    def log_in(self):
        for path in (0, 1):
            port = self.kernel.login(SimpleNamespace(add_target=self.target.add_target), path)
            host = self.kernel.host_of(port)
            wait_until(lambda: self.kernel.guest.ask(f"ls {host}/device/target*/*/timeout")[0] == 0,
                       "its disk is there")
            self.kernel.guest.run(f"""for t in {host}/device/target*/*/timeout; do
                echo {COMMAND_TIMEOUT} >$t || exit; done""")

    def leave(self):
        self.kernel.end()


class Farblock:
    """farblock-initiator's disk on ublk. options: more words for attach."""

    program = "/tmp/farblock-initiator"  # its run directory is in /run

    def __init__(self, guest, target, options):
        self.kernel, self.guest, self.device = Kernel(guest), guest, None
        self.urls = " ".join(f"iscsi://{host}:{port}/{target.iqn}/0" for host, port in PORTALS)
        self.options = " ".join(options)
        path = os.path.realpath(farblock.program("farblock-initiator"))
        guest.run(f"modprobe ublk_drv && cp /host{path} {self.program}")

    def begin(self):
        self.kernel.in_background("attach", f"exec {self.program} attach {self.urls} --name lab "
                                  f"--via ublk --foreground --initiator-name {NAME} {self.options}")
        wait_until(lambda: self.kernel.is_finished("attach") or self.working() == 2, "both paths")
        self.device = self.attached()["device"]

    def attached(self):
        told = self.guest.ask(f"{self.program} attached lab --json 2>/dev/null")[1]
        return json.loads(told)[0] if told.strip().startswith("[") else None

    def working(self):
        attached = self.attached()
        return sum(path["state"] == "up" for path in attached["paths"]) if attached else 0

    def end(self):
        print("at the end: " + self.attached()["state"], flush=True)
        self.guest.run(f"{self.program} detach lab")


TARGETS = {"farblockd": Farblockd, "lio": Lio}
INITIATORS = {"open-iscsi": OpenIscsi, "ib_srp": IbSrp, "farblock-initiator": Farblock}
