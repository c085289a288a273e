# SPDX-License-Identifier: BSD-2-Clause
"""The kernel's target (LIO with ib_isert) in the guest, set up through configfs: one target of two
LUNs over siw or rxe."""

import contextlib

from farblock import Failure
from kernel import wait_until
from logins import MIB
from net import PORT, Tap
from place import rdma_device

IQN = "iqn.2025-01.org.farblock.lab:kernel"
HOST = Tap.guest.split("/", maxsplit=1)[0]
CONFIGFS = "/sys/kernel/config/target"
TPG = f"{CONFIGFS}/iscsi/{IQN}/tpgt_1"
DISK = f"{CONFIGFS}/core/iblock_0/disk"
SIZE = 64 * MIB
# LUN 0 is a device of the guest's, seen there; LUN 1 is RAM of LIO's own, with commands up to
# 16 MiB.
SET_UP = f"""
    mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
    modprobe -a dm_mod target_core_mod target_core_iblock iscsi_target_mod || exit
    modprobe brd rd_nr=1 rd_size={SIZE // 1024} && modprobe ib_isert sg_tablesize=4096 || exit
    cd {CONFIGFS} || exit
    dmsetup create lio --noudevsync --table "0 $(blockdev --getsz /dev/ram0) linear /dev/ram0 0" &&
        dmsetup mknodes || exit
    mkdir -p core/iblock_0/disk core/rd_mcp_0/ram iscsi/{IQN}/tpgt_1/lun/lun_{{0,1}} || exit
    echo udev_path=/dev/mapper/lio >core/iblock_0/disk/control
    echo rd_pages={SIZE // 4096} >core/rd_mcp_0/ram/control
    for d in core/*/disk core/*/ram; do echo 1 >$d/enable || exit; done
    cd {TPG} || exit
    ln -s {CONFIGFS}/core/iblock_0/disk lun/lun_0/disk && ln -s {CONFIGFS}/core/rd_mcp_0/ram \
        lun/lun_1/ram || exit
    set -- authentication=0 generate_node_acls=1 cache_dynamic_acls=1 demo_mode_write_protect=0
    for a; do echo ${{a#*=}} >attrib/${{a%=*}} || exit; done"""
# LIO's portal listens on TCP as soon as it is made. siw's listener would need the same address and
# port: so TCP's portal is in a separate, unused network namespace. RoCE has its own ports.
PORTAL = {
    "siw": f"""
        unshare -n bash -c 'ip link set lo up; ip addr add {HOST}/32 dev lo
            mkdir {TPG}/np/{HOST}:{PORT}'""",
    "rxe": f"mkdir {TPG}/np/{HOST}:{PORT}",
}
ENABLE = f"echo 1 >{TPG}/np/{HOST}:{PORT}/iser && echo 1 >{TPG}/enable"
TEAR_DOWN = f"""
    dmsetup resume lio 2>/dev/null
    cd {CONFIGFS} || exit 0
    echo 0 >{TPG}/enable
    rmdir {TPG}/np/*
    rm -f {TPG}/lun/lun_0/disk {TPG}/lun/lun_1/ram
    rmdir {TPG}/lun/lun_* {TPG} iscsi/{IQN} core/*/disk core/*/ram
    dmsetup remove --noudevsync lio
    rmmod brd"""


@contextlib.contextmanager
def kernel_target(lab):
    """LIO with one target of two LUNs, open to everybody, for as long as the block."""
    rdma_device(lab.guest, lab.device)
    try:
        lab.guest.run(f"{SET_UP}\n{PORTAL[lab.device]} &&\n{ENABLE}")
        yield
    finally:
        status, output = lab.guest.ask(TEAR_DOWN)
    if status:
        raise Failure(f"LIO does not let go: {output.strip()}")


def sessions(lab):
    return lab.guest.run(f"cat {TPG}/dynamic_sessions").replace("\0", "").split()


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
