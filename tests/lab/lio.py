# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: farblock-initiator, over iSER on its own software iWARP, against the kernel's target
(LIO with ib_isert over siw) in the guest. What the initiator wrote is compared there."""

import contextlib
import json
import os
import random
import subprocess

from farblock import Failure, Skip, program, run
from logins import BACK_SECRET, BACK_USER, MIB, SECRET, USER, same
from net import PORT, Tap
from open_iscsi import wait_until
from place import rdma_device, sha256_of

IQN = "iqn.2025-01.org.farblock.lab:kernel"
HOST = Tap.guest.split("/", maxsplit=1)[0]
CONFIGFS = "/sys/kernel/config/target"
TPG = f"{CONFIGFS}/iscsi/{IQN}/tpgt_1"
SIZE = 64 * MIB
# LUN 0 is a device of the guest's, seen there; LUN 1 is RAM of LIO's own, with commands up to
# 16 MiB. LIO's portal listens on TCP as soon as it is made, and siw's listener would need the same
# address and port: so TCP's is made where nobody is, in a network namespace of its own.
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
    for a; do echo ${{a#*=}} >attrib/${{a%=*}} || exit; done
    unshare -n bash -c 'ip link set lo up; ip addr add {HOST}/32 dev lo; mkdir np/{HOST}:{PORT}' &&
        echo 1 >np/{HOST}:{PORT}/iser && echo 1 >enable"""
TEAR_DOWN = f"""
    dmsetup resume lio 2>/dev/null
    cd {CONFIGFS} || exit 0
    echo 0 >{TPG}/enable
    rmdir {TPG}/np/*
    rm -f {TPG}/lun/lun_0/disk {TPG}/lun/lun_1/ram
    rmdir {TPG}/lun/lun_* {TPG} iscsi/{IQN} core/*/disk core/*/ram
    dmsetup remove --noudevsync lio
    rmmod brd"""
OPTIONS = ("--initiator-name", "iqn.2025-01.org.farblock.lab:tool")


@contextlib.contextmanager
def kernel_target(lab):
    """LIO with one target of two LUNs, open to everybody, for as long as the block."""
    rdma_device(lab.guest, "siw")
    try:
        lab.guest.run(SET_UP, 90)
        yield
    finally:
        status, output = lab.guest.ask(TEAR_DOWN, 90)
    if status:
        raise Failure(f"LIO does not let go: {output.strip()}")


def url(lun=0):
    return f"iser://{HOST}:{PORT}/{IQN}/{lun}"


def tool(*words, status=0, secrets=None, timeout=120):
    """farblock-initiator; its exit status has to be this one. Returns what it printed."""
    done = run(["farblock-initiator", *words, *OPTIONS], timeout, check=False,
               env={**os.environ, **(secrets or {})})
    if done.returncode != status:
        raise Failure(f"farblock-initiator {' '.join(words)}: exit status {done.returncode}, not "
                      f"{status}: {done.stdout.strip()[-1500:]}")
    return done.stdout


def sessions(lab):
    return lab.guest.run(f"cat {TPG}/dynamic_sessions").replace("\0", "").split()


def discovery(lab):
    """SendTargets over iSER shows LIO's target, and its answer works; the LUNs are there."""
    with kernel_target(lab):
        found = tool("discover", f"iser://{HOST}:{PORT}").split("\n")[:-1]
        if not any(line.startswith(f"{HOST}:{PORT},1 {IQN}") for line in found):
            raise Failure(f"discovered: {found}")
        told = json.loads(tool("ping", url(), "--json"))
        same(told["transport"], "iSER (iwarp)", "transport")
        luns = tool("luns", url().rsplit("/", 1)[0])
        if "LIO-ORG" not in luns:
            raise Failure(f"luns: {luns}")


