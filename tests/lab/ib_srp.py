# SPDX-License-Identifier: BSD-2-Clause
"""The kernel's ib_srp, in a guest: logins by add_target, its sessions and disks."""

import farblock
from kernel import Kernel, wait_until
from place import rdma_device

# Patient, as the guest is slow: a lost connection is tried again every second, and its disks wait.
# Without a limit of time for I/O the kernel would fail it after the first attempt.
REPORT = {"reconnect_delay": "1", "fast_io_fail_tmo": "500", "dev_loss_tmo": "off"}
PORTS = "/sys/class/srp_remote_ports"


class Initiator(Kernel):
    """ib_srp over a device ("rxe", "siw"). settings: parameters of its module, which is loaded
    anew."""

    # What a LUN reset by sg_reset ends at the target gets no response, and ib_srp itself ends none of
    # it: that waits for its timeout, or for a reset of the host.
    resets = ("-d", "-H", "-d", "-H")

    def __init__(self, guest, host, settings=None, device=None):
        super().__init__(guest)
        self.host, self.device, self.report = host, device, dict(REPORT)
        rdma_device(guest, device)
        words = " ".join(f"{name}={value}" for name, value in (settings or {}).items())
        guest.run(f"""
            modprobe -a sd_mod sg crc32c_generic && modprobe -rq ib_srp
            modprobe ib_srp {words} && dmesg -C""")

    def end(self):
        """Leaves every target; a host that stays is a failure."""
        self.guest.run(f"""
            umount -q /mnt
            for p in {PORTS}/port-*; do [ ! -e $p ] || echo 1 >$p/delete; done""")
        wait_until(lambda: not self.ports(), "ib_srp leaves every target")

    def ask(self, target, portal=0, **options):
        """Writes an add_target line; returns the exit status and what the kernel said."""
        line = ",".join([target.add_target(portal), "max_sect=8192", "queue_size=64",
                         *(f"{name}={value}" for name, value in options.items())])
        return self.guest.ask(f"""
            dmesg -C; echo '{line}' >/sys/class/infiniband_srp/srp-{self.device}0-1/add_target
            s=$?; dmesg; exit $s""")

    def login(self, target, portal=0, update=None):
        """Logs in; has to succeed. Returns the name of the remote port. Each portal gets an initiator
        port of its own: else they were channels of one nexus, of which the later ends the other."""
        before = self.ports()
        status, output = self.ask(target, portal, initiator_ext=f"{portal + 1:016x}",
                                  **(update or {}))
        if status:
            raise farblock.Failure(f"add_target: {output.strip()[-1500:]}")
        port, = self.ports() - before
        self.guest.run("\n".join(f"echo {value} >{PORTS}/{port}/{name} || exit"
                                 for name, value in self.report.items()))
        return port

    def gives_up(self, seconds):
        """From the next login on, I/O fails that long after the connection is lost."""
        self.report["fast_io_fail_tmo"] = str(seconds)

    def logout(self, port):
        self.guest.run(f"echo 1 >{PORTS}/{port}/delete")
        wait_until(lambda: port not in self.ports(), f"{port} is gone")

    def ports(self):
        return set(self.guest.run(f"ls {PORTS}").split())

    def host_of(self, port):
        """Its folder in sysfs."""
        return f"/sys/class/scsi_host/host{port.split('-')[1].split(':')[0]}"

    def disks(self):
        return self.found("""$(for i in /sys/class/scsi_host/host*/id_ext; do
            echo ${i%/id_ext}/device/target*/*:*:*:*/block/*; done)""")

    def is_up(self):
        return self.guest.run(f"cat {PORTS}/port-*/state").split() == ["running"]

    def rescan(self):
        self.guest.run("""
            for h in /sys/class/scsi_host/host*; do
                [ -e $h/id_ext ] || continue
                echo '- - -' >$h/scan
                for d in $h/device/target*/*:*:*:*/rescan; do [ ! -e $d ] || echo 1 >$d; done
            done""")

    def of_host(self, port, name):
        """An attribute of its SCSI host."""
        return self.guest.run(f"cat {self.host_of(port)}/{name}").strip()
