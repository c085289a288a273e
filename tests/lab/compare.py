#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures targets side by side in one guest, all over its rxe device: farblockd (libibverbs), the
kernel's LIO (ib_isert, ib_srpt) and, for iSER, tgtd, each with a LUN in memory. Called by compare.sh.

    compare.py [--client perf|iser|srp] [--rounds 3] [--secs 2] [--size MIB] [--spin USEC ...]

--spin adds a farblockd that polls that long before it sleeps.

Clients: libiscsi's iscsi-perf, and fio on the disks of the kernel's ib_iser and ib_srp. Samples are
interleaved: once a round each point on each target in turn, and each round begins with the next
target. Prints Markdown tables: medians, [smallest-largest], and farblockd's ratios. The guest's two
CPUs are shared by client and target, and in software emulation everything is 10 to 20 times slower
than native: only ratios mean anything. CPU is that of the whole guest, since neither LIO nor rxe are
processes.
"""

import argparse
import json
import re
import statistics
import sys
from typing import NamedTuple

import farblock_path  # noqa: F401: makes tests/lib importable
import farblock
import ib_srp
import libiscsi
import open_iscsi
import place
from guest import Guest, User, accelerator
from kernel import wait_until

ADDRESS = User.guest.split("/", maxsplit=1)[0]
IQN = "iqn.2025-01.org.farblock.lab:compare"
CONFIGFS = "/sys/kernel/config/target"
MIB = 1 << 20
TICKS = 100  # a second, of /proc/stat
PATIENT = {"node.conn[0].timeo.login_timeout": "60", "node.conn[0].timeo.noop_out_interval": "0"}


class Target(NamedTuple):
    name: str
    port: int
    srp_port: int = 0
    lun: int = 0
    spin: str = ""

    @property
    def iqn(self):
        return f"{IQN}-{self.name.lower()}"

    @property
    def url(self):
        return f"iser://{ADDRESS}:{self.port}/{self.iqn}/{self.lun}"


# Debian's tgtd takes no other port for iSER than the usual one.
OURS, LIO = Target("farblockd", 3262, 3263), Target("LIO", 3261, 3264)
TGT = Target("tgtd", 3260, lun=1)
FIRST_PORT = 3270  # of those with --spin

# Title, client's words, bytes of a block (then the figure is MB/s) or None (IOPS).
FIO_POINTS = [("4 KiB random read, depth 1", "randread 4k 1", None),
              ("4 KiB random read, depth 32", "randread 4k 32", None),
              ("4 KiB random write, depth 1", "randwrite 4k 1", None),
              ("4 KiB random write, depth 32", "randwrite 4k 32", None),
              ("128 KiB read, depth 8", "read 128k 8", 131072),
              ("128 KiB write, depth 8", "write 128k 8", 131072)]
POINTS = {
    "perf": [("4 KiB random read, depth 1", "-r -m 1 -b 8", None),
             ("4 KiB random read, depth 32", "-r -m 32 -b 8", None),
             ("128 KiB read, depth 8", "-m 8 -b 256", 131072)],
    "iser": FIO_POINTS, "srp": FIO_POINTS,
}
CLIENTS = {"perf": "iSER: iscsi-perf", "iser": "iSER: ib_iser, fio", "srp": "SRP: ib_srp, fio"}


def lio(guest, size):
    guest.run(f"""
        mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
        modprobe -a target_core_mod iscsi_target_mod ib_isert || exit
        cd {CONFIGFS} && mkdir -p core/rd_mcp_0/ram iscsi/{LIO.iqn}/tpgt_1/lun/lun_0 || exit
        echo rd_pages={size // 4096} >core/rd_mcp_0/ram/control && echo 1 >core/rd_mcp_0/ram/enable
        cd iscsi/{LIO.iqn}/tpgt_1 || exit
        ln -s {CONFIGFS}/core/rd_mcp_0/ram lun/lun_0/ram || exit
        for a in authentication=0 generate_node_acls=1 cache_dynamic_acls=1 \
                demo_mode_write_protect=0; do
            echo ${{a#*=}} >attrib/${{a%=*}} || exit
        done
        mkdir np/{ADDRESS}:{LIO.port} && echo 1 >np/{ADDRESS}:{LIO.port}/iser && echo 1 >enable""",
              90)


def lio_srp(guest):
    """Its RAM disk, made by lio(), by ib_srpt as well. Returns the target for ib_srp."""
    gid, guid = guest.run(f"""
        modprobe ib_srpt && cd {CONFIGFS} || exit
        gid=$(tr -d : </sys/class/infiniband/rxe0/ports/1/gids/0) && mkdir -p srpt || exit
        tpg=srpt/0x$gid/tpgt_1
        acl=$tpg/acls/0x{1:016x}$(echo $gid | tail -c 17) # of ib_srp.Initiator.login()
        mkdir -p $tpg/lun/lun_0 && ln -s {CONFIGFS}/core/rd_mcp_0/ram $tpg/lun/lun_0/ram || exit
        mkdir -p $acl/lun_0 && ln -s {CONFIGFS}/$tpg/lun/lun_0 $acl/lun_0/ram || exit
        echo {LIO.srp_port} >srpt/discovery_auth/rdma_cm_port && echo 1 >$tpg/enable || exit
        echo $gid; cat /sys/module/ib_srpt/parameters/srpt_service_guid""", 90).split()
    guid = f"{int(guid, 16):016x}"
    return farblock.SrpTarget(f"ib.{guid}{guid}", [(ADDRESS, LIO.srp_port)])


def tgtd(guest, size):
    # "-I ALL" is not enough for iSER. It takes 1 GiB of memory for its buffers.
    libiscsi.bring(guest, "tgtd", "tgtadm")
    admin = f"env LD_LIBRARY_PATH={libiscsi.HOME} {libiscsi.HOME}/tgtadm --lld iser"
    guest.run(f"""
        truncate -s {size} /dev/shm/tgt.img; ulimit -l unlimited
        env LD_LIBRARY_PATH={libiscsi.HOME} {libiscsi.HOME}/tgtd -f \
            --iscsi portal=127.0.0.1:3299 </dev/null >/run/tgtd.log 2>&1 &
        for i in $(seq 50); do {admin} --mode sys --op show >/dev/null 2>&1 && break; sleep 0.2; done
        {admin} --mode target --op new --tid 1 --targetname {TGT.iqn} &&
        {admin} --mode logicalunit --op new --tid 1 --lun 1 --backing-store /dev/shm/tgt.img \
            --bstype rdwr && {admin} --mode target --op bind --tid 1 -I {ADDRESS} &&
        {admin} --mode target --op bind --tid 1 -Q iqn.2010-11.libiscsi:iscsi-perf &&
        {admin} --mode target --op bind --tid 1 -Q {open_iscsi.NAME} ||
            {{ cat /run/tgtd.log; exit 1; }}""", 90)


def ours(guest, scratch, target, size):
    """Returns the target for ib_srp."""
    config = farblock.Config()
    luns = [config.ramdisk("disk", size)]
    config.target(luns, iqn=target.iqn, portals=[(ADDRESS, target.port)])
    srp = config.srp_target(luns, wwn=f"ib.{target.srp_port:032x}", acls=[ADDRESS],
                            portals=[(ADDRESS, target.srp_port)])
    arguments = ["--spin", target.spin] if target.spin else []
    place.Daemon(guest, scratch, config, target.name, arguments=arguments).start()
    return srp


def iser_disks(guest, targets):
    """Each LUN as a disk of the kernel's: the initiator, and the disks by their targets."""
    initiator = open_iscsi.Initiator(guest, ADDRESS, PATIENT, "rxe")
    disks = {}
    for target in targets:
        where = f"-T {target.iqn} -p {ADDRESS}:{target.port}"
        for words in (f"-m node {where} -I iser -o new", f"-m node {where} -l"):
            guest.run(f"iscsiadm {words}", 60)
        disks[target] = disk_of(guest, f"""
            for s in /sys/class/iscsi_session/session*; do
                [ "$(cat $s/targetname)" != {target.iqn} ] ||
                    ls -d $s/device/target*/*:{target.lun}/block/sd*
            done""")
    return initiator, disks


def srp_disks(guest, logins):
    """The same by ib_srp."""
    initiator = ib_srp.Initiator(guest, ADDRESS, device="rxe")
    disks = {}
    for target, login in logins.items():
        host = initiator.host_of(initiator.login(login))
        disks[target] = disk_of(guest, f"ls -d {host}/device/target*/*:0/block/sd*")
    return initiator, disks


def disk_of(guest, listing):
    """Waits for the one that a command lists, and writes every block of it once."""
    found = f"""d=$(basename "$({listing})") 2>/dev/null && [ -b "/dev/$d" ] && echo $d"""
    name = wait_until(lambda: guest.ask(f"({found}) 2>/dev/null")[1].strip(), "the disk is there")
    guest.run(f"""
        echo none >/sys/block/{name}/queue/scheduler
        dd if=/dev/urandom of=/dev/{name} bs=1M oflag=direct status=none 2>/dev/null; true""", 300)
    return f"/dev/{name}"


def perf_sample(guest, _, target, words, seconds):
    command = libiscsi.running(f"iscsi-perf {words} -t {seconds} {target.url}", False)
    output = guest.run(f"timeout 60 {command} 2>&1", 90)
    found = re.findall(r"iops average (\d+)", output)
    if not found or not int(found[-1]):
        raise farblock.Failure(f"{target.name}: iscsi-perf: {output[-500:]}")
    return (int(found[-1]),)


def fio_sample(guest, disks, target, words, seconds):
    """IOPS, and the guest's CPU time for a command in us."""
    rw, size, depth = words.split()
    output = guest.run(f"""
        head -1 /proc/stat
        fio --name=x --filename={disks[target]} --ioengine=libaio --direct=1 --rw={rw} --bs={size} \
            --iodepth={depth} --time_based --runtime={seconds} --output-format=json
        head -1 /proc/stat""", 120)
    job = json.loads(output[output.index("{"):output.rindex("}") + 1])["jobs"][0]
    done = job["write" if "write" in rw else "read"]
    begin, end = (sum(ticks) - ticks[3] - ticks[4] for ticks in
                  ([int(n) for n in line.split()[1:9]] for line in output.splitlines()
                   if line.startswith("cpu ")))
    return done["iops"], (end - begin) * 1e6 / TICKS / max(done["total_ios"], 1)


def measure(guest, client, targets, disks, options):
    """The samples by title and target."""
    sample = perf_sample if client == "perf" else fio_sample
    samples = {}
    for round_ in range(options.rounds):
        first = round_ % len(targets)
        for title, words, _ in POINTS[client]:
            for target in targets[first:] + targets[:first]:
                value = sample(guest, disks, target, words, options.secs)
                samples.setdefault((title, target), []).append(value)
    return samples


def table(client, samples, targets):
    rivals = [t for t in targets if t.name in ("LIO", "tgtd")]

    def row(title, unit, pick):
        values = {t: [pick(v) for v in samples[title, t]] for t in targets}
        middle = {t: statistics.median(v) for t, v in values.items()}
        cells = [f"{middle[t]:.0f} [{min(v):.0f}-{max(v):.0f}]" for t, v in values.items()]
        cells += [f"{middle[OURS] / middle[t]:.2f} x" for t in rivals]
        print(f"| {title} | {unit} | " + " | ".join(cells) + " |", flush=True)

    print(f"\n| {CLIENTS[client]} | unit | " + " | ".join(t.name for t in targets) + " | " +
          " | ".join(f"against {t.name}" for t in rivals) + " |")
    print("|" + "---|" * (len(targets) + len(rivals) + 2))
    for title, _, size in POINTS[client]:
        row(title, "MB/s" if size else "IOPS", lambda v: v[0] * size / 1e6 if size else v[0])
        if client != "perf":
            row(title, "CPU us", lambda v: v[1])


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", choices=list(POINTS), action="append")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--secs", type=int, default=2)
    parser.add_argument("--size", type=int, default=64, metavar="MIB")
    parser.add_argument("--spin", metavar="USEC", action="append", default=[])
    options = parser.parse_args()
    options.client = options.client or list(POINTS)
    return options


def compare(guest, scratch, options):
    own = [OURS] + [Target(f"farblockd-spin-{usec}", FIRST_PORT + 2 * i, FIRST_PORT + 2 * i + 1,
                           spin=usec) for i, usec in enumerate(options.spin)]
    logins = {target: ours(guest, scratch, target, options.size * MIB) for target in own}
    lio(guest, options.size * MIB)
    if "srp" in options.client:
        logins[LIO] = lio_srp(guest)
        srp, disks = srp_disks(guest, logins)
        table("srp", measure(guest, "srp", list(logins), disks, options), list(logins))
        srp.end()
    clients = [c for c in options.client if c != "srp"]
    if clients:
        tgtd(guest, options.size * MIB)
        libiscsi.bring(guest, "iscsi-perf")
        targets = [*own, LIO, TGT]
        iser, disks = iser_disks(guest, targets)
        for client in clients:
            table(client, measure(guest, client, targets, disks, options), targets)
        iser.end()


def main():
    options = parse()
    with farblock.Scratch() as scratch, Guest(scratch, memory=3072, shares_host=True) as guest:
        place.rdma_device(guest, "rxe")
        guest.run(f"mkdir -p {scratch.path}")
        compare(guest, scratch, options)
    print(f"\nmachine: {accelerator()}, 2 CPUs; {options.rounds} rounds of {options.secs} s")
    return 0


if __name__ == "__main__":
    farblock.main(main)
