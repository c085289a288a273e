#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""udev makes links by identity, path and name to an attached disk, by the installed rule; none to a
device that is detached. Needs root, FUSE and loop devices; udevadm runs with a /dev of its own."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import BUILD, Config, Farblockd, Scratch, Skip, check, main, program, run  # noqa: E402

SIZE = 64 << 20
# What udev's own rules see and make is in the namespace alone.
SCRIPT = """set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/udev/rules.d
cp "$1" /run/udev/rules.d/61-farblock.rules
mount -t tmpfs tmpfs /dev
mknod /dev/null c 1 3
mknod "$2" b $3
udevadm test --action=change "/sys/class/block/${2#/dev/}" 2>&1
cd /dev
[ ! -d disk ] || find disk -type l -printf 'LINK %p %l\\n'
"""


def rule(scratch, attachments):
    """The installed one, with the program and run directory of the test."""
    with open(os.path.join(BUILD, "etc", "61-farblock.rules"), encoding="utf-8") as file:
        text = file.read()
    start = text.index('IMPORT{program}="') + len('IMPORT{program}="')
    installed = text[start:text.index(" ", start)]
    check(installed.endswith("/bin/farblock-initiator"), f"the rule's program: {installed}")
    text = text.replace(installed, os.path.abspath(program("farblock-initiator")))
    text = text.replace("$devnode", f"$devnode --run-dir {attachments.run_dir}")
    return scratch.file("rule", content=text.replace("/run/farblock-initiator", attachments.run_dir))


def links(rules, device):
    """What udev makes of an event: the links, and the properties."""
    number = os.stat(device).st_rdev
    said = run(["unshare", "-m", "sh", "-c", SCRIPT, "sh", rules, device,
                f"{os.major(number)} {os.minor(number)}"]).stdout
    found = [line.split() for line in said.splitlines() if line.startswith("LINK ")]
    check(all(target == f"../../{os.path.basename(device)}" for _, _, target in found), f"{found}")
    return {name for _, name, _ in found}, said


def expected(attachments, target):
    identity = attachments.one("disk")["identity"]
    check(identity.startswith("naa.6"), identity)
    naa = identity.removeprefix("naa.")
    portals = [f"disk/by-path/ip-127.0.0.1:{port}-iscsi-{target.iqn}-lun-0"
               for _, port in target.portals]
    return {"disk/by-id/farblock-disk", f"disk/by-id/wwn-0x{naa}", f"disk/by-id/scsi-3{naa}",
            *portals}


def is_exported(attachments, device, wanted):
    for node, part in ((device, ""), (f"{device}p12", "-part12")):
        said = attachments.command("attached", "--export", node)
        properties = dict(line.split("=", 1) for line in said.splitlines())
        made = {value for key, value in properties.items() if key.startswith("FARBLOCK_LINK")}
        check(made == {link + part for link in wanted}, f"{node}: {said}")
    for node in ("/dev/null", f"{device}0", f"{device}p", f"{device}p0"):
        check("not attached" in attachments.command("attached", "--export", node, status=21), node)


def test():
    if os.geteuid() or not os.path.exists("/dev/fuse") or not os.path.exists("/dev/loop-control"):
        raise Skip("needs root, FUSE and loop devices")
    program("udevadm")
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        target = config.target([config.fileio("disk", scratch.file("disk.img"), SIZE)], portals=2)
        with Farblockd(scratch, config):
            device = attachments.attach(target.url(), target.url(portal=1), "--via", "fuse",
                                        "--name", "disk")
            rules, wanted = rule(scratch, attachments), expected(attachments, target)
            is_exported(attachments, device, wanted)
            found, said = links(rules, device)
            check(wanted <= found, f"{found}, not {wanted}: {said}")
            attachments.detach("disk")
            found, said = links(rules, device)
            check(not found & wanted, f"after detach: {found}: {said}")


main(test)