def chap(lab):
    """One-way and mutual CHAP; a wrong secret is refused, and a target that does not prove to
    know its own is left."""
    with kernel_target(lab):
        lab.guest.run(f"""
            cd {TPG}/auth && echo 1 >../attrib/authentication && echo -n {USER} >userid &&
            echo -n {SECRET} >password""")
        user, right = ("--chap-user", USER), {"FARBLOCK_CHAP_SECRET": SECRET}
        tool("ping", url(), *user, secrets=right)
        tool("ping", url(), *user, secrets={"FARBLOCK_CHAP_SECRET": "another-secret-x"}, status=1)
        lab.guest.run(f"cd {TPG}/auth && echo -n {BACK_USER} >userid_mutual && "
                      f"echo -n {BACK_SECRET} >password_mutual")
        user += ("--chap-mutual-user", BACK_USER)
        for back, status in ((BACK_SECRET, 0), ("yet-another-secret", 1)):
            tool("ping", url(), *user, status=status,
                 secrets={**right, "FARBLOCK_CHAP_MUTUAL_SECRET": back})


def fifty_logins(lab):
    """50 logins and logouts in a row leave nothing behind."""
    with kernel_target(lab):
        for _ in range(50):
            tool("ping", url(), "--count", "1")
        wait_until(lambda: not sessions(lab), "LIO has no session left")


def there(lab, length):
    """The sum of what is on LUN 0, seen in the guest."""
    return lab.guest.run(f"dd if=/dev/mapper/lio bs=1M iflag=direct,count_bytes count={length} "
                         "status=none | sha256sum", 60).split()[0]


def byte_for_byte(lab):
    """Writes of 512 bytes to 16 MiB arrive in the guest's device and are read back the same; so
    does a range at an odd sector, and patterns up to 16 MiB a command."""
    source, back = lab.scratch.file("source"), lab.scratch.file("back")
    with kernel_target(lab):
        for lun, bs, count in ((0, 512, 512), (0, 4096, 512), (0, 8704, 256), (0, 65536, 128),
                               (1, 131072, 64), (1, MIB, 32), (1, 4 * MIB, 8), (1, 16 * MIB, 2)):
            length = bs * count
            with open(source, "wb") as file:
                file.write(os.urandom(length))
            words = ("--bs", str(bs), "--offset", "0", "--length", str(length))
            tool("write", url(lun), "--input", source, *words)
            wanted = sha256_of(source, length)
            if not lun:  # whose device takes no more than 124 KiB at once
                same(there(lab, length), wanted, f"the device after blocks of {bs}")
            tool("read", url(lun), "--output", back, *words)
            same(sha256_of(back, length), wanted, f"read in blocks of {bs}")
        for bs in (512, 8704, 65536, MIB, 16 * MIB):
            length = min(bs * 512, 32 * MIB)
            tool("verify", url(1), "--pattern", str(bs), "--bs", str(bs), "--offset", "3584",
                 "--length", str(length))


def filesystem(lab):
    """An ext4 written to LIO passes fsck there and its files are whole; what the guest then adds
    comes back over iSER and passes fsck here."""
    image, back = lab.scratch.file("fs.img", size=48 * MIB), lab.scratch.file("fs.back")
    run(["mkfs.ext4", "-q", "-d", os.path.dirname(os.path.abspath(__file__)), image])
    with kernel_target(lab):
        tool("write", url(), "--input", image)
        lab.guest.run(f"rm -f {TPG}/lun/lun_0/disk && rmdir {CONFIGFS}/core/iblock_0/disk")
        lab.guest.run("""
            blockdev --flushbufs /dev/mapper/lio
            e2fsck -fn /dev/mapper/lio && mount /dev/mapper/lio /mnt || exit
            head -c 8M /dev/urandom >/mnt/more && sha256sum </mnt/more >/mnt/sum && sync &&
                umount /mnt""", 90)
        lab.guest.run(f"""
            cd {CONFIGFS} && mkdir core/iblock_0/disk &&
            echo udev_path=/dev/mapper/lio >core/iblock_0/disk/control &&
            echo 1 >core/iblock_0/disk/enable && ln -s $PWD/core/iblock_0/disk {TPG}/lun/lun_0/""")
        tool("read", url(), "--output", back, "--length", str(48 * MIB))
    run(["e2fsck", "-fn", back])
    for name in ("more", "sum"):
        run(["debugfs", "-R", f"dump {name} {lab.scratch.file(name)}", back])
    with open(lab.scratch.file("sum"), encoding="ascii") as file:
        same(sha256_of(lab.scratch.file("more"), 8 * MIB), file.read().split()[0], "the new file")


