#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Files with names that a terminal would interpret: new ones are refused, one of a saved file goes
on being served, and no byte of its name reaches the terminal as it is."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from farblock import check  # noqa: E402

ODD = {"line feed": "\n", "escape": "\x1b[31m", "DEL": "\x7f", "C1": "\u009b31m", "bidi": "\u202e"}
SHOWN = r"\u000a\u001b[31m\u007f\u009b31m\u202e.img"


class Shell(farblock.Shell):
    def __call__(self, *words, **expected):
        out = super().__call__(*words, **expected)
        check(out.replace("\n", "").isprintable(), f"{words}: a terminal would obey {out!r}")
        return out


def refused(shell, scratch, target):
    for name, text in ODD.items():
        path = scratch.file(f"new{text}.img")
        said = shell("/backstores/fileio", "create", "new", path, "1M", status=8)
        check("control characters in" in said, f"{name}: {said}")
        check(not os.path.exists(path), f"{name}: the file is made")
        scratch.file(f"new{text}.img", size=1 << 20)
        shell("/backstores/block", "create", "new", path, status=8)
        shell(f"/iscsi/{target.iqn}/tpg1/luns", "create", path, status=8)
    shell("/backstores/fileio/new", "ls", status=3)


def kept(shell, path):
    disk = "/backstores/fileio/old"
    check(shell("ls").count(SHOWN) == 2, "ls does not write it out")
    check(SHOWN in shell(disk, "info") and SHOWN in shell(disk, "status"), "info does not")
    check(json.loads(shell("--json", disk, "info"))["dev"] == path, "JSON has another name")
    check(" waiting" not in shell(disk, "status"), "it is not served")


def main():
    with farblock.Scratch() as scratch:
        config = farblock.Config()
        path = scratch.file("".join(ODD.values()) + ".img")
        target = config.target([config.fileio("old", path, 1 << 20)])
        with farblock.Farblockd(scratch, config) as daemon:
            shell = Shell(daemon)
            kept(shell, path)
            refused(shell, scratch, target)
            shell("saveconfig", scratch.file("copy.json"))
            shell("restoreconfig", scratch.file("copy.json"), "clear_existing=true")
            kept(shell, path)
            shell("apply", scratch.file("copy.json"))
            os.rename(path, path + "2")
            daemon.stop()
            daemon.start()
            check("waiting" in shell("/backstores/fileio/old", "status"), "served without its file")
    return 0


if __name__ == "__main__":
    farblock.main(main)
