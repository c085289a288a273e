#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Exit statuses of farblock-initiator's commands on sessions: those of iscsiadm(8)."""

import os
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, free_port, main, program, run  # noqa: E402

MIB = 1 << 20
VIA = ("--via", "socket")
CHAP = {"node_acls": [{"node_wwn": "iqn.2025-01.org.farblock:me", "attributes": {},
                       "mapped_luns": [{"index": 0, "tpg_lun": 0, "write_protect": False}],
                       "chap_userid": "me", "chap_password": "secret-of-twelve"}]}
ME = ("--initiator-name", "iqn.2025-01.org.farblock:me")


class Statuses:
    def __init__(self, attachments):
        self.attachments = attachments

    def __call__(self, status, text, *words):
        said = self.attachments.command(*words, status=status)
        check(text in said, f"{words}: {said}")


def nobody_answers(expect):
    unused = f"iscsi://127.0.0.1:{free_port()}/iqn.2025-01.org.farblock:x/0"
    expect(4, "refused", "attach", unused, *VIA)
    expect(4, "refused", "discover", unused.rsplit("/", 2)[0])
    expect(4, "no-such-host.invalid", "discover", "no-such-host.invalid")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        portal = f"127.0.0.1:{silent.getsockname()[1]}"
        expect(8, "timed out", "discover", portal, "--login-timeout", "1")
        expect(8, "timed out", "attach", f"iscsi://{portal}/iqn.2025-01.org.farblock:x/0", *VIA,
               "--login-timeout", "1")


def a_login_is_refused(expect, scratch, target, guarded):
    secret = scratch.file("secret", content=b"another-secret")
    os.chmod(secret, 0o600)
    expect(19, "target not found", "attach", target.url().replace(target.iqn, target.iqn + "x"),
           *VIA)
    expect(24, "0202 initiator not allowed (the target has no ACL of iqn.", "attach",
           guarded.url(), *VIA)
    expect(24, "0201", "attach", guarded.url(), *VIA, *ME)
    expect(24, "0201", "attach", guarded.url(), *VIA, *ME, "--chap-user", "me",
           "--chap-secret-file", secret)


def what_is_attached_or_is_not(expect, target):
    expect(0, "nbd+unix", "attach", target.url(), *VIA, "--name", "disk")
    expect(15, "attached already", "attach", target.url(), *VIA, "--name", "disk")
    expect(28, "attached on this machine already", "attach", target.url(), *VIA, "--name", "b")
    expect(21, "no LUN 9 ", "attach", target.url(9), *VIA)
    expect(21, "x: not attached", "detach", "x", "disk")
    expect(21, "disk: not attached", "detach", "disk")
    expect(21, "disk: not attached", "attached", "disk")
    expect(0, "", "detach", "--all")


def a_relative_run_directory_is_one_of_the_commands(scratch, target):
    """The process that holds the disk has another one."""
    for words in (["attach", target.url(), *VIA, "--name", "disk"], ["attached", "disk"],
                  ["detach", "disk"]):
        done = subprocess.run([program("farblock-initiator"), *words, "--run-dir", "here"],
                              cwd=scratch.path, text=True, capture_output=True, timeout=60,
                              check=False, stdin=subprocess.DEVNULL)
        check(done.returncode == 0, f"{words}: {done.returncode}: {done.stderr}")


def entries(expect, scratch, target):
    directory = scratch.file("attach.d")
    os.mkdir(directory)
    for name, text in (("bad", "url\n"), ("worse", f"url = {target.url()}\npolicy = x\n"),
                       ("none", "via = socket\n")):
        with open(f"{directory}/{name}.conf", "w", encoding="utf-8") as f:
            f.write(text)
    expect(21, "nothing.conf", "attach", "nothing", "--entry-dir", directory)
    expect(6, "line 1", "attach", "bad", "--entry-dir", directory)
    expect(6, "no url", "attach", "none", "--entry-dir", directory)
    expect(6, "bad.conf", "attach", "--all", "--entry-dir", directory)


def wrong_command_lines(expect, target):
    expect(2, "--via 'floppy'", "attach", target.url(), "--via", "floppy")
    expect(2, "invalid URL", "attach", "iscsi://x/y", *VIA)
    expect(2, "one of NAME, DEVICE and --all", "detach")


def help_lists_them():
    said = run([program("farblock-initiator"), "--help"]).stdout
    for line in ("   4  no connection", "  15  logged in or attached already", "  24  login refused"):
        check(line in said, said)


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        target = config.target([config.ramdisk("disk", 8 * MIB)])
        guarded = config.target([config.ramdisk("guarded", 8 * MIB)],
                                attributes={"authentication": 1, "generate_node_acls": 0}, **CHAP)
        expect = Statuses(attachments)
        nobody_answers(expect)
        with Farblockd(scratch, config):
            a_login_is_refused(expect, scratch, target, guarded)
            what_is_attached_or_is_not(expect, target)
            a_relative_run_directory_is_one_of_the_commands(scratch, target)
            entries(expect, scratch, target)
            wrong_command_lines(expect, target)
        help_lists_them()


main(test)
