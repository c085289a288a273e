#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""targetcli takes what farblock saves: Debian's rtslib restores the file, as `targetcli
restoreconfig` does, into a folder that stands for configfs with the files that Linux 6.12 has
there, without a complaint; and what it then reads back is what was saved."""

import copy
import glob
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402

sys.path.append("/usr/lib/python3/dist-packages")
MISSING = None
try:
    from rtslib_fb import alua, fabric, node, root, target, tcm
except ImportError as why:
    MISSING = str(why)

IQN, HOST = "iqn.2025-03.net.example.rack7:web01", "iqn.2025-03.net.example.rack7:host-web01"
GID, PORT = "ib.fe800000000000000002c903000a1b2c", "ib.0002c903000d5f010002c903000d5f01"
SAMPLE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                      "data", "targetcli.json")
LINES = f"""
/backstores/ramdisk create scratch 64M
/backstores/ramdisk create null1 1G nullio=true
/backstores/fileio create golden {{image}} 32M write_back=true
/backstores/ramdisk/scratch set attribute emulate_tpu=1 max_unmap_lba_count=4096
/backstores/fileio/golden/alua create group1 17
set global auto_add_default_portal=false auto_add_mapped_luns=false max_backup_files=3
/iscsi create {IQN}
/iscsi set discovery_auth enable=1 userid=rack7 password=k3-Vexillum-901
/iscsi/{IQN}/tpg1 set attribute login_timeout=20 demo_mode_discovery=0
/iscsi/{IQN}/tpg1 set parameter MaxBurstLength=524288
/iscsi/{IQN}/tpg1/portals create 127.0.0.1 {{port}}
/iscsi/{IQN}/tpg1/luns create /backstores/ramdisk/scratch
/iscsi/{IQN}/tpg1/luns create /backstores/fileio/golden 7
/iscsi/{IQN}/tpg1/acls create {HOST}
/iscsi/{IQN}/tpg1/acls/{HOST} set auth userid=web01 password=nettle-Quarry-4417
/iscsi/{IQN}/tpg1/acls/{HOST} create 3 7 write_protect=true
/srpt create {GID}
/srpt/{GID} set attribute srp_max_rsp_size=288
/srpt/{GID}/portals create 127.0.0.1 {{port}}
/srpt/{GID}/luns create /backstores/ramdisk/scratch 5
/srpt/{GID}/acls create {PORT}
/srpt/{GID}/acls/{PORT} create 2 5
"""


class Configfs:
    """What the kernel does when rtslib makes folders and writes files."""

    def __init__(self, folder):
        self.folder = folder
        with open(SAMPLE) as text:
            sample = json.load(text)
        # The kernel's files, as targetcli has found them on Linux 6.12.
        self.storage = {name for so in sample["storage_objects"] for name in so["attributes"]}
        iscsi = next(t for t in sample["targets"] if t["fabric"] == "iscsi")
        self.tpg, self.acl = iscsi["tpgs"][0], iscsi["tpgs"][0]["node_acls"][0]
        self.srpt = next(t for t in sample["targets"] if t["fabric"] == "srpt")["tpgs"][0]
        self.group = sample["storage_objects"][0]["alua_tpgs"][0]
        self.mkdir = os.mkdir
        for below in ("core", "iscsi/discovery_auth", "srpt"):
            os.makedirs(f"{folder}/{below}")
        self.put("iscsi/discovery_auth", ["userid", "password", "userid_mutual",
                                          "password_mutual", "enforce_discovery_auth"])

    def put(self, below, names):
        path = self.folder
        for part in below.split("/"):
            path = f"{path}/{part}"
            if not os.path.isdir(path):
                self.mkdir(path)
        for name in names:
            with open(f"{self.folder}/{below}/{name}", "w") as out:
                out.write("0\n")

    def made(self, path):
        self.mkdir(path)
        below = os.path.relpath(path, self.folder)
        part = below.split("/")
        if part[0] == "core" and len(part) == 3:
            self.put(below, ["control", "enable", "udev_path", "info", "alias"])
            self.put(f"{below}/attrib", self.storage)
            self.put(f"{below}/wwn", ["vpd_unit_serial"])
            self.made_group(f"{below}/alua/default_tg_pt_gp")
        elif part[0] == "core" and len(part) == 5:
            self.made_group(below)
        elif part[0] == "iscsi" and len(part) == 3:
            self.put(below, ["enable", "dynamic_sessions"])
            self.put(f"{below}/attrib", self.tpg["attributes"])
            self.put(f"{below}/param", self.tpg["parameters"])
            self.put(f"{below}/auth", self.secrets())
            for folder in ("np", "lun", "acls"):
                self.mkdir(f"{path}/{folder}")
        elif part[0] == "iscsi" and len(part) == 5:
            self.put(below, {"np": ["iser", "cxgbit"], "lun": ["alua_tg_pt_gp"],
                             "acls": ["info", "tag", "cmdsn_depth"]}[part[3]])
            if part[3] == "lun":
                self.write(f"{path}/alua_tg_pt_gp", "default_tg_pt_gp")
            if part[3] == "acls":
                self.put(f"{below}/attrib", self.acl["attributes"])
                self.put(f"{below}/auth", self.secrets())
        elif part[0] == "srpt" and len(part) == 3:
            self.put(below, ["enable", "dynamic_sessions"])
            self.put(f"{below}/attrib", self.srpt["attributes"])
            for folder in ("lun", "acls"):
                self.mkdir(f"{path}/{folder}")
        elif part[0] == "srpt" and len(part) == 5:
            self.put(below, {"lun": ["alua_tg_pt_gp"], "acls": ["info", "tag"]}[part[3]])
            if part[3] == "lun":
                self.write(f"{path}/alua_tg_pt_gp", "default_tg_pt_gp")
        elif part[0] in ("iscsi", "srpt") and len(part) == 6:
            self.put(below, ["write_protect"])

    @staticmethod
    def secrets():
        return ["userid", "password", "userid_mutual", "password_mutual", "authenticate_target"]

    def made_group(self, below):
        self.put(below, [name for name in self.group if name != "name"] + ["members"])

    def write(self, path, text):
        if not os.path.exists(path):
            raise OSError(f"{path}: the kernel has no such file")
        with open(path, "w") as out:
            out.write(str(text))
        if path.endswith("/control"):
            self.controlled(os.path.dirname(path), text.strip())
        for name, words in (("vpd_unit_serial", "T10 VPD Unit Serial Number"),
                            ("alua_tg_pt_gp", "TG Port Alias")):
            if path.endswith("/" + name):
                with open(path, "w") as out:
                    out.write(f"{words}: {text}\n")

    @staticmethod
    def controlled(storage, text):
        """info tells what was set."""
        said = dict(pair.split("=") for pair in text.strip(",").split(","))
        words = {"rd_pages": "PAGES/PAGE_SIZE: {}*4096", "rd_nullio": "nullio: {}",
                 "fd_dev_size": "Size: {}", "fd_dev_name": "File: {}"}
        with open(f"{storage}/info", "a") as out:
            out.write(" Status: ACTIVATED ")
            for key, value in said.items():
                out.write(f" {words.get(key, key + ': {}').format(value)} ")


def saved_by_farblock(scratch):
    config = farblock.Config()
    with farblock.Farblockd(scratch, config) as daemon:
        image, port = scratch.file("golden.img"), farblock.free_port()
        lines = scratch.file("lines", content=LINES.format(image=image, port=port))
        farblock.run(["farblock", "--socket", daemon.socket_path, "-c", lines])
        with open(daemon.config_path) as text:
            return json.load(text)


def restored(fake, saved):
    node.CFSNode.configfs_dir = fake.folder
    root.mount_configfs = root.modprobe = lambda *_: None
    fabric.modprobe = lambda *_: None
    for module in (alua, fabric, target, tcm, node):
        module.fwrite = fake.write
    os.mkdir = fake.made
    try:
        lio = root.RTSRoot()
        return lio, lio.restore(copy.deepcopy(saved))  # it takes what it reads out
    finally:
        os.mkdir = fake.mkdir


def same(what, theirs, ours):
    if theirs != ours:
        raise farblock.Failure(f"{what}: rtslib has {theirs}, saved was {ours}")


def group_of(lio, saved, wwn):
    return (next(g for g in lio.tpgs if g.parent_target.wwn == wwn),
            next(t for t in saved["targets"] if t["wwn"] == wwn)["tpgs"][0])


def compared(fake, lio, saved):
    for so in lio.storage_objects:
        ours = next(o for o in saved["storage_objects"] if o["name"] == so.name)
        same(so.name, [so.plugin, so.wwn, so.size], [ours["plugin"], ours["wwn"], ours["size"]])
        same(so.name, {g.name for g in so.alua_tpgs}, {g["name"] for g in ours["alua_tpgs"]})
    tpg, ours = group_of(lio, saved, IQN)
    same("LUNs", {lun.lun: lun.storage_object.name for lun in tpg.luns},
         {lun["index"]: lun["storage_object"].split("/")[-1] for lun in ours["luns"]})
    same("portals", [(p.ip_address, p.port) for p in tpg.network_portals],
         [(p["ip_address"], p["port"]) for p in ours["portals"]])
    same("MaxBurstLength", tpg.get_parameter("MaxBurstLength"), "524288")
    same("login_timeout", tpg.get_attribute("login_timeout"), "20")
    acl = next(tpg.node_acls)
    same("ACL", [acl.node_wwn, acl.chap_userid, acl.chap_password],
         [HOST, "web01", "nettle-Quarry-4417"])
    same("mapped LUNs", [(m.mapped_lun, m.tpg_lun.lun, m.write_protect) for m in acl.mapped_luns],
         [(3, 7, True)])
    tpg, ours = group_of(lio, saved, GID)
    same("portals in its form", ours["portals"], [])
    same("portals here", len(ours["srp_portals"]), 1)
    same("srp_max_rsp_size", tpg.get_attribute("srp_max_rsp_size"), "288")
    acl = next(tpg.node_acls)
    same("ACL of SRP", acl.node_wwn, PORT)
    same("mapped LUNs of SRP", [(m.mapped_lun, m.tpg_lun.lun) for m in acl.mapped_luns], [(2, 5)])
    count = len(glob.glob(f"{fake.folder}/core/*/*"))
    same("storage objects", count, len(saved["storage_objects"]))
    print(count, "storage objects, two targets with their LUNs, portals and ACLs: as saved")


def main():
    if MISSING:
        raise farblock.Skip(f"no rtslib: {MISSING}")
    with farblock.Scratch() as scratch:
        saved = saved_by_farblock(scratch)
        fake = Configfs(scratch.file("configfs"))
        lio, errors = restored(fake, saved)
        if errors:
            raise farblock.Failure("rtslib complains: " + "\n".join(errors))
        compared(fake, lio, saved)
    return 0


if __name__ == "__main__":
    farblock.main(main)
