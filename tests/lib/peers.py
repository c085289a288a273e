# SPDX-License-Identifier: BSD-2-Clause
"""Other people's targets, each serving one RAM-backed LUN on loopback, for tests and
measurements side by side. A peer that is not installed raises Skip when it is started."""

import json
import os

from farblock import Failure, Process, free_port, program, run

IQN = "iqn.2025-01.org.farblock.peer:disk"


class Peer(Process):
    """One target with one LUN of `size` bytes, kept in memory. Subclasses have start()."""

    lun = 0
    chap = None  # (user, secret, user and secret of the target), which a login then needs

    def __init__(self, scratch, name, size, cpus=None):
        super().__init__(scratch, name)
        self.size, self.cpus, self.port = size, cpus, free_port()
        self.iqn = IQN

    @property
    def url(self):
        return f"iscsi://127.0.0.1:{self.port}/{self.iqn}/{self.lun}"

    def backing(self):
        """The file behind the LUN; a target started again finds it as it was."""
        path = self.scratch.file(self.name.replace(" ", "-") + ".img")
        return path if os.path.exists(path) else self.scratch.file(path, size=self.size)


# The caching mode page without WCE.
TGTD_WRITE_THROUGH = ("mode_page=8:0:18:0x10:0:0xff:0xff:0:0:0xff:0xff:0xff:0xff:0x80:0x14:0:0:0:0:0:0")


class Tgtd(Peer):
    """Debian's tgt. Ignores SIGTERM while it has targets, hence kill() ends it."""

    lun = 1  # LUN 0 is its controller
    control = 1
    is_write_back = True  # by default
    has_digests = False  # with them it takes CRC32C unless an initiator offers None alone

    def __init__(self, scratch, size, cpus=None, bstype="aio", name=None):
        super().__init__(scratch, name or f"tgtd {bstype}", size, cpus)
        self.bstype = bstype
        self.socket = {"TGT_IPC_SOCKET": scratch.file(self.name.replace(" ", "-") + ".sock")}

    def admin(self, *arguments):
        run(["tgtadm", "-C", str(self.control), "--lld", "iscsi", *arguments],
            env={**os.environ, **self.socket})

    def start(self):
        program("tgtadm")
        self.spawn(["tgtd", "-f", "-C", str(self.control), "--iscsi",
                    f"portal=127.0.0.1:{self.port}"], self.cpus, self.socket)
        self.wait_connect(("127.0.0.1", self.port))
        self.wait_connect(f"{self.socket['TGT_IPC_SOCKET']}.{self.control}")
        self.admin("--mode", "target", "--op", "new", "--tid", "1", "--targetname", self.iqn)
        self.admin("--mode", "logicalunit", "--op", "new", "--tid", "1", "--lun", "1",
                   "--backing-store", self.backing(), "--bstype", self.bstype)
        for digest in ("HeaderDigest", "DataDigest") if self.has_digests else ():
            self.admin("--mode", "target", "--op", "update", "--tid", "1", "--name", digest,
                       "--value", "None,CRC32C")
        if not self.is_write_back:
            self.admin("--mode", "logicalunit", "--op", "update", "--tid", "1", "--lun", "1",
                       "--params", TGTD_WRITE_THROUGH)
        for i, outgoing in enumerate(([], ["--outgoing"]) if self.chap else ()):
            user, secret = self.chap[2 * i:2 * i + 2]
            self.admin("--mode", "account", "--op", "new", "--user", user, "--password", secret)
            self.admin("--mode", "account", "--op", "bind", "--tid", "1", "--user", user, *outgoing)
        self.admin("--mode", "target", "--op", "bind", "--tid", "1", "-I", "ALL")
        return self


ISTGT = """[Global]
  NodeBase "{base}"
  PidFile {folder}/istgt.pid
  AuthFile {folder}/istgt-auth.conf
  LogFacility "local7"
  Timeout 30
  NopInInterval 20
  DiscoveryAuthMethod None
  MaxSessions 128
  MaxConnections 4
  MaxR2T 32
  MaxOutstandingR2T 16
  DefaultTime2Wait 2
  DefaultTime2Retain 60
  FirstBurstLength 262144
  MaxBurstLength 1048576
  MaxRecvDataSegmentLength 262144
  InitialR2T Yes
  ImmediateData Yes
  DataPDUInOrder Yes
  DataSequenceInOrder Yes
  ErrorRecoveryLevel 0
[UnitControl]
  AuthMethod None
  Portal UC1 127.0.0.1:{control}
  Netmask 127.0.0.1
[PortalGroup1]
  Portal DA1 127.0.0.1:{port}
[InitiatorGroup1]
  InitiatorName "ALL"
  Netmask 127.0.0.1
[LogicalUnit1]
  TargetName {name}
  Mapping PortalGroup1 InitiatorGroup1
  AuthMethod {method}
  AuthGroup {group}
  UseDigest Auto
  UnitType Disk
  QueueDepth 64
  LUN0 Storage {image} {megabytes}MB
"""


