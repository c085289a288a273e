#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The shell library of boot/lib without a machine: what it makes of a kernel command line and of
the firmware's table, in dash and in busybox's shell, and that no text in them is executed or
expanded. The lines, the table and the console are files of the test.

    boot_words.py
"""

import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from farblock import HANG, Scratch, Skip, check, main  # noqa: E402

LIB = os.path.join(os.path.dirname(os.path.dirname(HERE)), "boot", "lib")
SHELLS = (["dash"], ["busybox", "sh"])
IQN = "iqn.2025-01.org.example:disks"
SRP = "id_ext=0001,ioc_guid=0002,dest=192.0.2.1:3260"
SRP2 = "id_ext=0001,ioc_guid=0002,dest=192.0.2.2:3260"
URL, URL2 = f"iscsi://192.0.2.1/{IQN}/0", f"srp://192.0.2.2/{IQN}/0"
FORMS = "must be ibft, iscsi:, iser: or user:ibft, iscsi:ADDRESS:::LUN:IQN"

# Words, what comes of them, and what the console says: one text for each line.
WORDS_SAY = "printf '%s\\n' \"$fb_kind|$fb_specs|$fb_via|$fb_rdma|$fb_name|$fb_timeout\""
WORDS = [
    ("quiet ro console=ttyS0", "|||||180", []),
    ("farblock.root=ibft", "iscsi|ibft||||180", []),
    ("farblock.root=iscsi:ibft", "iscsi|ibft||||180", []),
    ("farblock.root=iser:ibft", "iser|ibft||||180", []),
    ("farblock.root=user:ibft", "user|ibft||||180", []),
    (f"farblock.root=iscsi:192.0.2.1::::{IQN} ro", f"iscsi|192.0.2.1::::{IQN}||||180", []),
    (f"farblock.root=srp:{SRP} farblock.root=srp:{SRP2}", f"srp|{SRP} {SRP2}||||180", []),
    (f"farblock.root=user:{URL} farblock.root=user:{URL2}", f"user|{URL} {URL2}||||180", []),
    (f"farblock.root=user:{URL} farblock.root=user:{URL}", f"user|{URL}||||180", []),
    ("farblock.root=ibft farblock.root=ibft", "iscsi|ibft||||180", []),
    (f"farblock.root=srp:{SRP} farblock.root=user:{URL}", f"srp|{SRP}||||180",
     ["all paths are of one kind, the first is srp: ignored"]),
    (f"farblock.root=iscsi:192.0.2.1::::{IQN} farblock.root=iscsi:192.0.2.2::::{IQN}",
     f"iscsi|192.0.2.1::::{IQN}||||180", [f"192.0.2.2::::{IQN}: iscsi has one path"]),
    (f"farblock.root=iser:192.0.2.1::::{IQN} farblock.root=ibft",
     f"iser|192.0.2.1::::{IQN}||||180", ["farblock.root=iscsi:ibft: iser has one path"]),
    (f"farblock.root=user:ibft farblock.root=user:{URL}", "user|ibft||||180",
     ["the firmware's table has no second path: ignored"]),
    (f"farblock.root=user:{URL} farblock.root=user:ibft", f"user|{URL}||||180",
     ["the firmware's table has no second path: ignored"]),
    (" ".join(f"farblock.root=user:iscsi://192.0.2.{n}/x/0" for n in range(1, 19)),
     "user|" + " ".join(f"iscsi://192.0.2.{n}/x/0" for n in range(1, 17)) + "||||180",
     ["iscsi://192.0.2.17/x/0: more than 16 paths: ignored", "iscsi://192.0.2.18/x/0: more than 16 paths"]),
    ("farblock.root=", "|||||180", [f"farblock.root=: {FORMS}"]),
    ("farblock.root=nfs", "|||||180", [f"farblock.root=nfs: {FORMS}"]),
    ("farblock.root=nvme:192.0.2.1", "|||||180", [FORMS]),
    ("farblock.root=iscsi:", "|||||180", [FORMS]),
    ("farblock.root=srp:ibft", "|||||180", [FORMS]),
    ("farblock.root=user:192.0.2.1", "|||||180", [FORMS]),
    ("farblock.root=user:--help", "|||||180", [FORMS]),
    (f"farblock.root=nvme:1 farblock.root=user:{URL}", f"user|{URL}||||180", [FORMS]),
    ("farblock.via=nbd", "||nbd|||180", []),
    ("farblock.via=ublk", "||ublk|||180", []),
    ("farblock.via=fuse", "|||||180", ["farblock.via=fuse: must be ublk or nbd"]),
    ("farblock.rdma=siw:eth1", "|||siw:eth1||180", []),
    ("farblock.initiator=iqn.2025-01.org.example:a=b", "||||iqn.2025-01.org.example:a=b|180", []),
    ("farblock.timeout=forever", "|||||forever", []),
    ("farblock.timeout=30", "|||||30", []),
    ("farblock.timeout=0", "|||||0", []),
    ("farblock.timeout=0089", "|||||89", []),
    ("farblock.timeout=99999999", "|||||99999999", []),
    ("farblock.timeout=100000000", "|||||180", ["must be seconds, up to 8 digits, or forever: 180"]),
    ("farblock.timeout=", "|||||180", ["farblock.timeout=: must be seconds"]),
    ("farblock.timeout=-1", "|||||180", ["farblock.timeout=-1: must be seconds"]),
    ("farblock.timeout=3m", "|||||180", ["farblock.timeout=3m: must be seconds"]),
    ("farblock.timeout=60 farblock.timeout=1h", "|||||180", ["farblock.timeout=1h: must be"]),
    ("farblock.roots=ibft", "|||||180", ["farblock.roots=ibft: no such word: root, via, rdma"]),
    ("farblock.root=nfs\x1b[2J", "|||||180", ["farblock.root=nfs?[2J: must be"]),
]

# What stands after iscsi: or iser:, and what comes of it; None: it is refused.
ISCSI_SAY = ("fb_iscsi_parse \"$fb_specs\" && "
             "printf '%s\\n' \"$address|$port|$lun|$iqn\" || echo refused")
ISCSI = [
    (f"192.0.2.1::::{IQN}", f"192.0.2.1|||{IQN}"),
    (f"192.0.2.1:6:3260:1:{IQN}", f"192.0.2.1|3260|1|{IQN}"),
    (f"192.0.2.1:::0:{IQN}", f"192.0.2.1||0|{IQN}"),
    (f"disks.example.org:::16383:{IQN}", f"disks.example.org||16383|{IQN}"),
    (f"[2001:db8::1]::3261:2:{IQN}", f"2001:db8::1|3261|2|{IQN}"),
    (f"[fe80::1%eth0]::::{IQN}", f"fe80::1%eth0|||{IQN}"),
    ("192.0.2.1::::eui.0123456789abcdef", "192.0.2.1|||eui.0123456789abcdef"),
    (f"web:pass@192.0.2.1::::{IQN}", None), (f"web:pass@[2001:db8::1]::::{IQN}", None),
    ("192.0.2.1", None), ("192.0.2.1:", None), ("192.0.2.1::::", None), (f"192.0.2.1:::{IQN}", None),
    (f"192.0.2.1:{IQN}", None), (f"::::{IQN}", None), (IQN, None), (f"[]::::{IQN}", None),
    (f"[2001:db8::1::::{IQN}", None), (f"[2001:db8::1]:{IQN}", None), (f"2001:db8::1::::{IQN}", None),
    (f"[2001:db8::1]3260::::{IQN}", None), ("192.0.2.1::::disks", None), ("192.0.2.1::::iqn.", None),
    ("192.0.2.1::::iqn.2025-01.org.example:../../etc", None), (f"a/b::::{IQN}", None),
    (f"web@192.0.2.1::::{IQN}", None), (f":pass@192.0.2.1::::{IQN}", None),
    (f"web:@192.0.2.1::::{IQN}", None), (f"192.0.2.1:17:::{IQN}", None),
    (f"192.0.2.1::65536::{IQN}", None), (f"192.0.2.1::x::{IQN}", None),
    (f"192.0.2.1:::-1:{IQN}", None), (f"192.0.2.1:::16384:{IQN}", None),
    (f"192.0.2.1:::010:{IQN}", None), (f"192.0.2.1:::$(>HIT):{IQN}", None),
]

# The LUN as the kernel shows that of the firmware's table; None: it is refused.
LUNS = [
    ("00000000", 0), ("01000000", 1), ("0a000000", 10), ("0f000000", 15), ("010000000", 16),
    ("0ff000000", 255), ("410000000", 256), ("41f000000", 271), ("4110000000", 272),
    ("7fff000000", 16383), ("405000000", 5), ("0001000000000000", 1), ("0010000000000000", 16),
    ("4100000000000000", 256), ("", None), ("0", None), ("01", None), ("01000001", None),
    ("x1000000", None), ("0$(>HIT)000000", None), ("a[$(>HIT)]000000", None), ("11000000", None),
]

# Words, and the address of the target that they name.
ADDRESSES = [
    ("farblock.root=ibft", "192.0.2.9"), ("farblock.root=user:ibft", "192.0.2.9"),
    (f"farblock.root=iscsi:192.0.2.1::::{IQN}", "192.0.2.1"),
    (f"farblock.root=iser:[2001:db8::1]::::{IQN}", "2001:db8::1"),
    (f"farblock.root=srp:{SRP} farblock.root=srp:{SRP2}", "192.0.2.1"),
    ("farblock.root=srp:id_ext=1,dest=[2001:db8::1]:5000,comp_vector=1", "2001:db8::1"),
    ("farblock.root=srp:id_ext=1,dgid=fe80,pkey=ffff,service_id=1", ""),
    (f"farblock.root=user:{URL}", "192.0.2.1"),
    (f"farblock.root=user:iser://web@192.0.2.1:3261/{IQN}/0", "192.0.2.1"),
    (f"farblock.root=user:iscsi://[2001:db8::1]/{IQN}/0", "2001:db8::1"),
    (f"farblock.root=user:iscsi://web@[2001:db8::1]:3260/{IQN}/0", "2001:db8::1"),
    (f"farblock.root=user:{URL} farblock.root=user:iscsi://web@192.0.2.2/{IQN}/1", "192.0.2.1"),
]

TEXTS = [
    "plain", "two  words ", "it's", "''", "'; >HIT; '", '"$(>HIT)"', "$HOME `>HIT` ${x}", "a\\nb\\c\\0",
    "\\", "*", "[a-z]*", "-n", "-e x", "#", "&& >HIT", "~",
]

HOSTILE = ["$(>HIT)", "`>HIT`", ";>HIT;", "'>HIT'", '">HIT"', "&>HIT&", "|>HIT|", "${x:=>HIT}", "*",
           "?IT", "[a-z]*", "~", "\\"]


class Machine:
    """What a shell of the initramfs finds, in a folder of the test."""

    def __init__(self, scratch, shell):
        self.scratch, self.shell = scratch, shell
        self.folder = os.path.join(scratch.path, "-".join(shell))
        self.place = os.path.join(self.folder, "place")
        for part in ("place", "run", "ibft/target0", "bin"):
            os.makedirs(os.path.join(self.folder, part))
        self.write("ibft/target0/flags", "3\n")
        self.write("ibft/target0/ip-addr", "192.0.2.9\n")
        self.write("ibft/target0/target-name", IQN + "\n")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="latin-1") as out:
            out.write(text)

    def run(self, script, line="", **more):
        """What the script says after the library has read the line, and what the console shows."""
        self.write("cmdline", line + "\n")
        self.write("console", "")
        env = {"PATH": f"{self.path('bin')}:{os.environ['PATH']}", "HOME": "/root", "fb_here": LIB,
               "fb_cmdline": self.path("cmdline"), "fb_console": self.path("console"),
               "fb_ibft": self.path("ibft"), "fb_run": self.path("run"), "fb_iscsid_conf": self.path("iscsid.conf"), **more}
        done = subprocess.run([*self.shell, "-c", f". {LIB}/root.sh\nfb_words\n{script}"], env=env,
                              cwd=self.place, text=True, stdout=subprocess.PIPE, timeout=HANG,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
        with open(self.path("console"), encoding="latin-1") as console:
            return done.stdout.removesuffix("\n"), console.read().splitlines()

    def expect(self, what, found, expected):
        check(found == expected, f"{self.shell[0]}: {what}: {found!r}, not {expected!r}")

    def unharmed(self, what, files=()):
        self.expect(f"{what}: files made", sorted(os.listdir(self.place)), sorted(files))


def words_are_read(machine):
    for line, values, said in WORDS:
        found, console = machine.run(WORDS_SAY, line)
        machine.expect(line, found, values)
        check(len(console) == len(said) and all(a in b for a, b in zip(said, console)),
              f"{machine.shell[0]}: {line}: the console says {console}, not {said}")
        check(all(b.startswith("farblock: ") for b in console), f"{console}: who speaks?")


def iscsi_words_are_parsed(machine):
    for text, values in ISCSI:
        found, _ = machine.run(ISCSI_SAY, f"farblock.root=iscsi:{text}")
        machine.expect(text, found, values or "refused")
    # A wrong one is named with the right form, once.
    _, console = machine.run("fb_prepare; fb_prepare", "farblock.root=iser:192.0.2.1")
    machine.expect("said once", len(console), 1)
    check("must be iser:ADDRESS:[6]:[PORT]:[LUN]:IQN" in console[0], console[0])
    _, console = machine.run("fb_prepare; fb_prepare", "farblock.root=nfs")
    check(len(console) == 2 and "farblock.root= is missing or wrong" in console[1], str(console))


def luns_of_the_table_are_read(machine):
    for text, lun in LUNS:
        machine.write("ibft/target0/lun", text + "\n")
        found, console = machine.run("fb_ibft_choose; fb_ibft_target && echo \"$lun $iqn\" || echo refused")
        machine.expect(f"LUN {text!r}", found, "refused" if lun is None else f"{lun} {IQN}")
        machine.expect(f"LUN {text!r} is named", [f"LUN '{text}'" in line for line in console],
                       [True] if lun is None else [])


def credentials_of_the_table_are_read(machine):
    machine.write("ibft/target0/lun", "01000000\n")
    machine.write("ibft/target0/port", "3260\n")
    machine.write("ibft/target0/chap-name", "we b\n")
    machine.write("ibft/target0/chap-secret", "$(>HIT)*\\n'\"\n")
    os.makedirs(machine.path("ibft/initiator"), exist_ok=True)
    machine.write("ibft/initiator/initiator-name", "iqn.2025-01.org.example:me\n")
    script = "fb_ibft_choose; fb_ibft_target; printf '%s\\n' \"$address|$port|$user|$secret|$fb_name\""
    for line, name in (("", "me"), ("farblock.initiator=iqn.2025-01.org.example:other", "other")):
        found, _ = machine.run(script, line)
        machine.expect("the table", found, "192.0.2.9|3260|we b|$(>HIT)*\\n'\"|"
                       f"iqn.2025-01.org.example:{name}")


def the_target_that_was_booted_from_is_chosen(machine):
    """By its flags, with its own NIC and the servers of that."""
    tables = [  # flags of the targets by number, and the one that is taken
        ({"0": "0", "1": "3"}, "target1"), ({"0": "1", "1": "3"}, "target1"),
        ({"0": "1", "1": "1"}, "target0"), ({"0": "3", "1": "3"}, "target0"),
        ({"0": "0", "1": "1"}, "target1"), ({"0": "0", "1": "2"}, "none"),
        ({"0": "$(>HIT)", "1": "x"}, "none"), ({"1": "3"}, "target1")]
    for flags, taken in tables:
        shutil.rmtree(machine.path("table"), ignore_errors=True)
        for number, value in flags.items():
            os.makedirs(machine.path(f"table/target{number}"))
            machine.write(f"table/target{number}/flags", value + "\n")
        found, _ = machine.run("fb_ibft_choose && echo $fb_ibft_at || echo none",
                               fb_ibft=machine.path("table"))
        machine.expect(f"table {flags}", found, taken)
    machine.write("table/target1/nic-assoc", "7\n")
    for number, index in (("0", "0"), ("1", "7")):
        os.makedirs(machine.path(f"table/ethernet{number}"))
        machine.write(f"table/ethernet{number}/index", index + "\n")
        machine.write(f"table/ethernet{number}/primary-dns", f"192.0.2.{number}\n")
        machine.write(f"table/ethernet{number}/secondary-dns", "0.0.0.0\n")
    found, _ = machine.run("fb_ibft_choose; fb_ibft_nic; fb_ibft_resolv_conf",
                           fb_ibft=machine.path("table"))
    machine.expect("NIC", found, "ethernet1\nnameserver 192.0.2.1")


def what_waiting_does_not_mend_ends_at_once(machine):
    """Words that are wrong give the rescue shell without a second attempt."""
    for line in ("farblock.root=nfs", "farblock.root=iser:192.0.2.1", 'farblock.root="ibft"',
                 f"farblock.root=iser:127.0.0.1::::{IQN} farblock.rdma=roce"):
        found, _ = machine.run("sleep() { echo slept; }\nfb_give_up() { echo \"gave up: $*\"; }\n"
                               "fb_wait_link() { :; }\nfb_network() { :; }\n"
                               "fb_root", line)
        check(found.startswith("gave up: no root disk: ") and "slept" not in found, found)


def a_name_that_is_a_path_is_refused(machine):
    """Of the table: iscsiadm makes files of address and name. A port of 0 is the default."""
    machine.write("ibft/target0/lun", "01000000\n")
    script = "fb_ibft_choose; fb_ibft_target && echo \"$port|$iqn\" || echo refused"
    for name in (IQN + "/../../etc", "../" + IQN, "..", "web@" + IQN, "disks", ""):
        machine.write("ibft/target0/target-name", name + "\n")
        found, console = machine.run(script)
        machine.expect(f"name {name!r}", found, "refused")
        check(f"target '{name}' at '192.0.2.9'" in console[0], str(console))
    machine.write("ibft/target0/target-name", IQN + "\n")
    machine.write("ibft/target0/port", "0\n")
    machine.expect("port 0", machine.run(script)[0], f"|{IQN}")


def the_address_of_a_missing_interface_is_named(machine):
    os.makedirs(machine.path("ibft/ethernet0"), exist_ok=True)
    machine.write("ibft/ethernet0/mac", "52:54:00:12:34:57\n")
    _, console = machine.run("fb_ibft_choose; fb_ibft_network")
    check("no interface has the address 52:54:00:12:34:57 of" in console[0], str(console))
    shutil.rmtree(machine.path("ibft/ethernet0"))


def warnings_of_the_network_are_on_the_console(machine):
    """Of paths that are skipped, but no address that is set."""
    os.makedirs(machine.path("ibft/ethernet0"), exist_ok=True)
    machine.write("ibft/ethernet0/mac", "52:54:00:12:34:57\n")
    machine.write("bin/farblock-initiator", "#!/bin/sh\nfor line in 'e0: 192.0.2.2/24' 'warning: skipped: e1: no link'"
                  " 'warning: skipped: e2: no link'; do echo \"farblock-initiator: $line\" >&2; done\n")
    os.chmod(machine.path("bin/farblock-initiator"), 0o755)
    found, console = machine.run("fb_wait_link() { :; }\nfb_ibft_interface() { echo e0; }\nip() { :; }\n"
                                 "fb_ibft_choose; fb_ibft_network && echo \"$fb_has_network\"")
    machine.expect("network", found, "yes")
    machine.expect("console", console, [f"farblock: warning: skipped: {e}: no link" for e in ("e1", "e2")])
    shutil.rmtree(machine.path("ibft/ethernet0"))


def links_of_all_nics_of_the_table_come_up(machine):
    """While that of the booted one is waited for."""
    for number in ("0", "1"):
        os.makedirs(machine.path(f"ibft/ethernet{number}"), exist_ok=True)
        machine.write(f"ibft/ethernet{number}/index", number + "\n")
    machine.write("ibft/target0/nic-assoc", "0\n")
    found, _ = machine.run("fb_ibft_interface() { echo \"e${1#ethernet}\"; }\nip() { echo \"$*\"; }\n"
                           "fb_wait_link() { echo \"wait $1\"; return 1; }\n"
                           "fb_ibft_choose; fb_ibft_network")
    machine.expect("links", found, "link set e0 up\nlink set e1 up\nwait e0")
    for name in ("ethernet0", "ethernet1"):
        shutil.rmtree(machine.path(f"ibft/{name}"))
    os.unlink(machine.path("ibft/target0/nic-assoc"))


# An iscsid that runs, but opens no socket. What waits for that waits until it has opened its log.
NO_SOCKET = ("fb_iscsid_alone() { :; }\ngrep() { return 1; }\n"
             "sleep() { until [ -e \"$fb_run/iscsid.log\" ]; do :; done; }\n"
             "unshare() { exec tail -f /dev/null; }\n")


def an_iscsid_without_a_socket_ends(machine):
    """The next attempt would take it for another one."""
    found, console = machine.run(NO_SOCKET + "fb_iscsid_start || echo failed\n"
                                 "kill -0 $pid 2>/dev/null && echo runs\n"
                                 "[ ! -e \"$fb_run/iscsid.pid\" ] || echo file")
    machine.expect("iscsid", found, "failed")
    check("iscsid does not start" in console[0], str(console))
    os.unlink(machine.path("run/iscsid.log"))


def a_dead_iscsid_is_not_taken_for_one_that_runs(machine):
    script = "fb_iscsid_runs && echo runs || echo not; [ ! -e \"$fb_run/iscsid.pid\" ] || echo file"
    machine.expect("none", machine.run(script)[0], "not")
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    for text, found in ((f"{gone.pid}\n", "not"), ("", "not"), ("x\n", "not"),
                        (f"{os.getpid()}\n", "runs\nfile")):
        machine.write("run/iscsid.pid", text)
        machine.expect(f"iscsid.pid {text!r}", machine.run(script)[0], found)
    os.unlink(machine.path("run/iscsid.pid"))


def the_settings_of_iscsid_are_secret(machine):
    machine.write("iscsid.conf", "node.session.auth.password = secret\n")
    path = machine.path("settings")
    machine.run("umask 022; fb_iscsid_conf_into \"$to\"", to=path)
    with open(path, encoding="utf-8") as kept:
        text = kept.read()
    check(text.startswith("node.startup") and
          text.endswith("retry_max = 1\nnode.session.auth.password = secret\n"), text)
    machine.expect("mode", os.stat(path).st_mode & 0o777, 0o600)
    os.unlink(machine.path("iscsid.conf"))


def an_iscsid_without_chap_has_its_settings(machine):
    """Most images have no secret, and then no iscsid.conf in their initramfs."""
    machine.expect("written", machine.run("fb_iscsid_conf_into \"$to\" && echo yes", to=machine.path("settings"))[0],
                   "yes")
    script = ("fb_run=$to fb_name=iqn.x\nmkdir() { command mkdir -p \"$fb_run/iscsid.etc/iscsi\"; }\n"
              "fb_iscsid_conf_into() { return 1; }\nfb_iscsid_files || echo failed")
    found, console = machine.run(script, to=machine.path("made"))
    machine.expect("not written", found, "failed")
    check(console[0].endswith("iscsid.conf: cannot be written"), str(console))


def a_record_that_is_refused_is_told(machine):
    script = ("iscsiadm() { echo first; echo 'iscsiadm: no room' >&2; return 6; }\n"
              "address=192.0.2.1 port= iqn=iqn.x fb_kind=iscsi\nfb_iscsi_record || echo failed")
    found, console = machine.run(script)
    machine.expect("record", found, "failed")
    check(console[0].endswith(": iscsiadm: no room"), str(console))


def addresses_are_found(machine):
    for line, address in ADDRESSES:
        found, _ = machine.run("fb_ibft_choose\n"
                               "[ \"$fb_specs\" = ibft ] || fb_iscsi_parse \"$fb_specs\"\n"
                               "fb_target_address", line)
        machine.expect(f"address of {line}", found, address)


def state_comes_back(machine):
    """Through a file that another shell reads: what one attempt says to the next."""
    for text in TEXTS:
        found, _ = machine.run("fb_last_cause=$text fb_srp_up=$text fb_name=$text\n"
                               "fb_save_state >\"$fb_run/state\"\n"
                               "fb_last_cause='' fb_srp_up='' fb_name=''\n. \"$fb_run/state\"\n"
                               "printf '%s|' \"$fb_last_cause\" \"$fb_srp_up\" \"$fb_name\"",
                               text=text)
        machine.expect(f"state {text!r}", found, f"{text}|{text}|{text}|")
        machine.unharmed(f"state {text!r}")


def causes_are_said_as_they_are(machine):
    for text in TEXTS:
        _, console = machine.run("fb_cause \"$text\"; fb_cause \"$text\"", text=text)
        machine.expect(f"cause {text!r}", console, [f"farblock: {text}"])


def a_text_for_a_script_is_plain(machine):
    """dracut's die puts its text between double quotes into a script."""
    for text in TEXTS + HOSTILE + ["a\nb", "\x1b[2J"]:
        found, _ = machine.run("eval \"printf '%s' \\\"$(fb_plain \"$text\")\\\"\"", text=text)
        kept = "".join("?" if c < " " else c for c in text if c not in '"$`\\')
        machine.expect(f"text {text!r}", found, kept)
        machine.unharmed(f"text {text!r}")


