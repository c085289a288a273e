#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whole configurations of tgt and SCST (tests/data) are taken over by a running farblockd: the tree
is shown, initiators that were allowed see what they saw, and nothing changes where a file is broken.

    import.py
"""

import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import farblock  # noqa: E402
from farblock import check  # noqa: E402
from transcript import own_network  # noqa: E402

DATA = os.path.join(os.path.dirname(HERE), "data")
OFFICE = "iqn.2019-04.org.example.office"
DISKS = ("mail", "archive", "db", "install.img", "scratch.img", "golden.img", "movie.iso")


class Stage:
    """A daemon without a configuration, and the disks that the files name."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.daemon = farblock.Farblockd(scratch, farblock.Config())
        os.unlink(self.daemon.config_path)
        for name in DISKS:
            scratch.file(name, size=4 << 20)

    def conf(self, name):
        """A file of tests/data with disks that are here."""
        with open(os.path.join(DATA, name), encoding="utf-8") as text:
            lines = text.read()
        for folder in ("/srv/images", "/dev/vg_office"):
            lines = lines.replace(folder, self.scratch.path)
        return self.scratch.file(name, content=lines.replace("192.168.10", "127.0.0"))

    def shell(self, *words):
        return subprocess.run(
            [farblock.program("farblock"), "--socket", self.daemon.socket_path, *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=60, check=False)

    def run(self, *words):
        done = self.shell(*words)
        check(not done.returncode, f"{' '.join(words)}: {done.stdout}")
        return done.stdout

    def tree(self):
        text = self.run("ls").replace(self.scratch.path, "...")
        print(text)
        return text


def told(text, path, line, words):
    """A line of the file is said to be skipped, or changed."""
    check(re.search(f"^{re.escape(path)}:{line}: .*{words}", text, re.M), f"{line}: {words}\n{text}")


def capacity(host, target, lun, user=""):
    """libiscsi's properties of a disk; "" if it may not log in, or there is no disk."""
    done = subprocess.run(["iscsi-readcapacity16", "-i", host,
                           f"iscsi://{user}127.0.0.1:3260/{target}/{lun}"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=30,
                          check=False)
    return "" if done.returncode else done.stdout


def tgt_is_taken_over(scratch):
    stage = Stage(scratch)
    path = stage.conf("targets.conf")
    with stage.daemon:
        text = stage.run("import", "tgt", path)
        told(text, path, 14, "not an address")
        told(text, path, 35, "frobnicate")
        told(text, path, 42, "movie.iso skipped")
        check("secret" not in text, "a password is shown")
        tree = stage.tree()
        for part in ("1-way disc auth, Targets: 2", "mutual auth, Mapped LUNs: 2",
                     "[lun2 fileio/mail (rw)]", "[fileio/install (.../install.img)", "[iser]"):
            check(part in tree, f"the tree lacks '{part}'")
        check(capacity("iqn.2019-04.org.example:anybody", f"{OFFICE}:mixed", 12), "no LUN 12")
        check(not capacity("iqn.2019-04.org.example:anybody", f"{OFFICE}:mail", 1),
               "who is not named may log in")


def scst_is_taken_over(scratch):
    stage = Stage(scratch)
    path = stage.conf("scst.conf")
    with stage.daemon:
        text = stage.run("import", "scst", path)
        told(text, path, 41, "EXTENDED COPY")
        told(text, path, 76, "microsoft")
        tree = stage.tree()
        for part in ("[lun0 fileio/golden (ro)]", "[lun1 fileio/scratch (rw)]",
                     "ib.fe800000000000000002c9030005f34b", "127.0.0.1:3260"):
            check(part in tree, f"the tree lacks '{part}'")
        node, user = "iqn.2019-04.org.example:node1", "node%correct-horse-9@"
        check("4096" in capacity(node, f"{OFFICE}:cluster", 1, user), "node1 does not see scratch")
        check(not capacity(node, f"{OFFICE}:cluster", 1), "node1 need not prove itself")


def a_broken_file_changes_nothing(scratch):
    stage = Stage(scratch)
    path = stage.conf("targets.conf")
    broken = scratch.file("broken.conf", content="".join(open(path, encoding="utf-8").readlines()[:-1]))
    with stage.daemon:
        stage.run("import", "tgt", path)
        tree = stage.run("ls")
        with open(stage.daemon.config_path, encoding="utf-8") as text:
            saved = text.read()
        done = stage.shell("import", "tgt", broken, "clear_existing=true")
        check(done.returncode == 8 and f"{broken}:23: <target>" in done.stdout, done.stdout)
        check(stage.run("ls") == tree, "the tree has changed")
        with open(stage.daemon.config_path, encoding="utf-8") as text:
            check(text.read() == saved, "the saved file has changed")


def luns_are_those_of_tgt_admin(scratch):
    """tgt-admin tells what it would do, without its daemon."""
    if not shutil.which("tgt-admin") or os.geteuid():
        print("tgt-admin is not here, or not for us: its numbers are not compared")
        return
    stage = Stage(scratch)
    path = stage.conf("targets.conf")
    done = subprocess.run(["tgt-admin", "-e", "-p", "-c", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, timeout=60, check=False)
    theirs = {os.path.basename(disk): int(lun) for lun, disk in
              re.findall(r"--lun (\d+) -b \"([^\"]+)\"", done.stdout)}
    check(len(theirs) >= 4, f"tgt-admin says: {done.stdout}")
    with stage.daemon:
        stage.run("import", "tgt", path)
        tree = stage.run("ls", "/iscsi")
    ours = {os.path.basename(disk): int(lun) for lun, disk in
            re.findall(r"o- lun(\d+) .*\[fileio/\S+ \((\S+)\)", tree)}
    check(ours, f"no LUN in {tree}")
    for disk, lun in ours.items():
        check(theirs.get(disk) == lun, f"{disk}: LUN {lun} here, {theirs.get(disk)} with tgt-admin")


def main():
    if not shutil.which("iscsi-readcapacity16"):
        raise farblock.Skip("no iscsi-readcapacity16 (libiscsi-bin)")
    own_network()
    for claim in (tgt_is_taken_over, scst_is_taken_over, a_broken_file_changes_nothing,
                  luns_are_those_of_tgt_admin):
        with farblock.Scratch() as scratch:
            claim(scratch)
        print("ok:", claim.__name__.replace("_", " "))
    return 0


if __name__ == "__main__":
    farblock.main(main)
