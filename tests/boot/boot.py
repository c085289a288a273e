#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Boots whole machines from a LUN of farblockd, to the login prompt and through the target's end.

    boot.py NAME...     these scenarios        boot.py --list      their names
    boot.py --needs NAME...  the KIND-KERNEL of prepare.sh that they take
    boot.py --time NAME...   to the login prompt alone, and the seconds from power-on; local-initrd
                        and local-dracut have the same image on a virtio disk
    boot.py             all scenarios
    boot.py NAME --outages system running    the target is killed at these times alone

Needs prepare.sh to have run. FARBLOCK_BOOT_ECHO=1 shows the consoles."""

import argparse
import functools
import sys

import farblock_path  # noqa: F401
from errors import SCENARIOS as ERRORS
from farblock import Failure, Scratch, check, main as run_main
from machine import Machine
from target import Root

# Of the console: what is said when the disk is there, and by the system's systemd.
ATTACHED = r"farblock: .* (is|are) (sd|the disk of|up)|farblock: SRP: "
SYSTEM = r"Welcome to .*Debian GNU/Linux 12 \(bookworm\).{0,6}!"
BROKEN = (r"I/O error|Remounting filesystem read-only|EXT4-fs error|Aborting journal|"
          r"rejecting I/O|Kernel panic|Oops|hung_task|blocked for more than")
# Writes and reads back while the target goes and comes.
COMMAND = """
is_writable() { findmnt -no OPTIONS / | grep -qw rw && touch /var/tmp/writable; }
is_writable || exit 3
echo FIO-BEGINS
fio --name=root --filename=/var/tmp/fio --size=48m --bs=4k --rw=randwrite --ioengine=libaio \\
    --iodepth=8 --direct=1 --verify=crc32c --verify_fatal=1 >/run/fio.log 2>&1 ||
    { tail -n 20 /run/fio.log; exit 4; }
rm /var/tmp/fio
is_writable || exit 5
systemctl --failed --no-legend | grep . && exit 6
echo POWERING-OFF
"""
# The process that holds the root disk is killed three times under fio; each time another one follows,
# and a write gets through. Meanwhile no program can be read from the disk: the shell does it alone.
KILLS = """
holder() { [[ $(</run/farblock-initiator/root.json) =~ \\"pid\\":\\ *([0-9]+) ]] && echo "${BASH_REMATCH[1]}"; }
exec 9<> <(:)
killed() {
    old=$(holder)
    kill -9 "$old" || exit 7
    for ((i = 0; i < 600; i++)); do
        new=$(holder)
        [ -z "$new" ] || [ "$new" = "$old" ] || return 0
        read -rt 0.1 -u 9
    done
    echo "NO HOLDER AFTER $old:"
    echo "$(</run/farblock-initiator/root.log)"
    exit 10
}
fio --name=root --filename=/var/tmp/fio --size=96m --bs=4k --rw=randwrite --ioengine=libaio \\
    --iodepth=8 --direct=1 --verify=crc32c --verify_fatal=1 >/run/fio.log 2>&1 &
fio=$!
for _ in 1 2 3; do
    killed
    echo "HOLDER $old REPLACED BY $new"
    dd if=/dev/zero of=/var/tmp/probe bs=4k count=1 oflag=direct conv=fsync status=none || exit 8
