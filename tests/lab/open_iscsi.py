# SPDX-License-Identifier: BSD-2-Clause
"""open-iscsi and the kernel's iscsi_tcp and ib_iser, in a guest."""

import farblock
import net
from kernel import Kernel
from place import rdma_device

NAME = "iqn.1993-08.org.debian:01:fa4b10c60001"
# iscsid.conf of Debian, but patient: a guest that is emulated on a busy machine is slow, and none of
# these limits is to end what only takes its time.
SETTINGS = {
    "node.startup": "manual",
    "node.session.timeo.replacement_timeout": "600",
    "node.conn[0].timeo.login_timeout": "60",
    "node.conn[0].timeo.logout_timeout": "60",
    "node.conn[0].timeo.noop_out_interval": "10",
    "node.conn[0].timeo.noop_out_timeout": "60",
    "node.session.err_timeo.abort_timeout": "60",
    "node.session.err_timeo.lu_reset_timeout": "60",
    "node.session.iscsi.InitialR2T": "No",
    "node.session.iscsi.ImmediateData": "Yes",
    "node.session.iscsi.FirstBurstLength": "262144",
    "node.session.iscsi.MaxBurstLength": "16776192",
    "node.conn[0].iscsi.MaxRecvDataSegmentLength": "262144",
    "discovery.sendtargets.iscsi.MaxRecvDataSegmentLength": "32768",
    "node.session.scan": "auto",
}
# A connection that is lost without a word shows within seconds.
IMPATIENT = {"node.conn[0].timeo.noop_out_interval": "1", "node.conn[0].timeo.noop_out_timeout": "3"}
# The kernel's modules for a carrier. ib_iser's own limit is 512 KiB a command, less than siw's.
MODULES = {"tcp": "modprobe iscsi_tcp", "iser": "modprobe ib_iser max_sectors=32768"}


class Initiator(Kernel):
    """One initiator name with its iscsid. settings change iscsid.conf; None drops a line.
    host: what it asks for targets. device: iSER over that ("rxe", "siw"); None: TCP."""

    resets = ("-d", "-t", "-d")

    def __init__(self, guest, host, settings=None, device=None):
        super().__init__(guest)
        self.host = host
        carrier = "iser" if device else "tcp"
        self.interface = "iser" if device else "default"
        if device:
            rdma_device(guest, device)
        merged = {**SETTINGS, **(settings or {})}
        conf = "".join(f"{k} = {v}\n" for k, v in merged.items() if v is not None)
        guest.run(f"""
            modprobe -a sd_mod sg crc32c_generic && {MODULES[carrier]}
            rm -rf /etc/iscsi/* /run/lock/iscsi; mkdir -p /etc/iscsi /run/lock/iscsi
            echo InitiatorName={NAME} >/etc/iscsi/initiatorname.iscsi
            cat >/etc/iscsi/iscsid.conf <<'EOF'\n{conf}EOF
            iscsid
            for i in $(seq 100); do [ -s /run/iscsid.pid ] && break; sleep 0.05; done
            dmesg -C""")

    def end(self):
        """Logs out of everything and ends iscsid; a session that stays is a failure."""
        status, output = self.guest.ask("""
            umount -q /mnt; iscsiadm -m node -u >/dev/null 2>&1; iscsiadm -m session
            s=$?; iscsiadm -k 0 >/dev/null 2>&1; rm -f /run/iscsid.pid; exit $s""")
        if status != 21:  # ISCSI_ERR_NO_OBJS_FOUND
            raise farblock.Failure(f"sessions that do not log out: {output.strip()}")

    def admin(self, words):
        """iscsiadm; returns exit status and output."""
        return self.guest.ask(f"iscsiadm {words}")

    def discover(self, portal=None):
        """SendTargets; the lines of the answer."""
        portal = portal or f"{self.host}:{net.PORT}"
        return self.guest.run(f"iscsiadm -m discovery -t st -I {self.interface} -p '{portal}'"
                              ).split("\n")[:-1]

    def record(self, target, portal=0, update=None, interface=None):
        """A node record made by hand, with these settings; returns what iscsiadm calls it."""
        host, port = target.portals[portal]
        where = f"-T {target.iqn} -p '{host}:{port},1' -I {interface or self.interface}"
        words = [f"iscsiadm -m node {where} -o new >/dev/null || exit"]
        words += [f"iscsiadm -m node {where} -o update -n '{name}' -v '{value}' || exit"
                  for name, value in (update or {}).items()]
        self.guest.run("\n".join(words))
        return where

    def login(self, target, portal=0, update=None, interface=None):
        """Makes the record and logs in; has to succeed. Returns the record's arguments."""
        where = self.record(target, portal, update, interface)
        self.guest.run(f"iscsiadm -m node {where} -l")
        return where

    def logout(self, where):
        self.guest.run(f"iscsiadm -m node {where} -u && iscsiadm -m node {where} -o delete")

    def disks(self):
        return self.found("/sys/class/iscsi_session/session*/device/target*/*:*:*:*/block/*")

    def negotiated(self):
        """What the kernel has for the one session and its connection."""
        output = self.guest.run("""
            cd /sys/class
            grep -Hs . iscsi_session/session*/* iscsi_connection/connection*/* |
                sed -E 's#^[^/]*/[^/]*/([^:/]*):#\\1 #'""")
        return dict(line.split(" ", 1) for line in output.splitlines())

    def state(self):
        """The kernel's word for the one session: LOGGED_IN, FAILED or FREE."""
        return self.guest.run("cat /sys/class/iscsi_session/session*/state").strip()

    def gives_up(self, seconds):
        pass  # replacement_timeout of its settings

    def is_up(self):
        return self.state() == "LOGGED_IN"

    def rescan(self):
        self.guest.run("iscsiadm -m session -R")
