#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A virtual machine with the lab's kernel, and commands run in it.

    guest.py FILE          runs a file of shell commands as root in a new guest, prints what they
    guest.py -c COMMANDS   print, and ends with their exit status

The guest has this machine's loopback as 10.0.2.2 and this machine's files, read only, under
/host; what it writes is gone when it ends. Needs tests/lab/prepare.sh to have run.
FARBLOCK_LAB_ACCEL (kvm or tcg), FARBLOCK_LAB_CPUS (1) and FARBLOCK_LAB_TIMEOUT (seconds, 300)
override the defaults.
"""

import base64
import os
import socket
import sys

import tsc

import farblock_path  # noqa: E402, F401
import farblock  # noqa: E402

LAB = os.environ.get("FARBLOCK_LAB") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "farblock-lab")
# Seconds. What takes so long hangs: no verdict depends on it.
HANG = 600
# One, as Linux 6.12's initiator needs: it hands a login response to iscsid before it takes note that
# the request is over, and on another CPU iscsid may be faster with the next request, which is
# refused ("Login/Text in progress") and never sent again in that session.
CPUS = os.environ.get("FARBLOCK_LAB_CPUS", "1")
ACCEL = {"kvm": ["-accel", "kvm", "-cpu", "host"], "tcg": ["-accel", "tcg,thread=multi",
                                                           "-cpu", "max"]}


class User:
    """A network of qemu's own: this machine's loopback is 10.0.2.2."""

    guest, gateway = "10.0.2.15/24", "10.0.2.2"

    @staticmethod
    def options():
        return ["-netdev", "user,id=net0", "-device", "virtio-net-pci,netdev=net0"]


def accelerator():
    chosen = os.environ.get("FARBLOCK_LAB_ACCEL")
    if not chosen:
        with open(os.path.join(LAB, "accel"), encoding="ascii") as file:
            chosen = file.read().strip()
    return chosen


class Guest(farblock.Process):
    """One virtual machine. `network` has options(), guest (address/length) and gateway."""

    def __init__(self, scratch, network=User, name="guest", memory=1024, shares_host=False):
        super().__init__(scratch, name)
        self.network, self.memory, self.shares_host = network, memory, shares_host
        self.channel, self.lines = None, None

    def start(self):
        path = self.scratch.file(f"{self.name}.channel")
        if os.path.exists(path):
            os.unlink(path)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen()
            self.spawn(self.command(path))
            self.channel, _ = self.accepted(listener)
        self.lines = self.channel.makefile("rb")
        self.channel.settimeout(HANG)
        if self.line() != b"ready\n":
            raise farblock.Failure(f"{self.name}: no sign of life: {self.log()[-1000:]}")
        return self

    def accepted(self, listener):
        listener.settimeout(0.2)
        for _ in range(5 * HANG):
            try:
                return listener.accept()
            except TimeoutError:
                if not self.is_running():
                    break
        raise farblock.Failure(f"{self.name}: qemu: {self.log()[-1000:].strip()}")

    def command(self, channel):
        share = ["-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,"
                 "multidevs=remap"] if self.shares_host else []
        accel = accelerator()
        # An emulated CPU counts time as this one does. The guest would measure how fast, which goes
        # wrong on a busy machine: its clock has been seen to run twenty times too fast.
        clock = [f"tsc_early_khz={tsc.khz()}"] if accel == "tcg" else []
        words = ["console=ttyS0", "quiet", "panic=-1", "mitigations=off", "net.ifnames=0",
                 "tsc=reliable", *clock, f"lab.address={self.network.guest}",
                 f"lab.gateway={self.network.gateway}",
                 *(["lab.host=1"] if share else [])]
        return ["qemu-system-x86_64", *ACCEL[accel], "-smp", CPUS, "-m", str(self.memory),
                "-nodefaults", "-no-user-config", "-display", "none", "-serial", "stdio",
                "-no-reboot", "-kernel", os.path.join(LAB, "vmlinuz"),
                "-initrd", os.path.join(LAB, "initrd.img"), "-append", " ".join(words),
                "-drive", f"file={LAB}/root.img,if=virtio,format=raw,snapshot=on",
                "-device", "virtio-rng-pci", "-device", "virtio-serial-pci",
                "-chardev", f"socket,id=channel,path={channel}",
                "-device", "virtserialport,chardev=channel,name=lab",
                *self.network.options(), *share]

    def line(self):
        try:
            return self.lines.readline()
        except TimeoutError:
            raise farblock.Failure(f"{self.name}: does not answer in "
                                   f"{self.channel.gettimeout():.0f} s") from None

    def ask(self, script, timeout=HANG):
        """Runs shell commands as root; returns exit status and output."""
        self.channel.settimeout(timeout)
        try:
            self.channel.sendall(base64.b64encode(script.encode()) + b"\n")
            answer = self.line().split()
        except OSError as why:
            raise farblock.Failure(f"{self.name}: {why}: {self.log()[-2000:].strip()}") from None
        if not answer:
            raise farblock.Failure(f"{self.name}: ended: {self.log()[-2000:].strip()}")
        output = base64.b64decode(answer[0]) if len(answer) == 2 else b""
        return int(answer[-1]), output.decode(errors="replace")

    def run(self, script, timeout=HANG):
        """As ask(), for commands that have to succeed; returns their output."""
        status, output = self.ask(script, timeout)
        if status:
            raise farblock.Failure(f"in the guest: {script.strip()}: exit status {status}: "
                                   f"{output.strip()[-1500:]}")
        return output

    def is_alive(self):
        try:
            return self.is_running() and self.ask("true", 20)[0] == 0
        except farblock.Failure:
            return False

    def kill(self):
        if self.channel:
            self.lines.close()
            self.channel.close()
            self.channel = None
        super().kill()


def main():
    if sys.argv[1:2] == ["-c"] and len(sys.argv) == 3:
        script = sys.argv[2]
    elif len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        with open(sys.argv[1], encoding="utf-8") as file:
            script = file.read()
    else:
        print(__doc__, file=sys.stderr)
        return 2
    with farblock.Scratch() as scratch, Guest(scratch, shares_host=True, memory=2048) as guest:
        status, output = guest.ask(script, float(os.environ.get("FARBLOCK_LAB_TIMEOUT", "300")))
    print(output, end="")
    return status


if __name__ == "__main__":
    farblock.main(main)
