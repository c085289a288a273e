# SPDX-License-Identifier: BSD-2-Clause
"""farblockd with a copy of the image as the root disk of a machine, and what comes of it."""

import os
import subprocess
import threading

import farblock_path  # noqa: F401
from farblock import Config, Failure, Farblockd, check, free_port
from machine import HOST, HOST_6, INITIATOR, root_image

IQN = "iqn.2025-01.org.farblock"
USER, SECRET = "diskless", "correct-horse-1"
TARGET_USER, TARGET_SECRET = "target", "battery-staple-2"
MACHINE = "127.0.0.1"  # how QEMU's user network comes here: an ACL of SRP may be an address
OUTAGE = int(os.environ.get("FARBLOCK_BOOT_OUTAGE", "30"))  # seconds without a target
PARTITION = 1 << 20  # byte offset of the file system


class Root:
    """A target whose LUN 0 is the root disk. chap: None, one-way or mutual. is_6: over IPv6. The image has SECRET in its
    iscsid.conf, for machines without a firmware's table."""

    def __init__(self, scratch, chap=None, is_srp=False, name="root", portals=1, secret=SECRET,
                 is_6=False):
        self.scratch, self.chap, self.is_srp, self.secret = scratch, chap, is_srp, secret
        self.is_6, self.host = is_6, HOST_6 if is_6 else HOST
        self.path = scratch.file(f"{name}.img")
        subprocess.run(["cp", "--sparse=always", "--reflink=auto", root_image(), self.path],
                       check=True)
        config = Config()
        disk = config.fileio("root", self.path, 0)
        if is_srp:
            self.target = config.srp_target([disk], acls=(MACHINE,), portals=portals)
        else:
            portals = [("[::1]", free_port("::1"))] if is_6 else portals
            self.target = config.target([disk], iqn=f"{IQN}:root", portals=portals,
                                        **self.access())
        self.daemon = Farblockd(scratch, config, name=f"{name}-farblockd")

    def access(self):
        if not self.chap:
            return {}
        acl = {"node_wwn": INITIATOR, "attributes": {}, "chap_userid": USER,
               "chap_password": self.secret, "mapped_luns": [
                   {"index": 0, "tpg_lun": 0, "alias": "root", "write_protect": False}]}
        if self.chap == "mutual":
            acl.update(chap_mutual_userid=TARGET_USER, chap_mutual_password=TARGET_SECRET)
        return {"attributes": {"authentication": 1, "generate_node_acls": 0}, "node_acls": [acl]}

    def __enter__(self):
        self.daemon.__enter__()
        return self

    def __exit__(self, *why):
        return self.daemon.__exit__(*why)

    # ---- what names it ----

    @property
    def place(self):
        """ADDRESS:6:PORT:LUN:IQN, as the machine sees it."""
        return f"{self.host}:6:{self.target.port}:0:{self.target.iqn}"

    def url(self, scheme="iscsi"):
        url = self.target.url().replace("127.0.0.1", HOST).replace("[::1]", HOST_6)
        return url if self.is_srp else url.replace("iscsi://", f"{scheme}://")

    def ipxe(self, verb="sanboot"):
        lines = ["ifconf -c ipv6 net0"] if self.is_6 else []
        lines.append(f"set initiator-iqn {INITIATOR}")
        if self.chap:
            lines += [f"set username {USER}", f"set password {SECRET}"]
        if self.chap == "mutual":
            lines += [f"set reverse-username {TARGET_USER}",
                      f"set reverse-password {TARGET_SECRET}"]
        where = f"iscsi:{self.host}::{self.target.port}:0:{self.target.iqn}"
        lines.append(f"sanboot {where}" if verb == "sanboot" else f"sanhook --drive 0x80 {where}")
        return "\n".join(lines) + "\n"

    # ---- what happens to it ----

    def outage(self):
        """The target is killed and is away for a time."""
        print(f"# target killed, {OUTAGE} s", flush=True)
        self.daemon.kill()
        threading.Event().wait(OUTAGE)  # the outage itself
        self.daemon.start()
        print("# target started", flush=True)

    def check_clean(self):
        """After the machine has powered off: e2fsck finds nothing, and it was unmounted."""
        done = subprocess.run(["e2fsck", "-fn", f"{self.path}?offset={PARTITION}"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        if done.returncode:
            raise Failure(f"e2fsck: exit status {done.returncode}: {done.stdout}")
        check("recovering journal" not in done.stdout and "not cleanly" not in done.stdout,
              f"e2fsck: {done.stdout}")
