#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator discover --tree: portal groups, their portals, and logical units with size,
names, identity, access state and attachments, over iSCSI, iSER and SRP; what refuses is a line."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import initiator  # noqa: E402
from attachment import Attachments  # noqa: E402
from farblock import SRP_INITIATOR, Config, Farblockd, Scratch, check, free_port, main  # noqa: E402

MIB = 1 << 20
SRP = ("--initiator-port", f"{SRP_INITIATOR[3:19]}:{SRP_INITIATOR[19:]}")


def tree(rig, *words, status=0):
    return initiator.end(initiator.start("discover", "--tree", "--run-dir",
                                         rig.attachments.run_dir, *words), status)


def as_json(rig, *words):
    return json.loads(tree(rig, "--json", *words))


def open_group(told, rig):
    target = next(t for t in told["targets"] if t["target"] == rig.target.iqn)
    return target["groups"][0]


def a_group_has_its_portals_and_units(rig, scheme):
    told = as_json(rig, f"{scheme}{rig.portal}")[0]
    check(told["portal"] == scheme + rig.portal, told)
    group = open_group(told, rig)
    check(group["tag"] == 1 and
          group["portals"] == [f"{host}:{port}" for host, port in rig.target.portals], group)
    first, second = group["luns"]
    check((first["lun"], first["bytes"], first["block_size"]) == (0, MIB, 512), first)
    check((second["lun"], second["bytes"], second["block_size"]) == (1, 2 * MIB, 4096), second)
    check(first["product"] == "rd0" and first["vendor"], first)
    check(first["identity"].startswith("naa.6") and first["serial"], first)
    check(first["alua"] == "active/optimized" and first["preferred"] is False, first)


def a_refused_login_is_a_line(rig):
    told = as_json(rig, f"iscsi://{rig.portal}")[0]
    closed = next(t for t in told["targets"] if t["target"] == rig.closed.iqn)["groups"][0]
    check("0201 authentication failure" in closed["errors"][0]["error"], closed)
    text = tree(rig, f"iscsi://{rig.portal}")
    check(text.index("LUN 1") < text.index("0201 authentication failure"), text)


def srp_has_its_units(rig):
    told = as_json(rig, f"srp://127.0.0.1:{rig.srp.port}", *SRP)[0]
    group = told["targets"][0]["groups"][0]
    check(told["targets"][0]["target"] == rig.srp.iqn and group["luns"][0]["bytes"] == 4 * MIB,
          told)


def a_stranger_to_srp_is_told_so(rig):
    text = tree(rig, f"srp://127.0.0.1:{rig.srp.port}")
    check("no target admits this initiator" in text, text)


def portals_that_do_not_answer_are_lines(rig):
    nobody = f"127.0.0.1:{free_port()}"
    text = tree(rig, nobody, rig.portal)
    check(f"iscsi://{nobody}\n  {nobody}: connect: refused" in text and "LUN 0" in text, text)
    tree(rig, nobody, status=1)


def an_attached_disk_is_told(rig):
    rig.attachments.attach(rig.target.url(1), "--via", "socket", "--name", "data")
    first, second = open_group(as_json(rig, rig.portal)[0], rig)["luns"]
    check(first["attached"] == [] and second["attached"][0]["name"] == "data", second)
    text = tree(rig, rig.portal)
    check("attached as data (nbd+unix:///" in text, text)
    rig.attachments.detach("data")
    check("attached as" not in tree(rig, rig.portal), "still attached")


def several_portals_need_the_option(rig):
    told = initiator.end(initiator.start("discover", rig.portal, rig.portal), 2)
    check("--tree takes several portals" in told, told)


class Rig:
    def __init__(self, scratch):
        config = self.config = Config()
        disks = [config.ramdisk("rd0", MIB), config.ramdisk("rd1", 2 * MIB, {"block_size": 4096})]
        iser = {"iser": True}
        self.target = config.target(disks, portals=2, portal_keys=iser)
        self.closed = config.target([config.ramdisk("rd2", MIB)],
                                    attributes={"authentication": 1}, portal_keys=iser)
        self.srp = config.srp_target([config.ramdisk("rd3", 4 * MIB)])
        self.attachments = Attachments(scratch)
        host, port = self.target.portals[0]
        self.portal = f"{host}:{port}"


def test():
    with Scratch() as scratch:
        rig = Rig(scratch)
        with Farblockd(scratch, rig.config) as rig.daemon, rig.attachments:
            for scheme in ("iscsi://", "iser://"):
                a_group_has_its_portals_and_units(rig, scheme)
            for case in (a_refused_login_is_a_line, srp_has_its_units,
                         a_stranger_to_srp_is_told_so, portals_that_do_not_answer_are_lines,
                         an_attached_disk_is_told, several_portals_need_the_option):
                case(rig)


main(test)
