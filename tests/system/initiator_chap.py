#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Where farblock-initiator takes CHAP secrets from: a file, the environment, the terminal,
open-iscsi's records and its iscsid.conf."""

import json
import os
import pty
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, main, program  # noqa: E402

MIB = 1 << 20
VIA = ("--via", "socket")
ME, SECRET, TARGETS = "iqn.2025-01.org.farblock:me", "secret-of-twelve", "secret-of-target"


class Tool(Attachments):
    def __init__(self, scratch, target):
        super().__init__(scratch)
        self.url = target.url().rsplit("/", 1)[0]

    def login(self, *words, status=0):
        said = self.command("login", self.url, *VIA, *words, status=status)
        if not status:
            self.command("logout", "--all")
        return said


def write(path, *lines):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    os.chmod(path, 0o600)


def keys(user=None, secret=None, mutual=None, prefix="node.session.auth"):
    values = {"authmethod": "CHAP" if user else "None", "username": user, "password": secret}
    if mutual:
        values.update(username_in="target", password_in=mutual)
    return [f"{prefix}.{key} = {value}" for key, value in values.items() if value]


def a_file_has_the_secret(tool, scratch):
    path = scratch.file("secret")
    write(path, SECRET)
    tool.login("--initiator-name", ME, "--chap-user", "me", "--chap-secret-file", path)
    write(path, "another-secret")
    tool.login("--initiator-name", ME, "--chap-user", "me", "--chap-secret-file", path, status=24)


def a_record_names_the_file(tool, scratch):
    path, records = scratch.file("secret"), scratch.file("login.d")
    write(path, SECRET)
    where = ("--record-dir", records)
    tool.login("--initiator-name", ME, "--chap-user", "me", "--chap-secret-file",
               f"{os.path.dirname(path)}/./secret", "--name", "disks", "--save", *where)
    with open(f"{records}/disks.conf", encoding="utf-8") as f:
        text = f.read()
    check(f"chap-secret-file = {path}\n" in text and SECRET not in text, text)
    tool.command("login", "disks", *where)
    tool.command("logout", "disks")


def on_terminal(words, answer):
    """Runs the tool on a terminal of its own, with an answer to the first prompt; what it said."""
    pid, fd = pty.fork()
    if not pid:
        os.execv(program("farblock-initiator"), ["farblock-initiator", *words])
    said = b""
    while True:
        try:
            piece = os.read(fd, 4096)
        except OSError:  # the end, as Linux tells it
            break
        if not piece:
            break
        is_first = said.count(b"secret for") == 0
        said += piece
        if is_first and b"secret for me: " in said:
            os.write(fd, answer.encode() + b"\n")
    os.close(fd)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said.decode()


def the_terminal_is_asked_once(tool):
    """A login has a session for each of the two disks, and one that looks for them."""
    status, said = on_terminal(["login", tool.url, *VIA, "--initiator-name", ME, "--chap-user", "me",
                                "--run-dir", tool.run_dir], SECRET)
    check(not status and said.count("CHAP secret for me") == 1, f"{status}: {said}")
    check(SECRET not in said, said)
    check(len(tool.list()) == 2, f"{tool.list()}")
    tool.command("logout", "--all")


def iscsid_conf_has_the_secret(tool, directory):
    write(f"{directory}/initiatorname.iscsi", f"InitiatorName={ME}")
    write(f"{directory}/iscsid.conf", "# defaults", *keys("me", SECRET))
    tool.login("--iscsi-dir", directory)
    write(f"{directory}/iscsid.conf", *keys("me", SECRET, TARGETS))
    tool.login("--iscsi-dir", directory)
    write(f"{directory}/iscsid.conf", *keys("me", SECRET, "another-secret"))
    said = tool.login("--iscsi-dir", directory, status=24)
    check("target" in said and "another-secret" not in said, said)


def a_record_comes_before_it(tool, directory, target):
    record = f"{directory}/nodes/{target.iqn}/127.0.0.1,{target.port},1/default"
    write(record, "node.name = x", *keys("me", SECRET))
    write(f"{directory}/nodes/{target.iqn}/10.0.0.1,3260,1/default", *keys("me", "wrong-secret"))
    write(f"{directory}/iscsid.conf", *keys("me", "wrong-secret"))
    tool.login("--iscsi-dir", directory)
    write(record, *keys())
    tool.login("--iscsi-dir", directory, status=24)


def a_given_file_comes_before_it(tool, directory, target, scratch):
    write(f"{directory}/nodes/{target.iqn}/127.0.0.1,{target.port},1/default",
          *keys("me", "wrong-secret"))
    tool.login("--iscsi-dir", directory, "--chap-user", "me", "--chap-secret-file",
               scratch.file("right", content=SECRET.encode()))


def groups(tool, directory):
    told = json.loads(tool.command("discover", "--tree", "--json", tool.url.rsplit("/", 1)[0],
                                   "--iscsi-dir", directory))
    return told[0]["targets"][0]["groups"]


def a_tree_logs_in_by_the_targets_record(tool, directory, target):
    write(f"{directory}/iscsid.conf", *keys("me", "wrong-secret"))
    record = f"{directory}/nodes/{target.iqn}/127.0.0.1,{target.port},1/default"
    write(record, *keys("me", SECRET, TARGETS))
    group = groups(tool, directory)[0]
    check("errors" not in group and len(group["luns"]) == 2, f"{group}")
    write(record, *keys("me", "another-secret"))
    group = groups(tool, directory)[0]
    check("0201 authentication failure" in group["errors"][0]["error"], f"{group}")


def discovery_has_keys_of_its_own(tool, directory):
    portal = tool.url.rsplit("/", 1)[0]
    write(f"{directory}/iscsid.conf", *keys("me", "short", prefix="discovery.sendtargets.auth"))
    said = tool.command("discover", portal, "--iscsi-dir", directory, status=None)
    check("short" not in said, said)
    write(f"{directory}/iscsid.conf", "discovery.sendtargets.auth.username = " + 300 * "x")
    said = tool.command("discover", portal, "--iscsi-dir", directory, status=2)
    check("iscsid.conf: line 1: username: longer than 255 bytes" in said, said)


def test():
    with Scratch() as scratch:
        config = Config()
        disks = [config.ramdisk(name, 8 * MIB) for name in "ab"]
        acl = {"node_wwn": ME, "attributes": {}, "chap_userid": "me", "chap_password": SECRET,
               "chap_mutual_userid": "target", "chap_mutual_password": TARGETS,
               "mapped_luns": [{"index": i, "tpg_lun": i, "write_protect": False}
                               for i in (0, 1)]}
        target = config.target(disks, attributes={"authentication": 1, "generate_node_acls": 0},
                               node_acls=[acl])
        directory = scratch.file("iscsi")
        with Farblockd(scratch, config), Tool(scratch, target) as tool:
            a_file_has_the_secret(tool, scratch)
            a_record_names_the_file(tool, scratch)
            the_terminal_is_asked_once(tool)
            iscsid_conf_has_the_secret(tool, directory)
            a_record_comes_before_it(tool, directory, target)
            a_given_file_comes_before_it(tool, directory, target, scratch)
            a_tree_logs_in_by_the_targets_record(tool, directory, target)
            discovery_has_keys_of_its_own(tool, directory)


main(test)
