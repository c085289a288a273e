# SPDX-License-Identifier: BSD-2-Clause
"""Targets with slow storage for fences.py: each has two portals in one portal group and, where it
can, a third portal in a group of its own. A write needs `slow` seconds before its bytes are on the
medium; what is on the medium can be read at once."""

import os
import threading

import farblock_path  # noqa: F401: makes tests/lib importable
import farblock
import guest
import iscsi
import net
import peers

SIZE = 64 << 20
# LIO proposes what a login leaves out, and waits for the answers.
KEYS = {"MaxConnections": "1", "DefaultTime2Wait": "2", "DefaultTime2Retain": "0",
        "MaxOutstandingR2T": "1", "DataPDUInOrder": "Yes", "DataSequenceInOrder": "Yes",
        "ErrorRecoveryLevel": "0", "IFMarker": "No", "OFMarker": "No"}


def shim(scratch):
    """slow_write.c, compiled."""
    path, source = scratch.file("slow_write.so"), os.path.join(os.path.dirname(__file__),
                                                               "slow_write.c")
    if not os.path.exists(path):
        farblock.run(["cc", "-O1", "-shared", "-fPIC", "-o", path, source, "-ldl"])
    return path


def slowed(scratch, file, slow):
    """The variables that make a program's writes to a file slow."""
    return {"LD_PRELOAD": shim(scratch), "FARBLOCK_SLOW_FILE": os.path.realpath(file),
            "FARBLOCK_SLOW_MS": str(int(slow * 1000))}


class OnFile:
    """The medium is a file of this machine."""

    def medium(self, at, size):
        with open(self.image, "rb") as file:
            file.seek(at)
            return file.read(size)


class Farblockd(OnFile, farblock.Farblockd):
    lun = 0

    def __init__(self, scratch, slow, nop):
        self.image = scratch.file("farblockd.img")
        config = farblock.Config()
        disk = config.fileio("disk", self.image, SIZE, {"delay_write_us": int(slow * 1e6)})
        times = {"nopin_timeout": nop[0], "nopin_response_timeout": nop[1]} if nop else {}
        target = config.target([disk], portals=2, attributes=times)
        other = config.target([disk], portals=1, attributes=times)
        group = config.targets.pop()["tpgs"][0]
        config.targets[0]["tpgs"].append({**group, "tag": 2})
        self.iqn = target.iqn
        self.portals = {"same": target.portals[0], "other": target.portals[1],
                        "other group": other.portals[0]}
        super().__init__(scratch, config)

    @staticmethod
    def version():
        return farblock.run(["farblockd", "--version"]).stdout.split("\n")[0]


class Tgtd(OnFile, peers.Tgtd):
    """All its portals are of portal group 1: it has no others."""

    def __init__(self, scratch, slow, nop):
        super().__init__(scratch, SIZE, bstype="rdwr")
        self.image, self.nop = self.backing(), nop
        second = farblock.free_port()
        self.portals = {"same": ("127.0.0.1", self.port), "other": ("127.0.0.1", second)}
        self.socket |= slowed(scratch, self.image, slow)

    def admin(self, *arguments):
        env = {k: v for k, v in self.socket.items() if k == "TGT_IPC_SOCKET"}
        farblock.run(["tgtadm", "-C", str(self.control), "--lld", "iscsi", *arguments],
                     env={**os.environ, **env})

    def start(self):
        super().start()
        host, port = self.portals["other"]
        self.admin("--mode", "portal", "--op", "new", "--param", f"portal={host}:{port}")
        for name, value in zip(("nop_interval", "nop_count"), (1, self.nop[1])) if self.nop else ():
            self.admin("--mode", "target", "--op", "update", "--tid", "1", "--name", name,
                       "--value", str(value))
        return self

    @staticmethod
    def version():
        return "tgt " + packaged("tgt")


class Istgt(OnFile, peers.Istgt):
    def __init__(self, scratch, slow, nop):
        super().__init__(scratch, SIZE)
        self.image, self.nop, self.slow = self.backing(), nop, slow
        self.portals = {"same": ("127.0.0.1", self.port),
                        "other": ("127.0.0.1", farblock.free_port()),
                        "other group": ("127.0.0.1", farblock.free_port())}

    def spawn(self, command, cpus=None, env=None):
        config = command[-1]
        with open(config, encoding="utf-8") as file:
            text = file.read()
        second, third = (self.portals[name][1] for name in ("other", "other group"))
        text = text.replace("[InitiatorGroup1]", f"  Portal DA2 127.0.0.1:{second}\n"
                            f"[PortalGroup2]\n  Portal DB1 127.0.0.1:{third}\n[InitiatorGroup1]")
        text = text.replace("  Mapping PortalGroup1 InitiatorGroup1\n",
                            "  Mapping PortalGroup1 InitiatorGroup1\n"
                            "  Mapping PortalGroup2 InitiatorGroup1\n")
        if self.nop:
            text = text.replace("Timeout 30", f"Timeout {self.nop[1]}").replace(
                "NopInInterval 20", f"NopInInterval {self.nop[0]}")
        with open(config, "w", encoding="utf-8") as file:
            file.write(text)
        super().spawn(command, cpus, slowed(self.scratch, self.image, self.slow))

    @staticmethod
    def version():
        return "istgt " + packaged("istgt")


