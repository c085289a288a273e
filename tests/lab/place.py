# SPDX-License-Identifier: BSD-2-Clause
"""Where farblockd runs: on this machine, or in the guest on an RDMA device of the guest's kernel.
Scenarios know only what both have: addresses, daemons, the files behind LUNs, the cable."""

import hashlib
import json
import os
import signal

import farblock
import net
from guest import HANG

MIB = 1 << 20
MODULES = {"rxe": "rdma_rxe", "siw": "siw"}


def sha256_of(path, length):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for at in range(0, length, MIB):
            digest.update(file.read(min(MIB, length - at)))
    return digest.hexdigest()


def rdma_device(guest, kind):
    """The guest's kernel does RDMA in software on its network device: "rxe" or "siw". With the modules
    in this order, a device that goes is missed by programs before rdma_cm tells them of it."""
    status, output = guest.ask(f"""
        modinfo {MODULES[kind]} >/dev/null || exit 77
        modprobe -a rdma_cm ib_uverbs {MODULES[kind]} rdma_ucm || exit
        [ -e /sys/class/infiniband/{kind}0 ] || rdma link add {kind}0 type {kind} netdev eth0""")
    if status == 77:
        raise farblock.Skip(f"the guest's kernel has no {kind} (see prepare.sh)")
    if status:
        raise farblock.Failure(f"in the guest: {kind}: {output.strip()}")


class Here:
    """On this machine: software iWARP and TCP over the tap device."""

    hosts, host6 = net.HOSTS, net.HOST6
    portal = {}  # what its portals have in the saved file beside the defaults
    sha256_of = staticmethod(sha256_of)
    cut = staticmethod(net.cut)
    cut_address = staticmethod(net.cut_address)

    @staticmethod
    def daemon(scratch, config, name, **options):
        return farblock.Farblockd(scratch, config, name, **options)

    @staticmethod
    def allocated(path):
        return os.stat(path).st_blocks * 512


class Inside:
    """In the guest, by libibverbs on an rxe or siw device, which is the initiator's too, or over TCP
    (kind None). A file is known by the same path as here, but is in the guest's memory."""

    hosts, host6 = net.GUESTS, net.GUEST6

    def __init__(self, guest, kind):
        self.guest, self.kind = guest, kind
        self.portal = {"transport": "rdma"} if kind == "siw" else {}

    def daemon(self, scratch, config, name, **options):
        if self.kind:
            rdma_device(self.guest, self.kind)
        self.guest.run(f"ip addr replace {self.hosts[1]}/24 dev eth0; mkdir -p {scratch.path}")
        return Daemon(self.guest, scratch, config, name, **options)

    def sha256_of(self, path, length):
        return self.guest.run(f"head -c {length} {path} | sha256sum").split()[0]

    def allocated(self, path):
        return int(self.guest.run(f"stat -c %b {path}")) * 512

    def cut(self, is_cut):
        """Nothing goes over a cable: the port of the device goes down and comes up."""
        self.guest.run("ip link set eth0 down" if is_cut else f"""
            ip link set eth0 up; ip -6 addr replace {self.host6}/64 dev eth0 nodad""")


class Daemon(farblock.Farblockd):
    """farblockd in the guest, as far as scenarios use it. Its saved file, socket, log and the files
    behind its LUNs are in the guest's memory, and gone with the guest."""

    environment = "ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1"

    def __init__(self, guest, scratch, config, name, **options):
        super().__init__(scratch, config, name, **options)
        self.guest, self.number = guest, None
        self.status_path = scratch.file(f"{name}.status")
        disks = [(o["dev"], o["size"]) for o in config.storage_objects if {"dev", "size"} <= {*o}]
        guest.run("\n".join([
            f"install -m 600 /host{self.config_path} {self.config_path}",
            f"install -d -m 700 {self.state_path}",
            *(f"truncate -s {size} {path}" for path, size in disks)]))

    def programs(self):
        """Copied, as a program on the shared files would wait for them now and then."""
        names = ("farblockd", os.path.join("tests", "lab", "lab_relay"))
        paths = [f"/host{os.path.join(farblock.BUILD, name)}" for name in names]
        return f"[ -e /run/lab_relay ] || cp {' '.join(paths)} /run/ || exit"

    def start(self):
        words = ["--config", self.config_path, "--state-dir", self.state_path,
                 "--socket", self.socket_path, "--metrics", self.metrics, *self.workers(),
                 *self.arguments]
        self.number = int(self.guest.run(f"""
            {self.programs()}
            rm -f {self.status_path} {self.socket_path}; ulimit -l unlimited
            (exec </dev/null >>{self.log_path} 2>&1
             {self.environment} /run/farblockd {' '.join(words)} &
             echo $! >/run/farblockd.pid; wait $!; echo $? >{self.status_path}) &
            until [ -e {self.status_path} ] || /run/lab_relay {self.socket_path} </dev/null; do
                sleep 0.05
            done 2>/dev/null
            cat /run/farblockd.pid"""))
        if not self.is_running():
            raise farblock.Failure(f"{self.name}: ended at start: {self.log()[-2000:].strip()}")
        return self

    def is_running(self):
        return self.number is not None and self.guest.ask(f"[ -e {self.status_path} ]")[0] != 0

    def log(self):
        try:
            return self.guest.ask(f"tail -c 100000 {self.log_path}")[1]
        except farblock.Failure as why:
            return f"(no log: {why})\n"

    def signal(self, number):
        self.guest.run(f"[ -e {self.status_path} ] || kill -{int(number)} {self.number}")

    def ended(self, seconds):
        """Waits for its end; returns its exit status."""
        status, output = self.guest.ask(f"""
            for i in $(seq {10 * seconds}); do
                [ ! -s {self.status_path} ] || exec cat {self.status_path}
                sleep 0.1
            done; exit 1""", seconds + 30)
        if status:
            raise farblock.Failure(f"{self.name}: still there {seconds} s after the signal")
        return int(output)

    def kill(self):
        if self.number is not None:
            self.signal(signal.SIGKILL)
            self.ended(HANG)

    def stop(self, timeout=HANG):
        if self.number is None:
            return None
        self.resume()
        self.signal(signal.SIGTERM)
        try:
            status = self.ended(timeout)
        except farblock.Failure:
            self.kill()
            raise
        self.number = None
        return status

    def rpc(self, method, **params):
        request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        answer = json.loads(self.guest.run(
            f"/run/lab_relay {self.socket_path} <<'EOF'\n{request}\nEOF"))
        if "error" in answer:
            raise farblock.Failure(f"{method}: {answer['error']}")
        return answer["result"]