def nothing_of_a_word_is_executed(machine):
    """A file of the current directory that a pattern could become, and one that commands would make."""
    traps = ["AIT", "farblock.rdma=AIT", "farblock.initiator=AIT"]
    for name in traps:
        open(os.path.join(machine.place, name), "w").close()
    for text in HOSTILE:
        line = (f"farblock.root=srp:dest={text} farblock.rdma={text} farblock.initiator={text}"
                f" farblock.timeout={text} farblock.via={text} farblock.{text}")
        found, console = machine.run(
            WORDS_SAY + "\nfb_target_address >/dev/null\nfb_rdma_device 127.0.0.1\n"
            "fb_save_state >\"$fb_run/state\"\n. \"$fb_run/state\"", line)
        machine.expect(text, found, f"srp|dest={text}||{text}|{text}|180")
        for said in (f"farblock.timeout={text}: must be", f"farblock.via={text}: must be",
                     f"farblock.{text}: no such word", f"farblock.rdma={text}: must be siw or rxe"):
            check(any(said in line for line in console), f"{console}: not {said}")
        machine.unharmed(text, traps)
    for name in traps:
        os.unlink(os.path.join(machine.place, name))


def programs_get_the_words_as_they_are(machine):
    """Paths of SRP and of farblock-initiator that look like a pattern with a file."""
    found = "a=*,dest=192.0.2.1:1"
    path = os.path.join(machine.place, "a=b,dest=192.0.2.1:1")
    open(path, "w").close()
    said, _ = machine.run("modprobe() { :; }\nfb_has_rdma_device() { :; }\n"
                          "fb_srp_login() { printf '%s\\n' \"$1\"; return 1; }\nfb_attempt_srp",
                          f"farblock.root=srp:{found} farblock.root=srp:{SRP}")
    machine.expect("SRP", said, f"{found}\n{SRP}")
    os.unlink(path)
    os.makedirs(os.path.join(machine.place, "iscsi:", "h", "x"))
    machine.write("bin/farblock-initiator", "#!/bin/sh\nprintf '%s|' \"$@\" >&2\n")
    os.chmod(machine.path("bin/farblock-initiator"), 0o755)
    for words, arguments in (
            ("farblock.root=user:iscsi://[h]/* farblock.root=user:iscsi://?/x farblock.via=nbd",
             "attach|iscsi://[h]/*|iscsi://?/x|--root-disk|--name|root|--via|nbd|"),
            ("farblock.root=user:ibft farblock.initiator=*",
             "boot|-b|--timeout|20|--name|root|--initiator-name|*|")):
        said, _ = machine.run("modprobe() { :; }\nfb_attempt_user\ncat \"$fb_run/attach.log\"", words)
        machine.expect(words, said, arguments)
    shutil.rmtree(os.path.join(machine.place, "iscsi:"))