def verified(lab):
    """Blocks of several sizes, many commands at once, written and compared, while a second session
    does the same beside it; measured loads of each kind end without an error."""
    with kernel_target(lab):
        beside = begin("verify", url(), "--pattern", "7", "--bs", "64k", "--length", str(32 * MIB))
        for bs in ("4k", "16k", "128k"):
            tool("verify", url(1), "--pattern", bs[:-1], "--bs", bs, "--length", str(16 * MIB))
        end(beside)
        for op in ("randread", "read", "randwrite", "write"):
            tool("bench", url(1), "--op", op, "--time", "1", "--depth", "32")


def begin(*words):
    return subprocess.Popen([program("farblock-initiator"), *words, *OPTIONS], text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)


def end(process, status=0, timeout=180):
    try:
        output = process.communicate(timeout=timeout)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        raise Failure(f"farblock-initiator: no end within {timeout} s: "
                      f"{process.communicate()[0][-1000:]}") from None
    if process.returncode != status:
        raise Failure(f"farblock-initiator: exit status {process.returncode}, not {status}: "
                      f"{output.strip()[-1500:]}")
    return output


STUCK = "target_wait_for_cmds"  # where LIO waits for a command that it has itself lost


def disable_and_enable(lab, pause):
    """False: LIO never comes back from ending the sessions, which the guest does not survive."""
    lab.guest.run(f"""
        rm -f /run/gone
        (sleep 1; echo 0 >{TPG}/enable; sleep {pause}; echo 1 >{TPG}/enable; echo >/run/gone) \
            >/dev/null 2>&1 </dev/null &""")
    try:
        wait_until(lambda: lab.guest.ask("[ -e /run/gone ]")[0] == 0, "LIO is back", 30)
    except Failure:
        if lab.guest.ask(f"grep -q {STUCK} /proc/[0-9]*/stack")[0]:
            raise
        return False
    return True


def target_gone(lab):
    """LIO's group disabled under load, which ends every session, and enabled again, three times:
    the initiator logs in again and every byte is right. Skipped where LIO waits for ever for a
    command of a session that it ends."""
    with kernel_target(lab):
        seed = str(random.randrange(1 << 30))
        load = begin("verify", url(), "--pattern", seed, "--bs", "4k", "--length", str(48 * MIB))
        times = 0
        for pause in (0, 1, 3):
            wait_until(lambda: sessions(lab) or load.poll() is not None, "a session", 60)
            if not disable_and_enable(lab, pause):
                load.kill()
                load.communicate()
                lab.guest.kill()
                lab.guest.start()
                raise Skip(f"the guest's LIO hangs in {STUCK}")
            times += load.poll() is None
        end(load)
        if not times:
            raise Failure("the load was over before LIO went away")
        tool("verify", url(), "--pattern", seed, "--check-only", "--length", str(48 * MIB))


def aborts(lab):
    """A command whose device takes longer than the initiator waits is aborted with ABORT TASK,
    which LIO confirms; the session goes on."""
    source = lab.scratch.file("source", content=os.urandom(65536))
    statistics = f"{CONFIGFS}/core/iblock_0/disk/statistics/scsi_tgt_dev"
    with kernel_target(lab):
        lab.guest.run("dmsetup suspend --noflush --nolockfs lio")
        write = begin("write", url(), "--input", source)
        lab.guest.run("sleep 34; dmsetup resume lio", 60)
        output = end(write, status=1)
        if "timed out" not in output.lower():
            raise Failure(f"a write that took too long: {output.strip()}")
        told = lab.guest.run(f"cat {statistics}/aborts_complete {statistics}/aborts_no_task").split()
        if not sum(map(int, told)):
            raise Failure("LIO has seen no ABORT TASK")
        tool("write", url(), "--input", source)
        same(there(lab, 65536), sha256_of(source, 65536), "the device afterwards")


SCENARIOS = [discovery, chap, fifty_logins, byte_for_byte, filesystem, verified, target_gone,
             aborts]
