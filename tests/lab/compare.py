#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures iSER targets side by side in one guest, all over its rxe device: farblockd (libibverbs), the
kernel's LIO (ib_isert) and tgtd, each with a LUN in memory. Called by compare.sh.

    compare.py [--client perf|fio] [--rounds 3] [--secs 2] [--size MIB] [--spin USEC ...]

--spin adds a farblockd that polls that long before it sleeps.

Clients: libiscsi's iscsi-perf, and fio on the disks of the kernel's ib_iser. Samples are interleaved:
once a round each point on each target in turn. Prints a Markdown table: medians,
[smallest-largest], and farblockd's ratios. The guest's two CPUs are shared by client and target, and
in software emulation everything is 10 to 20 times slower than native: only ratios mean anything.
"""

import argparse
import json
import re
import statistics
import sys
from typing import NamedTuple

import farblock_path  # noqa: F401: makes tests/lib importable
import farblock
import libiscsi
import open_iscsi
import place
from guest import Guest, User, accelerator

ADDRESS = User.guest.split("/", maxsplit=1)[0]
IQN = "iqn.2025-01.org.farblock.lab:compare"
CONFIGFS = "/sys/kernel/config/target"
MIB = 1 << 20
PATIENT = {"node.conn[0].timeo.login_timeout": "60", "node.conn[0].timeo.noop_out_interval": "0"}


class Target(NamedTuple):
    name: str
    port: int
    lun: int = 0
    spin: str = ""

    @property
    def iqn(self):
        return f"{IQN}-{self.name.lower()}"

    @property
    def url(self):
        return f"iser://{ADDRESS}:{self.port}/{self.iqn}/{self.lun}"


# Debian's tgtd takes no other port for iSER than the usual one.
OURS, LIO, TGT = Target("farblockd", 3262), Target("LIO", 3261), Target("tgtd", 3260, 1)
TARGETS = [OURS, LIO, TGT]
FIRST_PORT = 3270  # of those with --spin

# Title, client's words, bytes of a block (then the figure is MB/s) or None (IOPS).
POINTS = {
    "perf": [("4 KiB random read, depth 1", "-r -m 1 -b 8", None),
             ("4 KiB random read, depth 32", "-r -m 32 -b 8", None),
             ("128 KiB read, depth 8", "-m 8 -b 256", 131072)],
    "fio": [("4 KiB random read, depth 1", "randread 4k 1", None),
            ("4 KiB random read, depth 32", "randread 4k 32", None),
            ("4 KiB random write, depth 32", "randwrite 4k 32", None),
            ("128 KiB read, depth 8", "read 128k 8", 131072),
            ("128 KiB write, depth 8", "write 128k 8", 131072)],
}
CLIENTS = {"perf": "iscsi-perf", "fio": "ib_iser, fio"}


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
    config = farblock.Config()
    config.target([config.ramdisk("disk", size)], iqn=target.iqn, portals=[(ADDRESS, target.port)])
    arguments = ["--spin", target.spin] if target.spin else []
    return place.Daemon(guest, scratch, config, target.name, arguments=arguments).start()


def fill(guest):
    """Every block of every disk was written once, and the kernel's disks by the targets' names."""
    initiator = open_iscsi.Initiator(guest, ADDRESS, PATIENT, "rxe")
    disks = {}
    for target in TARGETS:
        where = f"-T {target.iqn} -p {ADDRESS}:{target.port}"
        for words in (f"-m node {where} -I iser -o new", f"-m node {where} -l"):
            guest.run(f"iscsiadm {words}", 60)
        disks[target] = guest.run(f"""
            for i in $(seq 50); do
                d=$(ls -d /dev/disk/by-path/*{target.iqn}-lun-{target.lun} 2>/dev/null) && break
                for s in /sys/class/iscsi_session/session*; do
                    [ "$(cat $s/targetname)" = {target.iqn} ] || continue
                    n=$(ls -d $s/device/target*/*:{target.lun}/block/sd* 2>/dev/null) || continue
                    d=/dev/${{n##*/}}
                done
                [ -z "$d" ] || break
                sleep 0.2
            done
            [ -b "$d" ] && echo none >/sys/block/${{d#/dev/}}/queue/scheduler; echo $d""", 60).strip()
        guest.run(f"dd if=/dev/urandom of={disks[target]} bs=1M oflag=direct status=none 2>/dev/null;"
                  "true", 300)
    return initiator, disks


def perf_sample(guest, _, target, words, seconds):
    command = libiscsi.running(f"iscsi-perf {words} -t {seconds} {target.url}", False)
    output = guest.run(f"timeout 60 {command} 2>&1", 90)
    found = re.findall(r"iops average (\d+)", output)
    if not found or not int(found[-1]):
        raise farblock.Failure(f"{target.name}: iscsi-perf: {output[-500:]}")
    return int(found[-1])


def fio_sample(guest, disks, target, words, seconds):
    rw, size, depth = words.split()
    output = guest.run(f"""
        fio --name=x --filename={disks[target]} --ioengine=libaio --direct=1 --rw={rw} --bs={size} \
            --iodepth={depth} --time_based --runtime={seconds} --output-format=json""", 120)
    job = json.loads(output[output.index("{"):])["jobs"][0]
    return job["write" if "write" in rw else "read"]["iops"]


def table(client, samples):
    def cell(title, target, size):
        values = samples[title, target]
        values = [v * size / 1e6 for v in values] if size else values
        return (f"{statistics.median(values):.0f} [{min(values):.0f}-{max(values):.0f}]")

    def ratio(title, other):
        ours_ = statistics.median(samples[title, OURS])
        return f"{ours_ / statistics.median(samples[title, other]):.2f} x"

    print(f"| {CLIENTS[client]} | unit | " + " | ".join(t.name for t in TARGETS) +
          " | against LIO | against tgtd |")
    print("|" + "---|" * (len(TARGETS) + 4))
    for title, _, size in POINTS[client]:
        print(f"| {title} | {'MB/s' if size else 'IOPS'} | " +
              " | ".join(cell(title, t, size) for t in TARGETS) +
              f" | {ratio(title, LIO)} | {ratio(title, TGT)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", choices=list(POINTS), action="append")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--secs", type=int, default=2)
    parser.add_argument("--size", type=int, default=64, metavar="MIB")
    parser.add_argument("--spin", metavar="USEC", action="append", default=[])
    options = parser.parse_args()
    spinning = [Target(f"farblockd-spin-{usec}", FIRST_PORT + i, spin=usec)
                for i, usec in enumerate(options.spin)]
    TARGETS.extend(spinning)
    sample = {"perf": perf_sample, "fio": fio_sample}
    with farblock.Scratch() as scratch, Guest(scratch, memory=3072, shares_host=True) as guest:
        place.rdma_device(guest, "rxe")
        guest.run(f"mkdir -p {scratch.path}")
        for target in [OURS, *spinning]:
            ours(guest, scratch, target, options.size * MIB)
        lio(guest, options.size * MIB)
        tgtd(guest, options.size * MIB)
        libiscsi.bring(guest, "iscsi-perf")
        initiator, disks = fill(guest)
        for client in options.client or list(POINTS):
            samples = {}
            for _ in range(options.rounds):
                for title, words, _ in POINTS[client]:
                    for target in TARGETS:
                        value = sample[client](guest, disks, target, words, options.secs)
                        samples.setdefault((title, target), []).append(value)
            table(client, samples)
        initiator.end()
    print(f"\nmachine: {accelerator()}, 2 CPUs; {options.rounds} rounds of {options.secs} s")
    return 0


if __name__ == "__main__":
    farblock.main(main)
