#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""export: a disk is shared by one line, with those who are named and through a portal that is there,
and what it prints attaches it; one that fails leaves the tree as it was."""

import json
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402

HOST = "iqn.2025-03.net.example:web01"
GID, PORT = "ib.fe800000000000000002c903000a1b2c", "ib.0002c903000d5f010002c903000d5f01"


def shell(daemon, *words):
    """Status, output and errors of one line."""
    done = subprocess.run([farblock.program("farblock"), "--socket", daemon.socket_path, *words],
                          capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def export(daemon, *words):
    status, out, errors = shell(daemon, "--json", "export", *words)
    if status:
        raise farblock.Failure(f"export {words}: status {status}: {errors}")
    return json.loads(out)


def verify(scratch, daemon, url, shared, secret):
    path = scratch.file("secret", content=secret)
    os.chmod(path, 0o600)
    return farblock.run(
        ["farblock-initiator", "verify", "--pattern", "5", "--length", "1m",
         f"{url.split('//')[0]}//{shared['user']}@{url.split('//')[1]}/{shared['target']}/{shared['lun']}",
         "--initiator-name", HOST, "--chap-secret-file", path], check=False)


def what_it_prints_attaches_it(scratch, daemon, target):
    portal = f"127.0.0.1:{target.port}"
    disk = scratch.file("web01.img")
    shared = export(daemon, disk, "--to", HOST, "--target", target.iqn, "size=16M",
                    f"portal={portal}")
    for scheme in ("iscsi", "iser"):
        done = verify(scratch, daemon, f"{scheme}://{portal}", shared, shared["secret"])
        if done.returncode:
            raise farblock.Failure(f"{scheme}: {done.stdout}")
    again = export(daemon, scratch.file("b.img"), "--to", HOST, f"target={target.iqn}", "size=16M",
                   "--ro", f"portal={portal}")
    if "secret" in again or again["lun"] == shared["lun"]:
        raise farblock.Failure(f"the second disk: {again}")
    done = verify(scratch, daemon, f"iscsi://{portal}", again, shared["secret"])
    if not done.returncode or "WRITE PROTECTED" not in done.stdout.upper().replace("-", " "):
        raise farblock.Failure(f"read-only, and written: {done.stdout}")
    status, out, _ = shell(daemon, "export", scratch.file("c.img"), "--to", HOST, "size=16M",
                           f"target={target.iqn}", "--iser", f"portal={portal}")
    lines = ["iscsiadm -m discovery", "-I iser", "farblock-initiator inquiry iser://"]
    if status or [line for line in lines if line not in out]:
        raise farblock.Failure(f"printed: {out}")
    print("three disks exported; what is printed attaches them")


def run_as_printed(scratch, told, name):
    """The line for farblock-initiator, word by word, with the secret that stands above it."""
    line = re.search(r"^  (farblock-initiator .*) \\\n(.*)$", told, re.M)
    path = scratch.file("printed", content=re.search(r"secret (\S+) \(shown", told).group(1))
    os.chmod(path, 0o600)
    words = [path if w == "FILE" else w for w in shlex.split(" ".join(line.groups()))]
    done = farblock.run(words, check=False)
    if done.returncode or name not in done.stdout:
        raise farblock.Failure(f"{words}: {done.stdout}")


def every_printed_line_of_ours_runs(scratch, daemon):
    """Targets without a portal get the one that is asked for; each initiator its own secret."""
    ports = [farblock.free_port(), farblock.free_port("::1")]
    status, out, errors = shell(
        daemon, "export", scratch.file("many.img"), "to=iqn.2025-03.net.example:A,eui.02004567A425678D",
        "target=iqn.2025-03.net.example:MANY", "size=16M", f"portal=127.0.0.1:{ports[0]}",
        "--iser", "userid=o'neill & sons")
    parts = out.split("LUN 0 of ")[1:]
    if status or len(parts) != 2 or "rd.iscsi.param=iface.transport_name=iser" not in out:
        raise farblock.Failure(f"two initiators: status {status}: {out}{errors}")
    for part in parts:
        run_as_printed(scratch, part, "many")
    status, out, errors = shell(daemon, "export", scratch.file("six.img"), HOST, "size=16M",
                                f"portal=[::1]:{ports[1]}")
    if status:
        raise farblock.Failure(f"IPv6: {errors}")
    run_as_printed(scratch, out, "six")
    print("printed lines run for three initiators")


def lines_name_a_portal_that_is_there(scratch, daemon, target):
    shared = export(daemon, scratch.file("d.img"), f"to={HOST}", f"target={target.iqn}", "size=1M")
    if (shared["address"], shared["port"]) != ("127.0.0.1", str(target.port)):
        raise farblock.Failure(f"not the target's portal: {shared}")
    out = ""
    for number in range(12):
        if "LUN 10 of" not in out:
            out = shell(daemon, "export", scratch.file(f"n{number}.img"), f"to={HOST}",
                        f"target={target.iqn}", "size=1M")[1]
    if f"::{target.port}:a:{target.iqn}" not in out:
        raise farblock.Failure(f"iPXE reads LUNs as hex digits: {out}")
    print("the target's own portal is named, and a LUN as iPXE reads it")


def over_srp_it_is_one_line_too(scratch, daemon):
    """In every spelling of a port; the kernel's initiator is told the extension of its port id."""
    port = farblock.free_port()
    words = ["size=1M", "target=0xFE800000000000000002C903000A1B2C", f"portal=127.0.0.1:{port}"]
    shared = export(daemon, scratch.file("srp.img"), f"to={PORT[3:]},192.0.2.7", "--srp", *words)
    at = f"127.0.0.1:{port}"
    line = f"id_ext={GID[3:19]},ioc_guid={GID[19:]},dest={at}"
    farblock.check(shared["add_target"] == f"{line},initiator_ext={PORT[3:19]}", shared)
    farblock.check(shared["more"][0]["add_target"] == line, shared)
    farblock.check(shared["url"] == f"srp://{at}/{GID[3:19]}:{GID[19:]}/0", shared)
    again = export(daemon, scratch.file("srp2.img"), "to=192.0.2.7", "--srp", "ro=yes", *words)
    farblock.check(again["lun"] == "1" and again["target"] == GID, again)
    tree = shell(daemon, "ls", f"/srpt/{GID}")[1]
    farblock.check("lun1 fileio/srp2 (ro)" in tree and f"o- {PORT} " in tree, tree)
    status, out, errors = shell(daemon, "export", "srp", "to=192.0.2.9", "srp=true", *words[1:])
    farblock.check(not status and f"echo '{line}'" in out and "inquiry srp://" in out, out + errors)
    for name, option in ((PORT, f"{PORT[3:19]}:{PORT[19:]}"),
                         ("0002:c903:000d:5f02", "0000000000000000:0002c903000d5f02")):
        out = shell(daemon, "export", scratch.file(f"{name[-1]}.img"), f"to={name}", "--srp", *words)[1]
        farblock.check(f"--initiator-port {option}\n" in out, out)
        line = re.search(r"^  (farblock-initiator .*)$", out, re.M).group(1)
        farblock.check("FARBLOCK" in farblock.run(shlex.split(line)).stdout, line)
    shell(daemon, "/srpt", "delete", GID)
    print("a disk exported over SRP, with what attaches it")


