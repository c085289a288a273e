# SPDX-License-Identifier: BSD-2-Clause
"""The kernel's target (LIO) in the guest, set up through configfs: one target of two
LUNs over siw or rxe, of ib_isert or ib_srpt, or over TCP."""

import contextlib

from farblock import Failure
from initiator_tool import INITIATOR_PORTS
from kernel import wait_until
from logins import MIB
from net import GUEST6, GUESTS, PORT, Tap
from place import rdma_device

IQN = "iqn.2025-01.org.farblock.lab:kernel"
HOST = Tap.guest.split("/", maxsplit=1)[0]
ACLS = ",".join("0x" + port.replace(":", "") for port in INITIATOR_PORTS)
CONFIGFS = "/sys/kernel/config/target"
DISK = f"{CONFIGFS}/core/iblock_0/disk"
SIZE = 64 * MIB
# LUN 0 is a device of the guest's, seen there; LUN 1 is RAM of LIO's own, with commands up to
# 16 MiB.
DISKS = """
    modprobe -a configfs dm_mod || exit
    mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
    modprobe -a target_core_mod target_core_iblock || exit
    modprobe brd rd_nr=1 rd_size={kib} || exit
    cd {configfs} || exit
    dmsetup create lio --noudevsync --table "0 $(blockdev --getsz /dev/ram0) linear /dev/ram0 0" &&
        dmsetup mknodes || exit
    mkdir -p core/iblock_0/disk core/rd_mcp_0/ram || exit
    echo udev_path=/dev/mapper/lio >core/iblock_0/disk/control
    echo rd_pages={pages} >core/rd_mcp_0/ram/control
    for d in core/*/disk core/*/ram; do echo 1 >$d/enable || exit; done"""
TEAR_DOWN = f"""
    dmsetup resume lio 2>/dev/null
    cd {CONFIGFS} || exit 0
    rmdir core/*/disk core/*/ram
    dmsetup remove --noudevsync lio
    rmmod brd"""


def portals(tpg):
    """One on each of the guest's addresses."""
    return "".join(f"mkdir {tpg}/np/{host}:{PORT} || exit\n" for host in GUESTS) + "true"


class Iscsi:
    """A target of ib_isert, open to everybody."""

    scheme, show, hide = "iser", "true", "true"
    hosts = {"siw": HOST, "rxe": HOST}
    tpg = f"{CONFIGFS}/iscsi/{IQN}/tpgt_1"
    set_up = f"""
        modprobe iscsi_target_mod && modprobe ib_isert sg_tablesize=4096 || exit
        mkdir -p {CONFIGFS}/iscsi/{IQN}/tpgt_1/lun/lun_{{0,1}} && cd {tpg} || exit
        ln -s {DISK} lun/lun_0/disk && ln -s {CONFIGFS}/core/rd_mcp_0/ram lun/lun_1/ram || exit
        set -- authentication=0 generate_node_acls=1 cache_dynamic_acls=1 demo_mode_write_protect=0
        for a; do echo ${{a#*=}} >attrib/${{a%=*}} || exit; done"""
    # LIO's portal listens on TCP as soon as it is made. siw's listener would need the same address
    # and port: so TCP's portal is in a separate, unused network namespace. RoCE has its own ports.
    portal = {
        "siw": f"""
            unshare -n bash -c 'ip link set lo up; ip addr add {HOST}/32 dev lo
                mkdir {tpg}/np/{HOST}:{PORT}'""",
        "rxe": portals(tpg),
    }
    enable = f"for p in {tpg}/np/*/iser; do echo 1 >$p || exit; done; echo 1 >{tpg}/enable"
    tear_down = f"""
        echo 0 >{tpg}/enable
        rmdir {tpg}/np/*
        rm -f {tpg}/lun/lun_0/disk {tpg}/lun/lun_1/ram
        rmdir {tpg}/lun/lun_* {tpg} {CONFIGFS}/iscsi/{IQN}"""

    def __init__(self, guest):
        self.identity = IQN


class Tcp(Iscsi):
    """The same over TCP, with a portal on each of the guest's addresses."""

    scheme, hosts = "iscsi", {None: HOST}
    portal = {None: portals(Iscsi.tpg)}
    enable = f"echo 1 >{Iscsi.tpg}/enable"


