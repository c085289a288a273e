#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""preset boot of an ACL: it sets ordinary attributes, which info names, the saved file keeps and undo
takes back; acls create takes it, too."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import Config, Farblockd, Scratch, Shell, check, main  # noqa: E402

HOST = "iqn.2025-03.net.example:machine"
BOOT = {"dataout_timeout": 60, "dataout_timeout_retries": 5, "nopin_timeout": 0,
        "nopin_response_timeout": 60}
PLAIN = {"dataout_timeout": 3, "dataout_timeout_retries": 5, "nopin_timeout": 15,
         "nopin_response_timeout": 30}


def attributes(shell, acl):
    rows = json.loads(shell("--json", acl, "get", "attribute"))["rows"]
    return {row["name"]: int(row["value"]) for row in rows if row["name"] in BOOT}


def preset_of(shell, acl):
    return json.loads(shell("--json", acl, "info")).get("preset")


def saved(daemon, target):
    with open(daemon.config_path) as file:
        document = json.load(file)
    acls = [a for t in document["targets"] if t["wwn"] == target.iqn
            for a in t["tpgs"][0]["node_acls"] if a["node_wwn"] == HOST]
    return {name: acls[0]["attributes"][name] for name in BOOT}


def it_sets_saves_and_undoes(shell, daemon, target):
    acl = f"{target.path}/acls/{HOST}"
    shell(f"{target.path}/acls", "create", HOST)
    check(attributes(shell, acl) == PLAIN and preset_of(shell, acl) == "default", "a new ACL")
    told = shell(acl, "preset", "boot")
    check("Parameter nopin_timeout is now '0'." in told, told)
    check(f"{target.path} set attribute login_timeout=30" in told, told)
    check(attributes(shell, acl) == BOOT and preset_of(shell, acl) == "boot", "preset boot")
    check("preset: boot" in shell(acl, "info"), "info")
    check(saved(daemon, target) == BOOT, saved(daemon, target))
    shell("/", "undo")
    check(attributes(shell, acl) == PLAIN and preset_of(shell, acl) == "default", "undo")
    shell(acl, "preset", "boot")
    shell(acl, "set", "attribute", "nopin_timeout=30")
    check(preset_of(shell, acl) is None, "neither of them")
    shell(acl, "preset", "default")
    check(attributes(shell, acl) == PLAIN, "preset default")
    shell(acl, "preset", "root", status=8, text="unknown preset: 'root' (boot|default)")
    shell(f"{target.path}/acls", "delete", HOST)
    shell(f"{target.path}/acls", "create", HOST, "preset=boot")
    check(attributes(shell, acl) == BOOT, "at its creation")


def no_acl_is_created_with_a_wrong_preset(shell, target, srp):
    other = HOST + "2"
    shell(f"{target.path}/acls", "create", other, "preset=root", status=8, text="unknown preset")
    shell(f"{target.path}/acls/{other}", "info", status=3)
    shell(f"{srp.path}/acls", "create", "192.0.2.7", "preset=boot", status=1,
          text="ACLs of this protocol have no attributes")


def it_outlives_a_restart(shell, daemon, target):
    daemon.stop()
    daemon.start()
    acl = f"{target.path}/acls/{HOST}"
    check(attributes(shell, acl) == BOOT and preset_of(shell, acl) == "boot", "after a restart")


def run_all():
    with Scratch() as scratch:
        config = Config()
        target = config.target([config.ramdisk("root", 1 << 20)])
        srp = config.srp_target([config.ramdisk("srp", 1 << 20)])
        with Farblockd(scratch, config) as daemon:
            shell = Shell(daemon)
            it_sets_saves_and_undoes(shell, daemon, target)
            no_acl_is_created_with_a_wrong_preset(shell, target, srp)
            it_outlives_a_restart(shell, daemon, target)
    return 0


if __name__ == "__main__":
    main(run_all)