def a_path_is_that_of_the_shell(scratch, daemon):
    here = os.path.dirname(scratch.file("near.img"))
    done = subprocess.run([farblock.program("farblock"), "--socket", daemon.socket_path, "export",
                           "near.img", "to=" + HOST, "size=1M", "ro=yes"], cwd=here,
                          capture_output=True, text=True, timeout=60)
    disk = daemon.rpc("tree.run", path="/backstores/fileio/near", command="info")
    if done.returncode or f"{here}/near.img" not in json.dumps(disk):
        raise farblock.Failure(f"status {done.returncode}: {done.stderr} {disk}")
    tree = shell(daemon, "ls", "/iscsi")[1]
    if "fileio/near (ro)" not in tree:
        raise farblock.Failure(f"ro=yes: {tree}")
    print("a path from the shell's folder on, and read-only")


def a_storage_object_that_exists_is_shared(scratch, daemon, target):
    """By its name, TYPE/NAME or path; a second initiator of one target gets the same LUN."""
    portal = f"portal=127.0.0.1:{target.port}"
    for number, name in enumerate(("rd", "ramdisk/rd", "/backstores/ramdisk/rd")):
        shared = export(daemon, name, f"to={HOST}{number}", f"target={target.iqn}", portal)
        farblock.check(shared["name"] == "rd" and shared["lun"] == "0", f"{name}: {shared}")
    acls = shell(daemon, "ls", f"/iscsi/{target.iqn}/tpg1/acls")[1]
    farblock.check(acls.count("lun0 ramdisk/rd (rw)") == 3, acls)
    other = export(daemon, "rd", f"to={HOST}", "target=iqn.2025-03.net.example:other", "ro=yes",
                   portal)
    path = scratch.file("secret", content=other["secret"])
    os.chmod(path, 0o600)
    url = f"iscsi://{other['user']}@127.0.0.1:{target.port}/{other['target']}/0"
    out = farblock.run(["farblock-initiator", "inquiry", url, "--initiator-name", HOST,
                        "--chap-secret-file", path]).stdout
    farblock.check("rd" in out, out)
    shell(daemon, "/iscsi", "delete", other["target"])
    print("a storage object that exists is shared")


