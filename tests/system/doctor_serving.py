#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""doctor about what farblockd serves: files that were removed, with a command that saves the data;
ACLs that refuse every login; SRP targets that admit nobody; RAM disks larger than memory; space for the saved files; a slow disk
that limits the load."""

import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from farblock import check, eventually  # noqa: E402

MIB = 1 << 20
HOSTS = [f"iqn.2025-01.org.example:{name}" for name in ("host1", "host2", "host3")]


def doctor(daemon, name):
    """The findings of one check, by object."""
    done = subprocess.run([farblock.program("farblock"), "--json", "--socket", daemon.socket_path,
                           "doctor", name], capture_output=True, text=True, timeout=60, check=False)
    return {f["object"].rsplit("/", 1)[-1]: f for f in json.loads(done.stdout)}


def fails(found, name, *words):
    f = found[name]
    told = " ".join(f.get(key, "") for key in ("what", "why", "fix"))
    check(f["verdict"] == "fail" and all(word in told for word in words), f"{name}: {f}")
    return f["fix"]


def removed_files(scratch, daemon):
    paths = {name: scratch.file(name) for name in ("gone.img", "it's new.img", "moved.img")}
    data = {name: os.urandom(MIB) for name in paths}
    os.symlink(scratch.path, scratch.file("folder"))
    for name, path in paths.items():
        scratch.file(name, content=data[name])
        daemon.rpc("tree.run", command="create", path="/backstores/fileio", named={
            "name": name.replace("'", "").replace(" ", ""), "file_or_dev": os.path.join(
                scratch.path, "folder", name)})
    os.unlink(paths["gone.img"])
    os.unlink(paths["it's new.img"])
    scratch.file("it's new.img", content=b"of another user")
    os.rename(paths["moved.img"], paths["moved.img"] + ".old")
    found = doctor(daemon, "disks")
    fails(found, "moved.img", "removed or renamed", f"/proc/{daemon.pid}/fd")
    for name, word in (("gone.img", "was removed"), ("itsnew.img", "is another file")):
        fix = fails(found, name, word)
        command = re.search(r"(cp .*), and restart", fix)[1]
        subprocess.run(["sh", "-c", command], check=True)
    for name, where in (("gone.img", ""), ("it's new.img", ".saved")):
        with open(paths[name] + where, "rb") as copy:
            check(copy.read() == data[name], f"{name}: the copy differs")


def logins(daemon, tpg):
    daemon.rpc("tree.run", command="set", path=tpg, positional=["attribute"],
               named={"authentication": "1", "generate_node_acls": "0"})
    for host in HOSTS:
        daemon.rpc("tree.run", command="create", path=f"{tpg}/acls", named={"wwn": host})
    one, two, _ = (f"{tpg}/acls/{host}" for host in HOSTS)
    daemon.rpc("tree.run", command="set", path=two,
               positional=["auth"], named={"userid": "u", "password": "p" * 12})
    daemon.rpc("tree.run", command="set", path=one,
               positional=["attribute"], named={"authentication": "0"})
    found = doctor(daemon, "logins")
    fix = fails(found, HOSTS[2], "refuses every login", "CHAP is required", "set auth userid=")
    check(list(found) == [HOSTS[2]], f"logins: {found}")
    shell = ["farblock", "--socket", daemon.socket_path]
    told = farblock.run([*shell, "doctor", "logins"], check=False).stdout
    either, other = fix.split("\n")
    check(f"       fix: {either}\n        or: {other}\n" in told, f"not a line each: {told}")
    check(either.startswith("farblock ") and other.startswith("farblock "), fix)
    farblock.run([*shell, *other.split("#")[0].split()[1:]])
    check(doctor(daemon, "logins")[""]["verdict"] == "ok", "the cure does not help")


def srp(daemon):
    """A target without a portal and an ACL, and then with both."""
    gid, port = "ib.fe800000000000000002c903000a1b2c", farblock.free_port()
    daemon.rpc("tree.run", command="set", path="/", positional=["global"],
               named={"auto_add_default_portal": "false"})
    check(doctor(daemon, "srp")[""]["what"] == "0 SRP targets", "not without one")
    daemon.rpc("tree.run", command="create", path="/srpt", named={"wwn": gid})
    found = doctor(daemon, "srp")
    fails(found, gid, "no portal", f"farblock /srpt/{gid}/portals create")
    told = found["acls"]
    check(told["verdict"] == "warn" and "has no ACL" in told["what"] and
          told["fix"].startswith(f"farblock /srpt/{gid}/acls create"), f"acls: {told}")
    daemon.rpc("tree.run", command="create", path=f"/srpt/{gid}/acls", named={"wwn": "192.0.2.7"})
    daemon.rpc("tree.run", command="create", path=f"/srpt/{gid}/portals",
               named={"ip_address": "127.0.0.1", "ip_port": str(port)})
    found = doctor(daemon, "srp")
    check(found[""]["what"] == "1 SRP target" and gid not in found and "acls" not in found, found)
    told = doctor(daemon, "portals")[f"127.0.0.1:{port}"]
    check(told["verdict"] == "ok", f"portals: {told}")


def room(daemon):
    found = doctor(daemon, "space")
    check({f["verdict"] for f in found.values()} == {"ok"} and len(found) == 2, f"space: {found}")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    check(doctor(daemon, "disks")["RAM disks"]["verdict"] == "ok", "a RAM disk of 1 MiB")
    daemon.rpc("tree.run", command="create", path="/backstores/ramdisk", named={
        "name": "all", "size": f"{memory // MIB}M"})
    told = doctor(daemon, "disks")["RAM disks"]
    check(told["verdict"] == "warn" and "memory runs out" in told["why"], f"RAM disks: {told}")


def limit(scratch, daemon, url):
    """The disk behind url has a delay."""
    told = doctor(daemon, "limit")[""]
    check(told["verdict"] == "skip" and "no load to judge" in told["what"], f"without load: {told}")
    load = farblock.Process(scratch, "load")
    try:
        load.spawn(["farblock-initiator", "bench", url, "--time", "3600"])
        eventually("the load at work", lambda: daemon.moved("/backstores/ramdisk/slow")[1])
        told = doctor(daemon, "limit")
    finally:
        load.kill()
    check(list(told) == ["slow"] and "the limit is the disk: of " in told["slow"]["what"], told)


def main():
    with farblock.Scratch() as scratch:
        config = farblock.Config()
        target = config.target([config.ramdisk("rd0", MIB), config.ramdisk(
            "slow", MIB, {"delay_read_us": 200000})])
        with farblock.Farblockd(scratch, config) as daemon:
            limit(scratch, daemon, target.url(1))
            removed_files(scratch, daemon)
            logins(daemon, f"/iscsi/{target.iqn}/tpg1")
            srp(daemon)
            room(daemon)
    return 0


if __name__ == "__main__":
    farblock.main(main)
