#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""sessions: what every path of every attached disk is, at the print levels of iscsiadm."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, eventually, main  # noqa: E402

MIB = 1 << 20
VIA = ("--via", "socket")
SRP_PORT = "0002c903000a0001:0002c903000a0002"


def shown(attachments, level, *words):
    return attachments.command("sessions", "-P", str(level), *words)


def sessions(attachments, *words):
    return json.loads(attachments.command("sessions", "--json", *words))


def none_is_a_status(attachments):
    said = attachments.command("sessions", status=21)
    check("No active sessions." in said, said)
    attachments.command("sessions", "-P", "4", status=2)


def level_0_is_a_line_a_session(attachments, target):
    portal = f"127.0.0.1:{target.port}"
    lines = attachments.command("sessions").splitlines()
    check(len(lines) == 4, f"{lines}")
    for line in lines:
        check(re.fullmatch(rf"(tcp|iser): \[\d+\] {portal},1 {target.iqn} \(non-flash\)", line),
              line)
    sids = re.findall(r"\[(\d+)\]", "\n".join(lines))
    check(len(set(sids)) == 4, f"{sids}")
    check(attachments.command("sessions", sids[2]) == lines[2] + "\n", "one by its SID")


def level_1_has_states(attachments, target):
    text = shown(attachments, 1, "data-0")
    check(text.startswith(f"Target: {target.iqn} (non-flash)\n\tCurrent Portal: "
                          f"127.0.0.1:{target.port},1\n\tPersistent Portal: "), text)
    for line in ("\t\tIface Name: default", "\t\tIface Transport: iser",
                 "\t\tIface IPaddress: 127.0.0.1", "\t\tiSCSI Connection State: LOGGED IN",
                 "\t\tiSCSI Session State: LOGGED_IN",
                 "\t\tInternal iscsid Session State: NO CHANGE"):
        check(line + "\n" in text, f"no '{line}': {text}")
    check("Timeouts:" not in text, text)


def level_2_has_what_was_negotiated(attachments):
    text = shown(attachments, 2, "data-1")
    for line in ("\t\tRecovery Timeout: queue", "\t\tusername: <empty>", "\t\tpassword: ********",
                 "\t\tHeaderDigest: CRC32C", "\t\tMaxBurstLength: 1048576",
                 "\t\tImmediateData: Yes"):
        check(line + "\n" in text, f"no '{line}': {text}")
    check("Attached" not in text, text)


def level_3_has_the_disk(attachments):
    text = shown(attachments, 3, "data-1")
    device = attachments.one("data-1")["device"]
    check("\t\tLun: 1\tName: data-1\tPath: up" in text, text)
    check("\t\tRecord: data\n" in text, text)
    check(f"\t\t\tAttached scsi disk {device}\t\tState: running\n" in text, text)


def json_has_every_value(attachments, target):
    found = sessions(attachments, "data")
    check([(s["name"], s["lun"], s["transport"]) for s in found] ==
          [("data-0", 0, "tcp"), ("data-0", 0, "iser"), ("data-1", 1, "tcp"),
           ("data-1", 1, "iser")], f"{found}")
    check({s["target"] for s in found} == {target.iqn} and {s["tpgt"] for s in found} == {1} and
          {s["state"] for s in found} == {"up"}, f"{found}")


def srp_has_its_own_values(attachments, target):
    attachments.command("login", target.url().rsplit("/", 1)[0], *VIA, "--name", "ports",
                        "--initiator-port", SRP_PORT)
    text = shown(attachments, 3, "ports")
    for line in ("\t\tIface Transport: srp", "\t\tNegotiated SRP params:", "\t\tChannels: 1"):
        check(line + "\n" in text, f"no '{line}': {text}")
    check("CHAP" not in text, text)
    attachments.command("logout", "ports")


def a_lost_session_is_waited_for(attachments):
    def text():
        return shown(attachments, 1, "data-0")
    eventually("the loss", lambda: text().count("iSCSI Connection State: TRANSPORT WAIT") == 2)
    check(text().count("iSCSI Session State: FAILED") == 2, text())
    check(text().count("Internal iscsid Session State: REOPEN") == 2, text())


def resize(scratch, config, disk, size):
    config.storage_objects[0]["size"] = size
    os.truncate(scratch.file(f"{disk}.img"), size)


def another_disk_is_not_in_use(scratch, attachments):
    """The unit shrank. Between the sessions that look at it, a path has no more than its URL."""
    config = Config()
    target = config.target([config.fileio("own", scratch.file("own.img"), 2 * MIB)])
    portal = f"127.0.0.1:{target.port}"
    with Farblockd(scratch, config, "whole"):
        attachments.attach(target.url(), *VIA, "--name", "own", "--no-path-retry", "30")
    resize(scratch, config, "own", MIB)
    with Farblockd(scratch, config, "shrunk"):
        eventually("the refusal", lambda: attachments.one("own")["state"] == "another-disk")
        text = shown(attachments, 3, "own")
        for line in ("iSCSI Connection State: FREE", "iSCSI Session State: FREE",
                     "Internal iscsid Session State: REOPEN", "Recovery Timeout: 30",
                     f"Persistent Portal: {portal},"):
            check(line in text, f"no '{line}': {text}")
        between = []

        def is_between():
            between[:] = [s for s in sessions(attachments, "own") if "isid" not in s]
            return between
        eventually("a time without a session", is_between)
        check([(s["portal"], s["transport"], s["target"]) for s in between] ==
              [(portal, "tcp", target.iqn)], f"{between}")
        attachments.detach("own")


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        disks = [config.ramdisk("a", 8 * MIB), config.ramdisk("b", 8 * MIB)]
        target = config.target(disks)
        ports = config.srp_target([config.ramdisk("c", 8 * MIB)])
        none_is_a_status(attachments)
        with Farblockd(scratch, config) as daemon:
            url = target.url().rsplit("/", 1)[0]
            attachments.command("login", url, url.replace("iscsi:", "iser:"), *VIA, "--name",
                                "data", "--header-digest", "CRC32C,None")
            eventually("all paths", lambda: {s["state"] for s in sessions(attachments)} == {"up"})
            level_0_is_a_line_a_session(attachments, target)
            level_1_has_states(attachments, target)
            level_2_has_what_was_negotiated(attachments)
            level_3_has_the_disk(attachments)
            json_has_every_value(attachments, target)
            srp_has_its_own_values(attachments, ports)
            daemon.kill()
            a_lost_session_is_waited_for(attachments)
        attachments.command("detach", "--all", "--force")
        another_disk_is_not_in_use(scratch, attachments)


main(test)
