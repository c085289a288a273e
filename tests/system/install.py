#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What `make install` puts where: everything below DESTDIR, a unit that systemd takes, and a
sample configuration that the installed daemon loads without a word and serves."""

import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402

INSTALLED = """sbin/farblockd bin/farblock bin/farblock-initiator
lib/systemd/system/farblock-attach@.service lib/systemd/system/farblock-login.service
lib/systemd/system/farblockd.service lib/udev/rules.d/61-farblock.rules
lib/sysusers.d/farblock.conf lib/tmpfiles.d/farblock.conf lib/tmpfiles.d/farblock-initiator.conf
share/man/man5/farblock-saveconfig.json.5 share/man/man7/farblock.7 share/man/man8/farblock.8
share/man/man8/farblock-initiator.8 share/man/man8/farblockd.8
share/bash-completion/completions/farblock share/zsh/site-functions/_farblock
share/fish/vendor_completions.d/farblock.fish share/bash-completion/completions/farblock-initiator
share/bash-completion/completions/farblockd
share/zsh/site-functions/_farblock-initiator share/zsh/site-functions/_farblockd
share/fish/vendor_completions.d/farblock-initiator.fish
share/fish/vendor_completions.d/farblockd.fish
share/doc/farblock/README.md share/doc/farblock/LICENSE
share/doc/farblock/docs/api.md share/doc/farblock/docs/attach.md share/doc/farblock/docs/boot.md
share/doc/farblock/docs/carriers.md share/doc/farblock/docs/fences.md
share/doc/farblock/docs/farblock_client.py share/doc/farblock/docs/importing.md
share/doc/farblock/docs/initiator.md share/doc/farblock/docs/performance.md
share/doc/farblock/docs/srp.md share/doc/farblock/docs/targetcli.md
share/doc/farblock/examples/saveconfig.json share/doc/farblock/examples/saveconfig.md
lib/farblock/boot/chap.sh lib/farblock/boot/diskless-debian
lib/farblock/boot/files.sh lib/farblock/boot/ibft.sh lib/farblock/boot/kernel_iscsi.sh
lib/farblock/boot/kernel_srp.sh lib/farblock/boot/multipath.sh
lib/farblock/boot/network.sh lib/farblock/boot/rdma.sh
lib/farblock/boot/root.sh lib/farblock/boot/srp_hold.sh lib/farblock/boot/user.sh lib/farblock/boot/words.sh
lib/farblock/unmount-disk
lib/udev/rules.d/62-farblock-root.rules
lib/systemd/system/iscsid.service.d/farblock-root.conf
lib/systemd/system/iscsid.socket.d/farblock-root.conf
lib/systemd/system/multipathd.service.d/farblock-root.conf
share/initramfs-tools/conf-hooks.d/farblock share/initramfs-tools/hooks/farblock
share/initramfs-tools/scripts/local-top/farblock
lib/dracut/modules.d/95farblock/farblock-cmdline.sh
lib/dracut/modules.d/95farblock/farblock-finished.sh
lib/dracut/modules.d/95farblock/farblock-settled.sh
lib/dracut/modules.d/95farblock/module-setup.sh lib/dracut/modules.d/95farblock/multipathd.conf""".split()


def install(scratch):
    """Installs below the scratch folder; returns the prefix there."""
    root = scratch.file("root")
    done = subprocess.run(["cmake", "--install", farblock.BUILD, "--prefix", "/usr"], text=True,
                          env={**os.environ, "DESTDIR": root}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode:
        raise farblock.Failure(f"cmake --install: {done.stdout}")
    found = sorted(os.path.relpath(os.path.join(folder, name), f"{root}/usr")
                   for folder, _, names in os.walk(root) for name in names)
    if found != sorted(INSTALLED):
        raise farblock.Failure(f"installed: {' '.join(found)}\nnot: {' '.join(sorted(INSTALLED))}")
    print(f"{len(found)} files installed")
    return f"{root}/usr"


def verify_unit(scratch, prefix, name, program):
    """systemd's own opinion. The program of the unit is where it will be, not where it is."""
    if not shutil.which("systemd-analyze"):
        print("no systemd-analyze: the unit was not checked")
        return
    with open(f"{prefix}/lib/systemd/system/{name}") as text:
        unit = re.sub(r"^(ExecSt\w+)=\S+", rf"\1={prefix}/{program}", text.read(), flags=re.M)
    path = scratch.file(name.replace("@", "@disk"), content=unit)
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", path], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    wrong = [line for line in done.stdout.splitlines() if name.split("@")[0] in line]
    if wrong:
        raise farblock.Failure("systemd-analyze verify: " + "\n".join(wrong))
    print(f"systemd takes {name}")


class Sample(farblock.Farblockd):
    """The installed daemon with the sample, on a port and a file that a test may use."""

    def __init__(self, scratch, prefix):
        super().__init__(scratch, farblock.Config())
        self.prefix, self.port = prefix, farblock.free_port()
        with open(f"{prefix}/share/doc/farblock/examples/saveconfig.json") as text:
            sample = json.load(text)
        portal = sample["targets"][0]["tpgs"][0]["portals"][0]
        portal.update(ip_address="127.0.0.1", port=self.port)
        disk = sample["storage_objects"][1]
        disk["dev"] = scratch.file("disk0.img", size=disk["size"])
        with open(self.config_path, "w") as out:
            json.dump(sample, out)
        self.sample = sample

    def start(self):
        self.spawn([f"{self.prefix}/sbin/farblockd", "--config", self.config_path, "--state-dir",
                    self.state_path, "--socket", self.socket_path, "--metrics", self.metrics,
                    *self.workers()])
        self.wait_connect(self.socket_path)
        return self


def serve(scratch, prefix):
    with Sample(scratch, prefix) as daemon:
        complaints = [line for line in daemon.log().splitlines() if " info: " not in line]
        if complaints:
            raise farblock.Failure("the sample is complained about: " + "\n".join(complaints))
        target = daemon.sample["targets"][0]
        acl = target["tpgs"][0]["node_acls"][0]
        secret = scratch.file("secret", content=acl["chap_password"])
        os.chmod(secret, 0o600)
        listed = farblock.run(
            [f"{prefix}/bin/farblock-initiator", "luns",
             f"iscsi://{acl['chap_userid']}@127.0.0.1:{daemon.port}/{target['wwn']}",
             "--initiator-name", acl["node_wwn"], "--chap-secret-file", secret]).stdout
        for disk in daemon.sample["storage_objects"]:
            if disk["name"] not in listed:
                raise farblock.Failure(f"{disk['name']} is not served: {listed}")
    print("the sample is served")


def main():
    with farblock.Scratch() as scratch:
        prefix = install(scratch)
        verify_unit(scratch, prefix, "farblockd.service", "sbin/farblockd")
        verify_unit(scratch, prefix, "farblock-attach@.service", "bin/farblock-initiator")
        verify_unit(scratch, prefix, "farblock-login.service", "bin/farblock-initiator")
        serve(scratch, prefix)
    return 0


if __name__ == "__main__":
    farblock.main(main)
