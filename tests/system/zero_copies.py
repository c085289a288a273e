#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes 1 GiB to a RAM disk over TCP in commands of 128 KiB and reads it back, every byte
checked by the client: the daemon must not have copied a byte of it. What the counter counts is
shown by small writes before, which may be copied once."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402

GIB, DISK, COMMAND = 1 << 30, 256 << 20, 128 << 10


def copied(daemon):
    """Copies and bytes copied so far, all workers together."""
    workers = daemon.rpc("stats.get")["workers"]
    return tuple(sum(w[key] for w in workers) for key in ("payload_copies", "payload_copy_bytes"))


def moved(daemon, path, way):
    return daemon.rpc("stats.get")["storage_objects"][path][way]["bytes"]


def load(url, *arguments):
    """Runs the load generator to its end, without a warm-up; returns what it printed."""
    done = farblock.run(["iscsi_load", "-v", "-u0", "-t600", *arguments, url], timeout=900)
    result = json.loads(done.stdout.splitlines()[-1])
    if result.get("errors"):
        raise farblock.Failure(f"{' '.join(arguments)}: {done.stdout}")
    return result


def one_way(daemon, url, path, way, flags):
    before, bytes_before = copied(daemon), moved(daemon, path, way)
    load(url, "-s", f"-b{COMMAND}", "-q32", f"-n{GIB // COMMAND}", *flags)
    count, size = (now - then for now, then in zip(copied(daemon), before))
    total = moved(daemon, path, way) - bytes_before
    if total < GIB:
        raise farblock.Failure(f"{way}: only {total} bytes reached the disk")
    if count or size:
        raise farblock.Failure(f"{way}: {count} copies of {size} bytes for {total} bytes")
    print(f"{way}: {total >> 20} MiB in commands of {COMMAND >> 10} KiB, no byte copied",
          flush=True)


def counter_counts(daemon, url):
    """A counter that stands still would prove nothing."""
    before = copied(daemon)
    load(url, "-w", "-b512", "-q32", "-n1024", "-S524288")
    count, size = (now - then for now, then in zip(copied(daemon), before))
    print(f"1024 writes of 512 bytes: {count} copies of {size} bytes", flush=True)
    if not count or size < count:
        raise farblock.Failure("writes of 512 bytes left the copy counter alone")


def main():
    with farblock.Scratch() as scratch:
        config = farblock.Config()
        path = config.ramdisk("rd0", DISK)
        url = config.target([path]).url()
        with farblock.Farblockd(scratch, config) as daemon:
            counter_counts(daemon, url)
            one_way(daemon, url, path, "write", ["-w"])
            one_way(daemon, url, path, "read", [])
    return 0


if __name__ == "__main__":
    farblock.main(main)