done
kill -0 "$fio" || { tail -n 20 /run/fio.log; exit 9; }
wait "$fio" || { tail -n 20 /run/fio.log; exit 4; }
findmnt -no OPTIONS / | grep -qw rw || exit 5
systemctl --failed --no-legend | grep . && exit 6
exit 0
"""


class Way:
    """How a machine comes to its root disk. words(root): of the kernel."""

    def __init__(self, pair, how, words, **target):
        self.pair, self.how, self.words, self.target = pair, how, words, target

    def root(self, scratch):
        return Root(scratch, **self.target)

    def machine(self, scratch, root, **keys):
        ipxe = {"san": "sanboot", "ipxe": "sanhook"}.get(self.how)
        return Machine(scratch, pair=self.pair, how=self.how, words=self.words(root),
                       ipxe=root.ipxe(ipxe) if ipxe else "", **keys)


def table(word):
    return lambda root: f"farblock.root={word} farblock.rdma=siw" if word.startswith(
        "iser") else f"farblock.root={word}"


def by_words(scheme, ip="dhcp"):
    rdma = "farblock.rdma=siw " if scheme == "iser" else ""
    return lambda root: f"{rdma}farblock.root={scheme}:{root.place} ip={ip}"


def srp(root):
    return ("farblock.rdma=siw ip=dhcp farblock.root=srp:"
            + root.target.add_target().replace("127.0.0.1", "10.0.2.2"))


def user(scheme, via, ip="dhcp"):
    return lambda root: f"farblock.root=user:{root.url(scheme)} farblock.via={via} ip={ip}"


INITRD, DRACUT = "initrd-6.12", "dracut-6.12"
WAYS = {
    "tcp-words-initrd": Way(INITRD, "direct", by_words("iscsi")),
    "tcp-words-dracut": Way(DRACUT, "direct", by_words("iscsi")),
    "tcp-embedded-dracut": Way(DRACUT, "embedded", by_words("iscsi")),
    "tcp-san-initrd": Way(INITRD, "san", table("ibft")),
    "tcp-san-dracut": Way(DRACUT, "san", table("ibft")),
    "tcp-chap-initrd": Way(INITRD, "san", table("ibft"), chap="one-way"),
    "tcp-chap-dracut": Way(DRACUT, "san", table("ibft"), chap="one-way"),
    "tcp-mutual-initrd": Way(INITRD, "ipxe", table("ibft"), chap="mutual"),
    "tcp-mutual-dracut": Way(DRACUT, "ipxe", table("ibft"), chap="mutual"),
    "tcp-ipv6-initrd": Way(INITRD, "san", by_words("iscsi", ip="off"), is_6=True),
    "tcp-ipv6-dracut": Way(DRACUT, "san", by_words("iscsi", ip="auto6"), is_6=True),
    "user-ipv6-initrd": Way(INITRD, "direct", user("iscsi", "ublk", ip="off"), is_6=True),
    "iser-chap-initrd": Way(INITRD, "san", table("iser:ibft"), chap="one-way"),
    "iser-chap-dracut": Way(DRACUT, "san", table("iser:ibft"), chap="one-way"),
    "iser-words-initrd": Way(INITRD, "direct", by_words("iser"), chap="one-way"),
    "srp-initrd": Way(INITRD, "direct", srp, is_srp=True),
    "srp-dracut": Way(DRACUT, "direct", srp, is_srp=True),
    "user-tcp-nbd-initrd": Way(INITRD, "direct", user("iscsi", "nbd")),
    "user-tcp-ublk-initrd": Way(INITRD, "direct", user("iscsi", "ublk")),
    "user-iser-nbd-initrd": Way(INITRD, "direct", user("iser", "nbd")),
    "user-iser-ublk-initrd": Way(INITRD, "direct", user("iser", "ublk")),
    "user-tcp-nbd-dracut": Way(DRACUT, "direct", user("iscsi", "nbd")),
    "user-tcp-ublk-dracut": Way(DRACUT, "direct", user("iscsi", "ublk")),
    "user-iser-nbd-dracut": Way(DRACUT, "direct", user("iser", "nbd")),
    "user-iser-ublk-dracut": Way(DRACUT, "direct", user("iser", "ublk")),
    "user-chap-initrd": Way(INITRD, "direct", user("iscsi", "ublk"), chap="one-way"),
    "user-ibft-chap-initrd": Way(INITRD, "san", table("user:ibft"), chap="one-way"),
}


# When the target is killed: what the console says then.
OUTAGES = {"initramfs": ATTACHED, "system": SYSTEM, "running": "FIO-BEGINS",
           "shutdown": "POWERING-OFF"}


def ends_well(machine, broken=BROKEN):
    """It powers off after its command has succeeded, and nothing on the console is broken."""
    machine.wait_end()
    status = machine.command_status()
    if status:
        machine.fail(f"the command ended with status {status}")
    said = machine.has(broken)
    if said:
        machine.fail(f"said {said}")


def runs(name, way, command, outage_times=()):
    """Boots, runs a command and powers off; nothing is lost, nothing becomes read-only."""
    with Scratch() as scratch, way.root(scratch) as root:
        events = [(at, root.outage) for key, at in OUTAGES.items() if key in outage_times]
        with way.machine(scratch, root, command=command, events=events, name=name) as machine:
            ends_well(machine)
        root.check_clean()


def outages(name, times):
    """The target is away at these times: in the initramfs, between that and the system, under fio, at
    shutdown."""
    runs(name, WAYS[name], COMMAND, times)


# NAME-killed of a way: its process is killed, not its target.
KILLED = {f"{name}-killed": functools.partial(runs, f"{name}-killed", WAYS[name], KILLS)
          for name in ("user-tcp-ublk-initrd", "user-tcp-nbd-initrd", "user-tcp-ublk-dracut")}


CALLS = KILLED | ERRORS

# The same image on a disk of the machine's own, to compare with: for --time alone.
LOCAL = {f"local-{kind}": Way(pair, "local", lambda root: "")
         for kind, pair in (("initrd", INITRD), ("dracut", DRACUT))}


def prompt(name, way):
    """Seconds from power-on to the root file system and to the login prompt."""
    with Scratch() as scratch, way.root(scratch) as root:
        disk = None
        if way.how == "local":
            disk = root.path
            root.daemon.stop()  # it locks its files
        with way.machine(scratch, root, name=name, disk=disk) as machine:
            mounted = machine.wait_for(r"EXT4-fs \(.*mounted filesystem")
            return mounted, machine.wait_for("farroot login:")


def chosen(names, every):
    for name in names:
        if name not in every:
            raise Failure(f"{name}: no such scenario (--list)")
    return names or every


def each(names, calls):
    """A line for each scenario, which is a function without arguments."""
    failed = 0
    for name in chosen(names, [*calls]):
        try:
            calls[name]()
            print(f"{name}: passed", flush=True)
        except Failure as why:
            failed += 1
            print(f"{name}: failed: {why}", flush=True)
    check(not failed, f"{failed} failed")
    return 0


def needs(names):
    """Of prepare.sh."""
    ways = WAYS | LOCAL
    pairs = {ways[name].pair if name in ways else DRACUT if "dracut" in name else INITRD
             for name in chosen(names, [*ways, *CALLS])}
    print("\n".join(sorted(pairs)))
    return 0


def measure(names):
    ways = LOCAL | WAYS
    for name in chosen(names, [*ways]):
        mounted, login = prompt(name, ways[name])
        print(f"{name}: root mounted after {mounted:.0f} s, login prompt after {login:.0f} s",
              flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--needs", action="store_true")
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--outages", nargs="*", choices=OUTAGES, default=list(OUTAGES))
    options = parser.parse_args()
    if options.list:
        print("\n".join([*WAYS, *CALLS]))
        return 0
    if options.needs:
        return needs(options.names)
    if options.time:
        return measure(options.names)
    ways = {name: functools.partial(outages, name, options.outages) for name in WAYS}
    return each(options.names, ways | CALLS)


if __name__ == "__main__":
    sys.exit(run_main(main))
