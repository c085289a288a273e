#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A record of nexuses that cannot be read may hide one that still writes: the disk is not attached,
and the message names the file, what is wrong and what to do."""

import glob
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, main  # noqa: E402

NEXUS = {"protocol": "iscsi", "initiator": "iqn.2025-01.org.example:x,i,0x000000000001",
         "target": "iqn.2025-01.org.example:t,t,0x0001", "relative_port": 1, "server": 1}


def of(*nexuses):
    return json.dumps({"nexuses": nexuses}).encode()


# What is wrong, the file, words of the message.
RECORDS = [
    ("garbage", bytes(range(128, 256)), "not UTF-8"),
    ("empty", b"", "unexpected end"),
    ("truncated", of(NEXUS)[:60], "unexpected end"),
    ("deep", b"[" * 100000, "too deep"),
    ("of 10 MB", of("x" * 10_000_000), "not a list of nexuses"),
    ("no list", b'{"nexuses": "x"}', "not a list of nexuses"),
    ("no nexus", of(None), "not a list of nexuses"),
    ("a port beyond 16 bits", of(dict(NEXUS, relative_port=65537)), "not a list of nexuses"),
    ("too many", of(*[NEXUS] * 65), "more than 64 nexuses"),
    ("a directory", os.mkdir, "not a regular file"),
    ("a fifo", os.mkfifo, "not a regular file"),
]


def fault(attachments, url, path, record):
    what, content, words = record
    if callable(content):
        content(path)
    else:
        with open(path, "wb") as f:
            f.write(content)
    said = attachments.attach(url, "--via", "socket", "--name", "disk",
                              "--fence-wait", "1", status=None)
    is_attached = any(one["name"] == "disk" for one in attachments.list())
    (os.rmdir if os.path.isdir(path) else os.unlink)(path)
    if is_attached:
        attachments.detach("disk")
        return f"{what}: attached"
    whole = (path, words, "cannot tell what may still write the disk", "remove the file once")
    return next((f"{what}: not '{word}': {said}" for word in whole if word not in said), None)


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        target = config.target([config.ramdisk("ram", 1 << 20)])
        with Farblockd(scratch, config):
            attachments.attach(target.url(), "--via", "socket", "--name", "disk")
            path = glob.glob(f"{attachments.run_dir}/*.nexuses")[0]
            attachments.detach("disk")
            faults = [fault(attachments, target.url(), path, record) for record in RECORDS]
            check(not any(faults), "\n".join(one for one in faults if one))


if __name__ == "__main__":
    main(test)
