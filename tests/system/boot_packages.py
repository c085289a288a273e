#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The packages farblock-initramfs and farblock-dracut: their files are where initramfs-tools and
dracut look, can be executed, and make a new initramfs when they or farblock-initiator change."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import packages  # noqa: E402
from farblock import SOURCE, Scratch, check, main, run  # noqa: E402

FILES = {
    "farblock-initramfs": """usr/share/initramfs-tools/conf-hooks.d/farblock
usr/share/initramfs-tools/hooks/farblock
usr/share/initramfs-tools/scripts/local-top/farblock""".split(),
    "farblock-dracut": """usr/lib/dracut/modules.d/95farblock/farblock-cmdline.sh
usr/lib/dracut/modules.d/95farblock/farblock-finished.sh
usr/lib/dracut/modules.d/95farblock/farblock-settled.sh
usr/lib/dracut/modules.d/95farblock/module-setup.sh
usr/lib/dracut/modules.d/95farblock/multipathd.conf""".split()}
TRIGGERS = sorted(["activate-noawait update-initramfs", "interest-noawait /usr/bin/farblock-initiator",
                   "interest-noawait /usr/lib/farblock/boot"])
READ_ONLY = ("conf-hooks.d/farblock", "multipathd.conf")
# What both take from farblock-initiator.
SHARED = """lib/systemd/system/iscsid.service.d lib/systemd/system/iscsid.socket.d
lib/udev/rules.d/61-farblock.rules lib/udev/rules.d/62-farblock-root.rules
usr/bin/farblock-initiator usr/lib/farblock/boot/*.sh""".split()


def has_its_files(scratch, name, deb):
    root = scratch.file(name)
    found = [path for path in packages.unpack(deb, root) if "usr/share/doc" not in path]
    check(found == FILES[name], f"{name} has {found}")
    for path in found:
        check(path.endswith(READ_ONLY) or os.access(f"{root}/{path}", os.X_OK),
              f"{name}: {path} cannot be executed")


def makes_an_initramfs(scratch, name, deb):
    control = scratch.file(f"{name}.control")
    run(["dpkg-deb", "-e", deb, control])
    with open(f"{control}/triggers", encoding="utf-8") as text:
        found = sorted(line.strip() for line in text if line.strip() and line[0] != "#")
    check(found == TRIGGERS, f"{name}: triggers {found}")
    with open(f"{control}/postinst", encoding="utf-8") as text:
        check("dpkg-trigger --no-await update-initramfs" in text.read(), f"{name}: its postinst")


def main_test():
    with open(f"{SOURCE}/debian/farblock-initiator.install", encoding="utf-8") as text:
        installed = text.read().split()
    check(not set(SHARED) - set(installed), f"farblock-initiator lacks {set(SHARED) - set(installed)}")
    with Scratch() as scratch:
        debs = packages.build(scratch)
        for name in FILES:
            has_its_files(scratch, name, debs[name])
            makes_an_initramfs(scratch, name, debs[name])
            check("farblock-initiator (>= " in packages.field(debs[name], "Depends"), f"{name} needs")
            print(f"{name}: files and triggers are right")
    return 0


if __name__ == "__main__":
    main(main_test)