def chap_without_a_table_comes_from_a_file(machine):
    """Of iscsid.conf the lines of CHAP alone, in a file that root alone reads."""
    lines = ["node.session.auth.username = we b\n", " node.session.auth.password = $(>HIT)'\"\n"]
    machine.expect("no file", machine.run("fb_chap_into chap || echo none")[0], "none")
    machine.write("iscsid.conf", "# node.session.auth.username = me\nnode.startup = automatic\n"
                  + "".join(lines) + "discovery.sendtargets.auth.password = other\n")
    path = machine.path("chap")
    machine.expect("file", machine.run("umask 022; fb_chap_into \"$to\"", to=path)[0], "")
    with open(path, encoding="utf-8") as kept:
        machine.expect("settings", kept.read(), "".join(lines))
    machine.expect("mode", os.stat(path).st_mode & 0o777, 0o600)
    machine.write("bin/farblock-initiator", "#!/bin/sh\nprintf '%s|' \"$@\" >&2\n")
    said, _ = machine.run("modprobe() { :; }\nfb_attempt_user\ncat \"$fb_run/attach.log\"",
                          f"farblock.root=user:{URL}")
    machine.expect("farblock-initiator", said, f"attach|{URL}|--root-disk|--name|root|--iscsi-dir|"
                   f"{machine.folder}|")
    said, _ = machine.run("modprobe() { :; }\nfb_attempt_user\ncat \"$fb_run/attach.log\"",
                          "farblock.root=user:ibft")
    machine.expect("with a table", said, "boot|-b|--timeout|20|--name|root|")
    os.unlink(machine.path("iscsid.conf"))