class Istgt(Peer):
    """Debian's istgt: a thread a session."""

    is_write_back = True  # whatever it is told: its mode page has WCE set in any case

    def __init__(self, scratch, size, cpus=None):
        super().__init__(scratch, "istgt", size, cpus)

    def start(self):
        base, name = self.iqn.split(":")
        users = '[AuthGroup1]\n  Auth "{}" "{}" "{}" "{}"\n'.format(*self.chap) if self.chap else ""
        os.chmod(self.scratch.file("istgt-auth.conf", content=users), 0o600)
        config = self.scratch.file("istgt.conf", content=ISTGT.format(
            base=base, name=name, folder=self.scratch.path, control=free_port(),
            port=self.port, image=self.backing(), megabytes=self.size >> 20,
            method="CHAP Mutual" if self.chap else "None",
            group="AuthGroup1" if self.chap else "None"))
        self.spawn(["istgt", "-D", "-c", config], self.cpus)
        self.wait_connect(("127.0.0.1", self.port))
        return self


class Spdk(Peer):
    """SPDK's iscsi_tgt with a malloc bdev. Polls: owns the CPU it runs on."""

    def __init__(self, scratch, size, cpus=None):
        super().__init__(scratch, "SPDK", size, cpus)

    def config(self):
        call = lambda method, **params: {"method": method, "params": params}
        return {"subsystems": [
            {"subsystem": "bdev", "config": [
                call("bdev_malloc_create", name="m0", num_blocks=self.size // 512,
                     block_size=512)]},
            {"subsystem": "iscsi", "config": [
                call("iscsi_create_portal_group", tag=1,
                     portals=[{"host": "127.0.0.1", "port": str(self.port)}]),
                call("iscsi_create_initiator_group", tag=1, initiators=["ANY"],
                     netmasks=["127.0.0.0/8"]),
                call("iscsi_create_target_node", name=self.iqn, alias_name="disk",
                     pg_ig_maps=[{"pg_tag": 1, "ig_tag": 1}], queue_depth=128,
                     luns=[{"bdev_name": "m0", "lun_id": 0}], disable_chap=True)]}]}

    def start(self):
        cpu = min(self.cpus or {0})
        config = self.scratch.file("spdk.json", content=json.dumps(self.config()))
        self.spawn(["iscsi_tgt", "--no-huge", "-s", str((self.size >> 20) + 1024), "-m",
                    hex(1 << cpu), "-r", self.scratch.file("spdk.sock"), "-c", config])
        self.wait_connect(("127.0.0.1", self.port), timeout=60)
        return self


class TcpLimit(Peer):
    """tests/bench/tcp_limit: the sockets alone."""

    def __init__(self, scratch, size, cpus=None, is_spinning=False):
        super().__init__(scratch, "TCP " + ("spinning" if is_spinning else "sleeping"), size, cpus)
        self.arguments = ["-p"] if is_spinning else []

    @property
    def url(self):
        return f"raw://127.0.0.1:{self.port}"

    def start(self):
        self.spawn(["tcp_limit", *self.arguments, str(self.port)], self.cpus)
        self.wait_connect(("127.0.0.1", self.port))
        return self


def by_name(name, scratch, size, cpus=None):
    """A peer from the name its table column has."""
    kinds = {"tgtd aio": lambda: Tgtd(scratch, size, cpus),
             "tgtd rdwr": lambda: Tgtd(scratch, size, cpus, "rdwr"),
             "istgt": lambda: Istgt(scratch, size, cpus),
             "SPDK": lambda: Spdk(scratch, size, cpus),
             "TCP sleeping": lambda: TcpLimit(scratch, size, cpus),
             "TCP spinning": lambda: TcpLimit(scratch, size, cpus, True)}
    if name not in kinds:
        raise Failure(f"{name}: no such peer ({', '.join(kinds)})")
    return kinds[name]()