LIO = """
    modprobe -a configfs dm_mod dm-delay target_core_mod target_core_iblock iscsi_target_mod || exit
    mkdir -p /var/target/pr /etc/target/pr  # LIO stores reservations there, or refuses them
    mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
    modprobe brd rd_nr=1 rd_size={kib} || exit
    ip addr replace {second}/24 dev eth0
    dmsetup create slow --noudevsync --table \
        "0 $(blockdev --getsz /dev/ram0) delay /dev/ram0 0 0 /dev/ram0 0 {ms}" &&
        dmsetup mknodes || exit
    cd /sys/kernel/config/target || mkdir -p /sys/kernel/config/target && cd /sys/kernel/config/target
    mkdir -p core/iblock_0/disk && echo udev_path=/dev/mapper/slow >core/iblock_0/disk/control &&
        echo 1 >core/iblock_0/disk/enable || exit
    for g in 1 2; do
        t=iscsi/{iqn}/tpgt_$g
        mkdir -p $t/lun/lun_0 || exit
        ln -s /sys/kernel/config/target/core/iblock_0/disk $t/lun/lun_0/disk || exit
        for a in authentication=0 generate_node_acls=1 cache_dynamic_acls=1 demo_mode_write_protect=0
        do echo ${{a#*=}} >$t/attrib/${{a%=*}} || exit; done
    done
    mkdir iscsi/{iqn}/tpgt_1/np/{first}:{port} iscsi/{iqn}/tpgt_1/np/{second}:{port} \
        iscsi/{iqn}/tpgt_2/np/{first}:{port2} || exit
    for g in 1 2; do echo 1 >iscsi/{iqn}/tpgt_$g/enable || exit; done"""


class Lio:
    """The kernel's target in a guest, on a dm-delay above a RAM disk. With times for NOP-In an ACL of
    each initiator has them; the defaults are 15 and 30 s."""

    lun, iqn = 0, "iqn.2025-01.org.farblock.lab:slow"

    def __init__(self, scratch, slow, nop):
        self.guest = guest.Guest(scratch, net.Tap)
        self.slow, self.nop, self.readers = slow, nop, threading.local()
        first, second = net.GUESTS
        self.portals = {"same": (first, net.PORT), "other": (second, net.PORT),
                        "other group": (first, net.PORT + 1)}

    def __enter__(self):
        net.up()
        self.guest.__enter__()
        first, second = net.GUESTS
        self.guest.run(LIO.format(kib=SIZE // 1024, ms=int(self.slow * 1000), iqn=self.iqn,
                                  first=first, second=second, port=net.PORT, port2=net.PORT + 1))
        return self

    def __exit__(self, *why):
        self.guest.__exit__(*why)

    def admit(self, initiator):
        """Gives an initiator short times for NOP-In."""
        if not self.nop:
            return
        for group in (1, 2):
            self.guest.run(f"""
                cd /sys/kernel/config/target/iscsi/{self.iqn}/tpgt_{group} || exit
                mkdir -p acls/{initiator}/lun_0 || exit
                ln -s $PWD/lun/lun_0 acls/{initiator}/lun_0/disk
                echo {self.nop[0]} >acls/{initiator}/attrib/nopin_timeout
                echo {self.nop[1]} >acls/{initiator}/attrib/nopin_response_timeout""")

    def medium(self, at, size):
        """Read by a session that each thread has for itself: reads are not delayed."""
        if not hasattr(self.readers, "session"):
            host, port = self.portals["same"]
            self.readers.session = iscsi.Session(
                f"iscsi://{host}:{port}/{self.iqn}/0", isid=7, keys=KEYS,
                initiator=f"iqn.2025-01.org.farblock:reader{os.urandom(4).hex()}")
        return bytes(self.readers.session.run(iscsi.read16(at // 512, size // 512),
                                              read_len=size).data_in)

    def version(self):
        return "LIO of Linux " + self.guest.run("uname -r").strip()


def packaged(name):
    return farblock.run(["dpkg-query", "-W", "-f", "${Version}", name], check=False).stdout.strip()


KINDS = {"farblockd": Farblockd, "tgtd": Tgtd, "istgt": Istgt, "lio": Lio}