def a_cure_for_chap_is_one_that_the_machine_has(machine):
    """In place of farblock-initiator's options."""
    option = "(check the CHAP user and secret: --chap-user, --chap-secret-file)"
    machine.write("bin/farblock-initiator", f"#!/bin/sh\necho '{option}' >&2\nexit 24\n")
    for words, cure in ((f"farblock.root=user:{URL}", "authmethod = CHAP, username and password of node.session.auth"),
                        ("farblock.root=user:ibft", "username and password of the firmware)")):
        _, said = machine.run("modprobe() { :; }\nfb_attempt_user", words)
        check(cure in str(said) and "--chap" not in str(said), said)
    machine.write("bin/farblock-initiator", "#!/bin/sh\necho 'CHAP user m1: no secret (--chap-secret-file FILE, or "
                  "set FARBLOCK_CHAP_SECRET)' >&2\nexit 2\n")
    _, said = machine.run("modprobe() { :; }\nfb_attempt_user", f"farblock.root=user:{URL}")
    check("no secret (authmethod = CHAP, " in str(said), said)


def a_path_that_ib_srp_has_already_is_named(machine):
    """A second login of one name by one port."""
    _, said = machine.run("dmesg() { echo '[  1.5] scsi host2: ib_srp: Already connected to target port with id_ext=1'; }\n"
                          f"fb_srp_login {SRP}", f"farblock.root=srp:{SRP}")
    check("needs an initiator_ext= of its own" in str(said), said)


