#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures farblock-initiator attach beside nbd-client in one guest, as block devices of its kernel on
the same RAM disk (brd): exported by farblockd over iSCSI/TCP and by qemu-nbd over TCP, both by
loopback. Called by compare.sh.

    compare.sh BUILD attach [--rounds 3] [--secs 2] [--size MIB] [--via WAY ...]

Samples are interleaved: once a round each point on each device in turn, and each round begins with
the next device. Prints a Markdown table: medians, [smallest-largest], and ratios to nbd-client. The
guest's CPUs are shared by all; only ratios mean anything. CPU is that of the whole guest.
"""

import argparse
import statistics

import farblock_path  # noqa: F401: makes tests/lib importable
import farblock
import libiscsi
import place
from compare import fio_sample
from guest import Guest, accelerator
from kernel import wait_until

MIB = 1 << 20
IQN = "iqn.2025-01.org.farblock.lab:attach"
HOST, PORT, NBD_PORT = "127.0.0.1", 3260, 10809
RAM = "/dev/ram0"
RIVAL = "nbd-client"
# Title, fio's words, bytes of a block (then the figure is MB/s) or None (IOPS).
POINTS = [("4 KiB random read, depth 32", "randread 4k 32", None),
          ("4 KiB random write, depth 32", "randwrite 4k 32", None),
          ("4 KiB random read, depth 1", "randread 4k 1", None),
          ("4 KiB random write, depth 1", "randwrite 4k 1", None),
          ("128 KiB read, depth 8", "read 128k 8", 131072),
          ("128 KiB write, depth 8", "write 128k 8", 131072)]


def rival(guest):
    """qemu-nbd's export by nbd-client; returns the device."""
    libiscsi.bring(guest, "qemu-nbd", "nbd-client")
    image = ("driver=raw,file.driver=host_device,file.aio=native,file.cache.direct=on,"
             f"file.locking=off,file.filename={RAM}")  # farblockd has it, too
    server = libiscsi.running(f"qemu-nbd --image-opts -b {HOST} -p {NBD_PORT} -t {image}", False)
    client = libiscsi.running(f"nbd-client -N '' {HOST} {NBD_PORT} /dev/nbd8", False)
    guest.run(f"modprobe nbd && {{ {server} </dev/null >/run/qemu-nbd.log 2>&1 & }}")
    wait_until(lambda: guest.ask(f"grep -q ':{NBD_PORT:04X} .* 0A ' /proc/net/tcp")[0] == 0, "qemu-nbd listens")
    guest.run(f"{client} 2>&1 || {{ cat /run/qemu-nbd.log; exit 1; }}", 90)
    return "/dev/nbd8"


def ours(guest, url, via):
    """The LUN by farblock-initiator attach; returns the device."""
    tool = f"/host{farblock.program('farblock-initiator')}"
    guest.run(f"modprobe {'ublk_drv' if via == 'ublk' else via}; [ -e /run/tool ] || cp {tool} /run/tool")
    return guest.run(f"/run/tool attach {url} --name {via} --via {via} --shared", 120).strip()


def devices(guest, scratch, options):
    """The device of each name, with every block written once."""
    guest.run(f"ip link set lo up; modprobe brd rd_nr=1 rd_size={options.size * 1024} || exit\n"
              f"dd if=/dev/urandom of={RAM} bs=1M oflag=direct status=none 2>/dev/null; true", 300)
    config = farblock.Config()
    lun = config.storage("block", "disk", dev=RAM)
    config.target([lun], iqn=IQN, portals=[(HOST, PORT)])
    place.Daemon(guest, scratch, config, "farblockd").start()
    url = f"iscsi://{HOST}:{PORT}/{IQN}/0"
    found = {f"attach, {via}": ours(guest, url, via) for via in options.via}
    found[RIVAL] = rival(guest)
    for device in found.values():
        guest.run(f"echo none >/sys/block/{device[5:]}/queue/scheduler")
    return found


def measure(guest, disks, options):
    samples, names = {}, list(disks)
    for round_ in range(options.rounds):
        first = round_ % len(names)
        for title, words, _ in POINTS:
            for name in names[first:] + names[:first]:
                value = fio_sample(guest, disks, name, words, options.secs)
                samples.setdefault((title, name), []).append(value)
    return samples


def row(title, unit, values):
    middle = {name: statistics.median(v) for name, v in values.items()}
    cells = [f"{middle[n]:.0f} [{min(v):.0f}-{max(v):.0f}]" for n, v in values.items()]
    cells += [f"{middle[n] / middle[RIVAL]:.2f} x" for n in values if n != RIVAL]
    print(f"| {title} | {unit} | " + " | ".join(cells) + " |", flush=True)


def table(samples, names):
    print("\n| | unit | " + " | ".join(names) + " | " +
          " | ".join(f"{n} to {RIVAL}" for n in names if n != RIVAL) + " |")
    print("|" + "---|" * (2 * len(names) + 1))
    for title, _, size in POINTS:
        row(title, "MB/s" if size else "IOPS",
            {n: [v[0] * (size or 1e6) / 1e6 for v in samples[title, n]] for n in names})
        row(title, "CPU us", {n: [v[1] for v in samples[title, n]] for n in names})


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--secs", type=int, default=2)
    parser.add_argument("--size", type=int, default=256, metavar="MIB")
    parser.add_argument("--via", action="append", choices=["ublk", "nbd"])
    options = parser.parse_args()
    options.via = options.via or ["ublk", "nbd"]
    return options


def main():
    options = parse()
    with farblock.Scratch() as scratch, Guest(scratch, memory=2048, shares_host=True) as guest:
        guest.run(f"mkdir -p {scratch.path}")
        disks = devices(guest, scratch, options)
        table(measure(guest, disks, options), list(disks))
    print(f"\nmachine: {accelerator()}, 2 CPUs; {options.rounds} rounds of {options.secs} s")
    return 0


if __name__ == "__main__":
    farblock.main(main)