def what_does_not_fit_an_existing_one_leaves_nothing(scratch, daemon):
    shell(daemon, "/backstores/null", "create", "rd", "1M")
    before = daemon.rpc("tree.ls")
    for words, status, text in (
            (["rd", f"to={HOST}9"], 4, "/backstores/ramdisk/rd"),
            (["ramdisk/rd", f"to={HOST}9", "name=x"], 2, "already exists"),
            (["ramdisk/rd", "to=bad:name"], 8, "bad:name"),
            (["/backstores/ramdisk/none", f"to={HOST}9"], 3, "no storage object"),
            (["none", f"to={HOST}9"], 3, "size=SIZE")):
        told = shell(daemon, "export", *words)
        farblock.check(told[0] == status and text in told[2], f"{words}: {told}")
    farblock.check(daemon.rpc("tree.ls") == before, "something is left of what failed")
    shell(daemon, "/backstores/null", "delete", "rd")


def a_short_password_is_warned_of(scratch, daemon, target):
    words = [f"target={target.iqn}", "size=1M", "password=short"]
    status, out, errors = shell(daemon, "export", scratch.file("s.img"), f"to={HOST}s", *words)
    farblock.check(not status and "Warning: password is shorter than the 12" in out, out + errors)
    shared = export(daemon, scratch.file("s2.img"), f"to={HOST}s", *words)
    farblock.check("shorter" in shared["warnings"][0] and len(shared["warnings"]) == 1, shared)
    shared = export(daemon, scratch.file("s3.img"), f"to={HOST}s", f"target={target.iqn}", "size=1M")
    farblock.check("warnings" not in shared, shared)


def what_fails_leaves_nothing(scratch, daemon):
    before = daemon.rpc("tree.ls")
    refused = [
        ([scratch.file("none"), f"to={HOST}"], 3, "size=SIZE"),
        ([scratch.file("x.img"), "size=1M", "to=bad:name"], 8, "bad:name"),
        ([scratch.file("x.img"), "size=1M", f"to={HOST}", "target=web"], 8, "web"),
        ([scratch.file("x.img"), "size=lots", f"to={HOST}"], 8, "lots"),
        ([scratch.file("x.img"), "size=1M"], 2, "to=INITIATOR"),
        ([scratch.file("x.img"), f"to={HOST}", "--wrong"], 2, "wrong"),
        ([scratch.file("x.img"), f"to={HOST}", "size=1M", "--srp"], 8, "WWN not valid as: ib"),
        ([scratch.file("x.img"), f"to={PORT}", "size=1M", "--srp", "target=web"], 8, "web"),
        ([scratch.file("x.img"), f"to={PORT}", "size=1M", "--srp", "--iser"], 2, "iser: does not"),
        ([scratch.file("x.img"), "--to", HOST, "--to", HOST, "size=1M"], 2, "given twice"),
        ([scratch.file("x.img"), "10M", "--to", HOST], 2, "to: given by position, as '10M'"),
        ([scratch.file("x.img"), *"abcdefghijklmn"], 2, "Unexpected value"),
        ([scratch.file("x.img"), f"to={HOST}", "size=1M", "portal=:3260"], 8, "portal"),
        ([scratch.file("x.img"), f"to={HOST}", "size=1M", "portal=127.0.0.1:abc"], 8, "abc"),
        ([scratch.file("x.img"), f"to={PORT}", "size=1M", "srp=yes", "userid=x"], 2, "userid"),
        ([scratch.file("x.img"), f"to={HOST}", "size=1M", "ro=maybe"], 8, "ro: 'maybe'"),
        ([scratch.file("x.img"), f"to={HOST}", "size=1M", "password=" + 300 * "x"], 8, "255"),
    ]
    for words, status, text in refused:
        told = shell(daemon, "export", *words)
        if told[0] != status or text not in told[2]:
            raise farblock.Failure(f"{words}: status {told[0]}: {told[2]}")
    if os.path.exists(scratch.file("x.img")) or daemon.rpc("tree.ls") != before:
        raise farblock.Failure("something is left of what failed")
    print(len(refused), "refused, nothing left")


def main():
    with farblock.Scratch() as scratch:
        config = farblock.Config()
        target = config.target([config.ramdisk("rd", 16 << 20)])
        with farblock.Farblockd(scratch, config) as daemon:
            shell(daemon, "set", "global", "auto_add_default_portal=false")
            what_it_prints_attaches_it(scratch, daemon, target)
            every_printed_line_of_ours_runs(scratch, daemon)
            lines_name_a_portal_that_is_there(scratch, daemon, target)
            over_srp_it_is_one_line_too(scratch, daemon)
            a_path_is_that_of_the_shell(scratch, daemon)
            a_storage_object_that_exists_is_shared(scratch, daemon, target)
            what_does_not_fit_an_existing_one_leaves_nothing(scratch, daemon)
            a_short_password_is_warned_of(scratch, daemon, target)
            what_fails_leaves_nothing(scratch, daemon)
    return 0


if __name__ == "__main__":
    farblock.main(main)
