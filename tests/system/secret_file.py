#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A password in a separate file: libiscsi proves it, and no login succeeds when the file
is for others too.

    secret_file.py
"""

import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import farblock  # noqa: E402
from farblock import check  # noqa: E402

SECRET = "nettle-Quarry-4417"


def gets_in(target, password):
    done = subprocess.run(
        ["iscsi-readcapacity16", f"iscsi://web01%{password}@127.0.0.1:{target.port}/{target.iqn}/0"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=30, check=False)
    return not done.returncode


def main():
    if not shutil.which("iscsi-readcapacity16"):
        raise farblock.Skip("no iscsi-readcapacity16 (libiscsi-bin)")
    with farblock.Scratch() as scratch:
        path = scratch.file("web01", content=SECRET + "\n")
        os.chmod(path, 0o600)
        config = farblock.Config()
        target = config.target(luns=[config.ramdisk("rd0", 4 << 20)],
                               attributes={"generate_node_acls": 1, "authentication": 1})
        with farblock.Farblockd(scratch, config, "first") as daemon:
            daemon.rpc("tree.run", path=f"/iscsi/{target.iqn}/tpg1", command="set",
                       named={"group": "auth", "userid": "web01", "password_file": path})
            check(gets_in(target, SECRET), "the secret of the file proves nothing")
            check(not gets_in(target, SECRET + "x"), "another secret is taken too")
            with open(daemon.config_path, encoding="utf-8") as text:
                check(SECRET not in text.read(), "the saved file has the secret")
        os.chmod(path, 0o644)
        with daemon:
            check(not gets_in(target, SECRET), "a secret that others can read is taken")
            check(not gets_in(target, ""), "no secret is taken for one")
        os.chmod(path, 0o600)
        with daemon:
            check(gets_in(target, SECRET), "the file is as it was, and proves nothing")
    return 0


if __name__ == "__main__":
    farblock.main(main)
