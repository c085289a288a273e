#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator bench says what limits it: a disk with a delay of 200 ms, by line and by
JSON; one command at a time is limited by its latency."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from farblock import check  # noqa: E402

SIZE = 64 << 20


def bench(url, *options):
    return farblock.run(["farblock-initiator", "bench", url, "--time", "1", *options]).stdout


def by_json(url, *options):
    return json.loads(bench(url, "--json", *options))


def a_slow_disk(url):
    for options in ((), ("--op", "randwrite"), ("--op", "write", "--bs", "8k")):
        told = by_json(url, *options)
        check(told["limit"] == "disk", f"{options}: {told}")
    told = bench(url).splitlines()
    check(told[-1].startswith("limit: the disk; commands that do not use it would reach"), told)
    told = by_json(url)
    figures = told["limit_figures"]
    check(figures["iops_without_disk"] > 2 * told["iops"] and figures["interface"] == "lo", told)


def one_at_a_time(url):
    told = bench(url, "--depth", "1")
    check("\nlimit: the latency; one command at a time takes " in told, told)


def main():
    with farblock.Scratch() as scratch:
        config = farblock.Config()
        slow = {"delay_read_us": 200000, "delay_write_us": 200000}
        target = config.target([config.ramdisk("rd0", SIZE, slow)])
        with farblock.Farblockd(scratch, config):
            a_slow_disk(target.url(0))
            one_at_a_time(target.url(0))
    return 0


if __name__ == "__main__":
    farblock.main(main)
