#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A whole disk each way in commands of 128 KiB, over TCP, and over iSER and SRP with software iWARP,
on each kind of disk that promises it, every byte checked by the client: the daemon must not have
copied one, but for the beginning of a session's first write over TCP, which may come with its
header while the daemon reads ahead for small commands. What the counter counts is shown by small
writes before.

    zero_copies.py [TIMES]      how often: once, or TIMES"""

import contextlib
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402

DISK, COMMAND, READ_AHEAD = 256 << 20, 128 << 10, 8192
PORT = ("--initiator-port", f"{farblock.SRP_INITIATOR[3:19]}:{farblock.SRP_INITIATOR[19:]}")


def since(before, now):
    return tuple(b - a for a, b in zip(before, now))


def counter_counts(daemon, url):
    """A counter that stands still would prove nothing."""
    before = daemon.copied()
    done = farblock.run(["iscsi_load", "-v", "-u0", "-t600", "-w", "-b512", "-q32", "-n1024",
                         "-S524288", url])
    if json.loads(done.stdout.splitlines()[-1]).get("errors"):
        raise farblock.Failure(f"writes of 512 bytes: {done.stdout}")
    count, size = since(before, daemon.copied())
    print(f"1024 writes of 512 bytes: {count} copies of {size} bytes", flush=True)
    if not count or size < count:
        raise farblock.Failure("writes of 512 bytes left the copy counter alone")


def both_ways(daemon, url, path, times):
    """Writes and reads back the whole disk, a session each time."""
    before, bytes_before = daemon.copied(), daemon.moved(path)
    for pattern in range(times):
        farblock.run(["farblock-initiator", "verify", url, "--pattern", str(pattern), "--bs",
                      str(COMMAND), "--force", *(PORT if url.startswith("srp:") else ())],
                     timeout=600)
    count, size = since(before, daemon.copied())
    written, read = since(bytes_before, daemon.moved(path))
    if min(written, read) < times * DISK:
        raise farblock.Failure(f"{url}: only {written} bytes written and {read} read at the disk")
    sessions = times if url.startswith("iscsi:") else 0
    if count > sessions or size > sessions * READ_AHEAD:
        raise farblock.Failure(f"{path} over {url}: {count} copies of {size} bytes for {written} "
                               f"bytes written and {read} read")
    print(f"{url.split(':')[0]}, {path}: {written >> 20} MiB written, {read >> 20} MiB read, {size} "
          "bytes copied", flush=True)


@contextlib.contextmanager
def loop_device(scratch):
    """A block device, or None where the machine or the user may make none."""
    path = scratch.file("loop.img", size=DISK)
    done = farblock.run(["losetup", "--find", "--show", "--direct-io=on", path], check=False)
    if done.returncode:
        print(f"no block device: {done.stdout.strip()}", flush=True)
        yield None
        return
    device = done.stdout.strip()
    try:
        yield device
    finally:
        farblock.run(["losetup", "--detach", device])


def disks(config, scratch, device):
    made = [config.ramdisk("ram", DISK), config.fileio("direct", scratch.file("direct"), DISK),
            config.fileio("cached", scratch.file("cached"), DISK, write_back=True)]
    return made + ([config.storage("block", "block", dev=device)] if device else [])


def main():
    times = int(sys.argv[1]) if sys.argv[1:] else 1
    with farblock.Scratch() as scratch, loop_device(scratch) as device:
        config = farblock.Config()
        paths = disks(config, scratch, device)
        target, srp = config.target(paths), config.srp_target(paths)
        with farblock.Farblockd(scratch, config) as daemon:
            counter_counts(daemon, target.url())
            for lun, path in enumerate(paths):
                iscsi = target.url(lun)
                for url in (iscsi, iscsi.replace("iscsi", "iser", 1), srp.url(lun)):
                    both_ways(daemon, url, path, times)
    return 0


if __name__ == "__main__":
    farblock.main(main)
