# SPDX-License-Identifier: BSD-2-Clause
"""etc/targetcli, and what programs written for targetcli do with it: the LIO provider of Proxmox'
"ZFS over iSCSI", and democratic-csi."""

import json
import os
import subprocess

import farblock
from farblock import check

BLOCK = "/backstores/block"


class Targetcli:
    """Calls the targetcli of a folder by a line of sh, as ssh does."""

    def __init__(self, folder, daemon, saved=None):
        self.saved, self.errors = saved or daemon.config_path, ""
        self.environment = {**os.environ, "FARBLOCK_SOCKET": daemon.socket_path,
                            "PATH": f"{folder}:{farblock.BUILD}:{os.environ['PATH']}"}

    def __call__(self, words, status=0, text="", stdin=""):
        """Returns what it printed, errors last; they are in self.errors, too."""
        done = subprocess.run(["sh", "-c", f"targetcli {words}"], capture_output=True, text=True,
                              input=stdin, timeout=farblock.HANG, env=self.environment, check=False)
        said, self.errors = done.stdout + done.stderr, done.stderr
        what = f"{words or stdin}: exit status {done.returncode}: {said!r}"
        check(done.returncode == status and text in said, what)
        return said

    def luns(self):
        """Numbers of LUNs by storage object, from the saved file, where programs look."""
        with open(self.saved, encoding="utf-8") as text:
            targets = json.load(text)["targets"]
        return {lun["storage_object"]: lun["index"] for target in targets
                for lun in target["tpgs"][0]["luns"]}


class Proxmox:
    """The calls of PVE::Storage::LunCmd::LIO, for volumes of a pool."""

    def __init__(self, targetcli, target, volumes):
        self.targetcli, self.target, self.volumes = targetcli, target, volumes
        self.luns = f"/iscsi/{target.iqn}/tpg1/luns/"

    def object(self, volume):
        return f"{BLOCK}/tank-{volume}"

    def create_lu(self, volume, status=0):
        """create_lu and import_lu."""
        made = self.targetcli(f"{BLOCK} create name=tank-{volume} "
                              f"dev={self.volumes.device(volume)}", status)
        if status:
            return made
        self.targetcli(f"{self.object(volume)} set attribute emulate_tpu=1")
        made = self.targetcli(f"{self.luns} create {self.object(volume)}", text="LUN ")
        self.targetcli("saveconfig")
        return made

    def url(self, volume):
        """By the number that list_view finds."""
        return self.target.url(self.targetcli.luns()[self.object(volume)])

    def delete_lu(self, volume):
        self.targetcli(f"{self.luns} delete lun{self.targetcli.luns()[self.object(volume)]}")
        self.targetcli(f"{BLOCK} delete tank-{volume}")
        self.targetcli("saveconfig")


class DemocraticCsi:
    """The batches of democratic-csi's zfs-generic-iscsi, one target for each volume."""

    def __init__(self, targetcli, port):
        self.targetcli, self.port = targetcli, port

    def target(self, volume):
        return farblock.Target(f"{farblock.IQN}:{volume}", [("127.0.0.1", self.port)])

    def create_share(self, volume, device, status=0):
        iqn = self.target(volume).iqn
        return self.targetcli("", status, stdin=f"""# create target
cd /iscsi
create {iqn}

# setup tpg
cd /iscsi/{iqn}/tpg1

set attribute authentication=0
set attribute generate_node_acls=1
set attribute cache_dynamic_acls=1
set attribute demo_mode_write_protect=0


# create extent
cd {BLOCK}
create {volume} {device}

# add extent to target/tpg
cd /iscsi/{iqn}/tpg1/luns
create {BLOCK}/{volume}
""")

    def delete_share(self, volume, status=0):
        return self.targetcli("", status, stdin=f"""# delete target
cd /iscsi
delete {self.target(volume).iqn}

# delete extent
cd {BLOCK}
delete {volume}
""")