def patterns_work_after_the_words(machine):
    """The library itself looks for files of /sys by patterns."""
    found, _ = machine.run("echo /pro[c]", f"farblock.root=user:{URL}")
    machine.expect("patterns", found, "/proc")


def test():
    for shell in SHELLS:
        if not shutil.which(shell[0]):
            raise Skip(f"{shell[0]} is not installed (etc/deps.sh check)")
    with Scratch() as scratch:
        for shell in SHELLS:
            machine = Machine(scratch, shell)
            for claim in (words_are_read, iscsi_words_are_parsed, luns_of_the_table_are_read,
                          credentials_of_the_table_are_read,
                          the_target_that_was_booted_from_is_chosen,
                          a_name_that_is_a_path_is_refused,
                          the_address_of_a_missing_interface_is_named,
                          warnings_of_the_network_are_on_the_console,
                          links_of_all_nics_of_the_table_come_up,
                          a_dead_iscsid_is_not_taken_for_one_that_runs,
                          an_iscsid_without_a_socket_ends, the_settings_of_iscsid_are_secret,
                          an_iscsid_without_chap_has_its_settings,
                          a_record_that_is_refused_is_told,
                          what_waiting_does_not_mend_ends_at_once, addresses_are_found, state_comes_back,
                          causes_are_said_as_they_are, a_text_for_a_script_is_plain,
                          nothing_of_a_word_is_executed, programs_get_the_words_as_they_are,
                          chap_without_a_table_comes_from_a_file,
                          a_cure_for_chap_is_one_that_the_machine_has,
                          a_path_that_ib_srp_has_already_is_named,
                          patterns_work_after_the_words):
                claim(machine)
                machine.unharmed(claim.__name__)
                print(f"{shell[0]}: {claim.__name__.replace('_', ' ')}")
    return 0


if __name__ == "__main__":
    main(test)
