#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""docs/initiator.md has every member of the JSON that farblock-initiator prints, and bench keeps its
rate."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import initiator  # noqa: E402
from farblock import SOURCE, SRP_INITIATOR, Config, Farblockd, Scratch, check, main  # noqa: E402

MIB = 1 << 20
SRP = ("--initiator-port", f"{SRP_INITIATOR[3:19]}:{SRP_INITIATOR[19:]}")
RATE, SECONDS = 500, 2
# Limits of inquiry, which the document does not name one by one.
LIMITS = {"max_compare_and_write", "optimal_granularity", "max_transfer", "optimal_transfer",
          "max_unmap", "max_unmap_descriptors", "unmap_granularity", "max_write_same",
          "max_atomic", "rotation", "provisioning", "unmap", "write_same_unmap", "unmapped_reads",
          "value"}


def told(*words):
    return json.loads(initiator.end(initiator.start(*words, "--json")))


def members(document):
    if isinstance(document, list):
        return set().union(*map(members, document))
    if not isinstance(document, dict):
        return set()
    return set(document) | set().union(*map(members, document.values()))


def documented():
    with open(os.path.join(SOURCE, "docs/initiator.md"), encoding="utf-8") as doc:
        return set(re.findall(r"`([A-Za-z0-9_]+)`", doc.read()))


def runs(target, srp, scratch):
    a, b, portal = target.url(0), target.url(1), f"127.0.0.1:{target.port}"
    file = scratch.file("data", content=bytes(MIB))
    return (("discover", portal), ("discover", f"srp://127.0.0.1:{srp.port}", *SRP),
            ("discover", "--tree", portal), ("luns", a), ("inquiry", a), ("capacity", a),
            ("read", a, "-o", "/dev/null"), ("write", a, "-i", file), ("verify", a, file),
            ("checksum", a), ("unmap", b), ("copy", a, b),
            ("bench", a, "--op", "randrw", "--time", "1", "--depth", "2"))


def every_member_is_documented(target, srp, scratch):
    known = documented() | LIMITS
    for words in runs(target, srp, scratch):
        unknown = members(told(*words)) - known
        check(not unknown, f"{words[0]}: docs/initiator.md has no {unknown}")


def a_rate_is_kept(target):
    """None more than were due in that time, and what was sent and what was not are all of them."""
    run = told("bench", target.url(0), "--rate", str(RATE), "--time", str(SECONDS))
    count = run["reads"]["count"]
    check(count + run["unsent"] == RATE * SECONDS, run)
    check(run["per_second"][0]["reads"] <= RATE * 1.1, run)


def test():
    with Scratch() as scratch:
        config = Config()
        target = config.target([config.ramdisk("rd0", MIB),
                                config.ramdisk("rd1", MIB, {"emulate_tpu": 1})])
        srp = config.srp_target([config.ramdisk("rd2", MIB)])
        with Farblockd(scratch, config):
            every_member_is_documented(target, srp, scratch)
            a_rate_is_kept(target)


main(test)
