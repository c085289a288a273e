#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""docs/boot.md as written: its ten commands in a new Debian, a container with systemd and a network of
its own, and then a machine on that network, which knows nothing, boots to its login prompt.

    ten_commands.py DEBS    the folder with farblock's packages"""

import glob
import os
import re
import shutil
import signal
import subprocess
import sys

import farblock_path  # noqa: F401
from farblock import Failure, Process, Scratch, Skip, check, eventually, main, run
from machine import BOOT, Machine

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/boot.md")
NETWORK = "tap,id=n0,ifname=eth1,script=no,downscript=no"
ARCHIVE = "deb.debian.org"
SETUP = """ip link set lo up && ip tuntap add eth1 mode tap && ip addr add 192.0.2.1/24 dev eth1 &&
ip link set eth1 up && exec "$@\""""


def commands():
    """Of the section's only block."""
    with open(DOCUMENT, encoding="utf-8") as file:
        section = file.read().split("## A diskless Debian in ten commands\n")[1].split("\n## ")[0]
    found = re.findall(r"^    (.*)$", section, re.M)
    check(len(found) == 10, f"{len(found)} commands in {DOCUMENT}")
    return found


class Relay(Process):
    """The archive of packages for the container, which has no other network than its own: its loopback,
    a Unix socket, and this machine's. inside: the half in the container's network."""

    def __init__(self, scratch, inside):
        super().__init__(scratch, "relay-inside" if inside else "relay")
        self.inside = inside

    def start(self):
        path = os.environ.get("FARBLOCK_ARCHIVE") or self.scratch.file("archive.sock")
        words = (["TCP-LISTEN:80,fork,reuseaddr", f"UNIX-CONNECT:{path}"] if self.inside else
                 [f"UNIX-LISTEN:{path},fork", f"TCP:{ARCHIVE}:80"])
        self.spawn(["socat", *words])
        return self


class Server(Process):
    """A Debian that boots in a container."""

    def __init__(self, scratch, debs):
        super().__init__(scratch, "server")
        self.root = scratch.file("server")
        os.makedirs(self.root)
        run(["tar", "-C", self.root, "-xf", os.path.join(BOOT, "root.tar"),
             "--exclude=./usr/lib/modules", "--exclude=./boot"], timeout=300)
        with open(f"{self.root}/etc/hosts", "w", encoding="ascii") as hosts:
            hosts.write(f"127.0.0.1 localhost {ARCHIVE} security.debian.org\n")
        with open(f"{self.root}/etc/apt/sources.list", "w", encoding="ascii") as sources:
            sources.write(f"deb http://{ARCHIVE}/debian bookworm main\n"
                          f"deb http://{ARCHIVE}/debian bookworm-updates main\n")
        for deb in glob.glob(f"{debs}/*.deb"):
            shutil.copy(deb, f"{self.root}/root/")

    def start(self):
        self.spawn(["systemd-nspawn", "--quiet", "--directory", self.root, "--register=no",
                    "--keep-unit", "--resolv-conf=off", "--console=pipe", "--boot",
                    "--capability=all", "--property=DevicePolicy=auto"])
        eventually("systemd in the container", self.is_up, timeout=120)
        return self

    def init(self):
        """The container's first process."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
                    status = file.read()
            except OSError:
                continue
            if f"PPid:\t{self.pid}\n" in status:
                return pid
        return None

    def kill(self):
        """Processes of the container outlive systemd-nspawn, but not their first one."""
        init = self.init()
        if init:
            os.kill(int(init), signal.SIGKILL)
        super().kill()

    def stop(self, timeout=120):
        self.kill()

    def ask(self, command, timeout=3600):
        return subprocess.run(["nsenter", "-t", self.init(), "-m", "-u", "-i", "-p", "-r", "-w", "sh",
                               "-c", f"cd /root && {command}"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False)

    def is_up(self):
        return self.init() and self.ask("systemctl is-system-running", 20).stdout.strip() in (
            "running", "degraded")

    def run(self, command):
        done = self.ask(command)
        print(f"# {command}\n{done.stdout}", flush=True)
        if done.returncode:
            raise Failure(f"{command}: exit status {done.returncode}: {done.stdout[-3000:]}\n"
                          f"{self.ask('journalctl -n 30 --no-pager').stdout}")


def boots(debs):
    with Scratch() as scratch, Relay(scratch, True), Server(scratch, debs) as server:
        server.run("apt-get -qq update")
        for command in commands():
            server.run(command)
        with Machine(scratch, how="san", network=NETWORK, name="m1") as machine:
            machine.wait_for("farblock: iqn.2025-01.org.example:m1 at 192.0.2.1:3260, LUN 0, is sd")
            machine.wait_for("diskless login:")
            server.run("farblock sessions")


def outside(debs):
    if os.geteuid():
        raise Skip("a container needs root")
    for tool in ("systemd-nspawn", "socat"):
        if not shutil.which(tool):
            raise Skip(f"{tool} is not installed (etc/deps.sh boot)")
    with Scratch() as scratch, Relay(scratch, False):
        done = subprocess.run(["unshare", "--net", "sh", "-c", SETUP, "sh", sys.executable,
                               os.path.abspath(__file__), "--inside", debs],
                              env={**os.environ, "FARBLOCK_ARCHIVE": scratch.file("archive.sock")},
                              check=False)
    return done.returncode


def start():
    if len(sys.argv) == 3 and sys.argv[1] == "--inside":
        boots(sys.argv[2])
        return 0
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    return outside(os.path.abspath(sys.argv[1]))


if __name__ == "__main__":
    main(start)