class Srpt:
    """A target of ib_srpt on the device's port, for the initiator ports of the tool."""

    scheme = "srp"
    # Its listener is one of IPv6. Over siw a peer's IPv4 address arrives there as one mapped to IPv6,
    # for which rdma_cm finds no device (rdma_translate_ip: EADDRNOTAVAIL): only IPv6 can log in.
    hosts = {"siw": f"[{GUEST6}]", "rxe": HOST}

    def __init__(self, guest):
        gid, guid = guest.run("""
            modprobe ib_srpt && cat /sys/class/infiniband/*/ports/1/gids/0 | tr -d : &&
            cat /sys/module/ib_srpt/parameters/srpt_service_guid""").split()
        guid = f"{int(guid, 16):016x}"
        self.identity = f"{guid}:{guid}"
        fabric = f"{CONFIGFS}/srpt"
        self.tpg = f"{fabric}/0x{gid}/tpgt_1"
        # Over siw a channel keeps its memory until the target is disabled: that of 512 registrations
        # instead of 2048, 18 MiB.
        self.portal = {"siw": f"echo 1024 >{self.tpg}/attrib/srp_sq_size", "rxe": "true"}
        # A LUN that goes and comes back has to be shown to the initiators again.
        self.show = f"""(for acl in {self.tpg}/acls/*; do
            ln -s {self.tpg}/lun/lun_0 $acl/lun_0/disk &&
                ln -s {self.tpg}/lun/lun_1 $acl/lun_1/ram || exit
            done)"""
        self.hide = f"rm -f {self.tpg}/acls/*/lun_*/{{disk,ram}}"
        self.set_up = f"""
            mkdir -p {fabric} && mkdir -p {self.tpg}/lun/lun_{{0,1}} && cd {self.tpg} || exit
            ln -s {DISK} lun/lun_0/disk && ln -s {CONFIGFS}/core/rd_mcp_0/ram lun/lun_1/ram || exit
            mkdir -p acls/{{{ACLS}}}/lun_{{0,1}} && {self.show} || exit
            echo {PORT} >{fabric}/discovery_auth/rdma_cm_port"""
        self.enable = f"echo 1 >{self.tpg}/enable"
        self.tear_down = f"""
            echo 0 >{self.tpg}/enable; echo 0 >{fabric}/discovery_auth/rdma_cm_port
            {self.hide}
            rmdir {self.tpg}/acls/*/lun_* {self.tpg}/acls/*
            rm -f {self.tpg}/lun/lun_0/disk {self.tpg}/lun/lun_1/ram
            rmdir {self.tpg}/lun/lun_* {self.tpg} {fabric}/0x{gid}"""


KINDS = {"tcp": Tcp, "iser": Iscsi, "srp": Srpt}


@contextlib.contextmanager
def kernel_target(lab, size=SIZE):
    """LIO with one target of two LUNs, the first of this size, for as long as the block."""
    if lab.device:
        rdma_device(lab.guest, lab.device)
    lab.guest.run(f"ip addr replace {GUESTS[1]}/24 dev eth0")
    lio = lab.lio = KINDS[lab.carrier](lab.guest)
    disks = DISKS.format(kib=size // 1024, pages=SIZE // 4096, configfs=CONFIGFS)
    try:
        lab.guest.run(f"{disks}\n{lio.set_up}\n{lio.portal[lab.device]} &&\n{lio.enable}")
        yield
    finally:
        status, output = lab.guest.ask(f"{lio.tear_down}\n{TEAR_DOWN}")
    if status:
        raise Failure(f"LIO does not let go: {output.strip()}")


def url(lab, lun=0):
    return f"{lab.lio.scheme}://{lab.lio.hosts[lab.device]}:{PORT}/{lab.lio.identity}/{lun}"


def sessions(lab):
    """Those of initiators without an ACL, which ib_srpt does not have."""
    if lab.fabric == "srpt":
        return []
    return lab.guest.run(f"cat {lab.lio.tpg}/dynamic_sessions").replace("\0", "").split()


def commands(lab):
    """How many LUN 0 has been given."""
    return int(lab.guest.run(f"cat {DISK}/statistics/scsi_lu/num_cmds"))


def aborts(lab):
    """How many ABORT TASKs LIO has answered for LUN 0."""
    told = lab.guest.run(f"cd {DISK}/statistics/scsi_tgt_dev && cat aborts_complete aborts_no_task")
    return sum(map(int, told.split()))


def wait_for_abort(lab):
    """LIO has an ABORT TASK in hand; its counters move when the task is over."""
    wait_until(lambda: lab.guest.ask("dmesg | grep -q 'ABORT_TASK: Found referenced'")[0] == 0,
               "LIO has an ABORT TASK")


def there(lab, length):
    """The sum of what is on LUN 0, seen in the guest."""
    return lab.guest.run(f"dd if=/dev/mapper/lio bs=1M iflag=direct,count_bytes count={length} "
                         "status=none | sha256sum").split()[0]
