#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Someone has taken over farblockd's user on a machine that serves and attaches a disk. What it may
write, outside of the service's sandbox and inside, is its own files; and while these are links, FIFOs and
sockets of its own, root's programs, a restart, an upgrade and a purge change nothing else, tell it
nothing, and end."""

import json
import os
import socket
import threading

from machine import URL, Machine, check_needs, package, packages, with_version
from farblock import Scratch, check, main

AS_USER = "setpriv --reuid farblock --regid farblock --clear-groups --inh-caps=-all --no-new-privs"
OWN = ["/etc/farblock", "/var/lib/farblock", "/run/farblock"]
# Whatever each user may write; sockets of the system itself are none of ours.
ALL = ["/tmp", "/var/tmp", "/run/lock"]
SYSTEM = ("/run/dbus/", "/run/systemd/", "/run/udev/", "/run/host/", "/tmp/.")
SECRET = "what only root may know"
# In its folders: what farblockd has there, and what earlier versions of either program had there.
NAMES = ["attach", "attach.d", "login.d", "secrets", "backup", "saveconfig.json", "saveconfig.json.lock",
         "lock", "server", "data.img", "control.sock", "control.sock.lock", "iscsid.pid", "iscsid.etc",
         "iscsid.log", "resolv.conf", "root-attached"]
PLANTS = {
    "symbolic link to a file": "ln -s /etc/canary",
    "symbolic link to a folder": "ln -s /root/canaries",
    "hard link": "ln /var/lib/farblock/../canary",
    "FIFO": "mkfifo",
}
ROOT = ["systemctl restart farblockd", "farblock ls", "farblock saveconfig", "farblock sessions",
        "farblock doctor", "farblock-initiator attached", "farblock-initiator sessions",
        "farblock-initiator attach --all", "farblock-initiator login --all",
        f"farblock-initiator inquiry {URL}", "farblock-initiator detach none",
        "systemd-tmpfiles --create", "systemctl reload farblockd", "systemctl stop farblockd"]


def may_write(machine, enter=""):
    found = machine(f"{enter} {AS_USER} find / /run /etc /var \\( -path /proc -o -path /sys -o -path /dev "
                    "\\) -prune -o ! -type l -writable -print 2>/dev/null | sort -u", status=None)
    return [path for path in found.splitlines() if not path.startswith(SYSTEM)]


def nothing_but_its_own_can_be_written(machine):
    pid = machine("systemctl show -P MainPID farblockd")
    for enter in ("", f"nsenter -t {pid} -m"):
        others = [path for path in may_write(machine, enter) if path not in ALL and not any(
            path == own or path.startswith(own + "/") for own in OWN)]
        check(not others, f"{enter or 'outside of the sandbox'}: farblock may write {others}")


def canaries(machine):
    """Files of root that the plants lead to, with all that is known of them."""
    return machine("for f in /etc/canary /root/canaries /root/canaries/* /var/lib/canary "
                   "/etc/farblock-initiator /etc/farblock-initiator/* /etc/farblock-initiator/*/*; do\n"
                   "stat -c '%n %u %g %a %F %h' $f; [ -d $f ] || sha256sum <$f; done\n"
                   "ls -A /root /root/canaries /etc/cron.d /etc/systemd/system", status=None)


def make_canaries(machine):
    machine(f"umask 077; mkdir -p /root/canaries/attach.d; echo '{SECRET}' | tee /etc/canary "
            "/root/canaries/saveconfig.json /var/lib/canary >/root/canaries/attach.d/data.conf")


def plant(machine, how):
    """All of its names become what leads elsewhere; what was there goes aside."""
    for folder in OWN:
        machine(f"cd {folder} && {AS_USER} sh -c 'for n in {' '.join(NAMES)}; do "
                f"[ ! -e $n -a ! -L $n ] || mv $n aside-$n; {how} $n; done; :' 2>&1", status=None)


def take_back(machine):
    for folder in OWN:
        machine(f"cd {folder} && for n in {' '.join(NAMES)}; do if [ -L $n -o -p $n ]; then rm $n; fi; "
                "if [ -e aside-$n ]; then rm -rf $n; mv aside-$n $n; fi; done", status=None)


def entries_of_the_user_are_not_attached(machine):
    """Entries that would have root attach what the user serves."""
    machine(f"{AS_USER} sh -c 'for d in {' '.join(OWN)}; do rm -rf $d/attach.d $d/login.d; "
            f"mkdir $d/attach.d $d/login.d; printf \"url = {URL}\\nvia = socket\\n\" "
            "| tee $d/attach.d/evil.conf >$d/login.d/evil.conf; done'", status=None)
    for words in ("attach --all", "attach evil", "login --all"):
        machine(f"timeout 60 farblock-initiator {words}", status=None)
    check("evil" not in machine("farblock-initiator attached"), "an entry of the user's was attached")


class Impostor:
    """Listens where root's shell connects to, and asks it to write files."""

    def __init__(self, machine):
        path = f"/proc/{machine.leader}/root/run/farblock/control.sock"
        if os.path.lexists(path):
            os.unlink(path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(16)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
                with client, client.makefile("rb") as lines:
                    for line in lines:
                        answer = {"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": {
                            "messages": [], "data": [], "file": {"name": "/etc/cron.d/evil",
                                                                 "text": "* * * * * root id\n"}}}
                        client.sendall(json.dumps(answer).encode() + b"\n")
            except (OSError, ValueError):
                pass


def roots_programs_end(machine, what):
    for words in ROOT:
        said = machine(f"timeout 100 {words} </dev/null 2>&1 || [ $? != 124 ] || echo HANGS", status=None)
        check("HANGS" not in said, f"{what}: {words} does not end: {said}")
        check(SECRET not in said, f"{what}: {words} printed root's secret: {said}")


def learnt(machine):
    """What of root's secret is where the user can read it."""
    return machine(f"{AS_USER} grep -rls '{SECRET}' {' '.join(OWN)} /tmp /run", status=None)


def attack(machine, what, act):
    before = canaries(machine)
    act()
    roots_programs_end(machine, what)
    check(not learnt(machine), f"{what}: the user can read root's secret: {learnt(machine)}")
    check(canaries(machine) == before, f"{what}: root's files were\n{before}\nand are\n{canaries(machine)}")
    take_back(machine)
    machine("systemctl reset-failed farblockd\nsystemctl start farblockd")


def run_all():
    check_needs()
    with Scratch() as scratch, Machine(scratch) as machine:
        folder = packages(scratch)
        target, initiator = package(folder, "farblock"), package(folder, "farblock-initiator")
        machine.boot()
        machine.install(target, initiator)
        machine.serve()
        machine.attach()
        make_canaries(machine)
        nothing_but_its_own_can_be_written(machine)
        entries_of_the_user_are_not_attached(machine)
        for what, how in PLANTS.items():
            attack(machine, what, lambda h=how: plant(machine, h))
        attack(machine, "impostor", lambda: Impostor(machine))
        before = canaries(machine)
        plant(machine, PLANTS["symbolic link to a file"])
        machine.install(with_version(target, "9.0", scratch), with_version(initiator, "9.1", scratch))
        check(not learnt(machine), "an upgrade: the user can read root's secret")
        take_back(machine)
        machine("systemctl restart farblockd\numount /mnt\nfarblock-initiator detach data")
        plant(machine, PLANTS["symbolic link to a folder"])
        machine("dpkg --purge farblock")
        check(canaries(machine) == before, f"an upgrade and a purge: {before}\nbecame\n{canaries(machine)}")


main(run_all)
