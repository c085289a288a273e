#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator boot: iscsistart's options and the iBFT, with a directory in place of
/sys/firmware/ibft and --via socket as the disk."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import (Config, Farblockd, Scratch, check, eventually, free_port, main, program,  # noqa: E402
                      run)
from initiator import end  # noqa: E402

MIB = 1 << 20
VIA = ("--via", "socket")
ME, SECRET, TARGETS = "iqn.2025-01.org.farblock:me", "secret-of-twelve", "secret-of-target"
CHAP = {"attributes": {"authentication": 1, "generate_node_acls": 0}}


def acl(**keys):
    return [{"node_wwn": ME, "attributes": {}, "chap_userid": "me", "chap_password": SECRET,
             "mapped_luns": [{"index": i, "tpg_lun": i, "write_protect": False} for i in (0, 1)],
             **keys}]


class Ibft:
    """A table of one target and one NIC, as iscsi_ibft shows it."""

    def __init__(self, path, target, lun="01000000", **chap):
        self.path = path
        shutil.rmtree(path, ignore_errors=True)
        self.put("initiator", flags=3, initiator_name=ME)
        self.put("ethernet0", flags=3, index=0, ip_addr="127.0.0.1", prefix_len=8,
                 subnet_mask="255.0.0.0", origin=1, vlan=0, mac="52:54:00:12:34:56")
        self.target(0, target, lun=lun, **chap)

    def put(self, where, **attributes):
        os.makedirs(f"{self.path}/{where}", exist_ok=True)
        for name, value in attributes.items():
            with open(f"{self.path}/{where}/{name.replace('_', '-')}", "w", encoding="utf-8") as f:
                f.write(f"{value}\n")

    def target(self, number, target, portal=0, **keys):
        host, port = target.portals[portal]
        self.put(f"target{number}", index=number, flags=3, ip_addr=host, port=port, nic_assoc=0,
                 target_name=target.iqn, chap_type=len(keys) // 2, **keys)
        return self


def one_way(secret=SECRET):
    return {"chap_name": "me", "chap_secret": secret}


def mutual(secret=TARGETS):
    return {**one_way(), "rev_chap_name": "target", "rev_chap_name_secret": secret}


class Boot:
    """The command, with the run directory of the test."""

    def __init__(self, attachments, scratch):
        self.attachments, self.scratch = attachments, scratch

    def __call__(self, *words, status=0, text=""):
        said = self.attachments.command("boot", *words, *VIA, status=status)
        check(text in said, f"{words}: {said}")
        return said

    def ibft(self, *arguments, **chap):
        return Ibft(self.scratch.file("ibft"), *arguments, **chap)

    def start(self, *words):
        return subprocess.Popen([program("farblock-initiator"), "boot", *words, *VIA, "--run-dir",
                                 self.attachments.run_dir], text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def one(self, name="boot"):
        return self.attachments.one(name)

    def over(self, *names):
        for name in names or ("boot",):
            self.attachments.detach(name)


# ---- the iBFT ----

def the_disk_of_the_table_is_attached(boot, target, transport, **chap):
    table = boot.ibft(target, **chap)
    words = () if transport == "tcp" else ("--transport", "iser")
    boot("-b", "--ibft", table.path, *words, text="nbd+unix:///")
    disk = boot.one()
    path = disk["paths"][0]
    check(path["lun"] == 1 and disk["bytes"] == 2 * MIB, f"{disk}")
    check(disk["no_path_retry"] == "queue" and disk["name"] == "boot", f"{disk}")
    session = path["session"]
    check(session["initiator"] == ME and session["transport"].lower().startswith(
        "tcp" if transport == "tcp" else "iser"), f"{session}")
    boot.over()


def a_wrong_secret_ends_at_once(boot, target):
    for chap in (one_way("another-secret"), mutual("another-secret")):
        table = boot.ibft(target, **chap)
        said = boot("-b", "--ibft", table.path, "--timeout", "0", status=24)
        check("another-secret" not in said, said)


def what_is_missing_ends_at_once(boot, target, guarded):
    table = boot.ibft(target, lun="09000000")
    boot("-b", "--ibft", table.path, "--timeout", "0", status=21, text="no LUN 9")
    table = boot.ibft(guarded)
    table.put("initiator", initiator_name="iqn.2025-01.org.farblock:stranger")
    boot("-b", "--ibft", table.path, "--timeout", "0", status=24, text="no ACL of iqn.")
    table = boot.ibft(target)
    table.put("target0", target_name="iqn.2025-01.org.farblock:none")
    boot("-b", "--ibft", table.path, "--timeout", "0", status=19, text="target not found")


def without_chap_the_table_has_no_credentials(boot, target):
    """A target that asks for none, and a table with the secrets of both sides."""
    table = boot.ibft(target, **mutual())
    boot("-b", "--ibft", table.path, status=24)
    boot("-b", "--ibft", table.path, "-P", "node.session.auth.authmethod=None", text="nbd+unix:///")
    boot.over()


def a_target_without_luns_for_us_is_told(boot, empty):
    boot(*words_of(empty), "--timeout", "0", status=21,
         text="no disk for this initiator (map a LUN in its ACL)")


def retry_all_waits_until_the_time_is_over(boot, target):
    table = boot.ibft(target, lun="09000000")
    said = boot("-b", "--ibft", table.path, "--timeout", "1", "--retry-all", status=21)
    check("waiting: " in said and "no login within 1 s: " in said, said)
    check(said.count("waiting: ") == 1, f"one line for each cause: {said}")


def two_portals_of_a_disk_are_two_paths(boot, target):
    table = boot.ibft(target).target(1, target, portal=1, lun="01000000")
    boot("-b", "--ibft", table.path)
    check([p["state"] for p in boot.one()["paths"]] == ["up", "up"], f"{boot.one()}")
    boot.over()


def a_further_path_without_its_interface_is_left_out(boot, target):
    table = boot.ibft(target).target(1, target, lun="01000000")
    table.put("target1", ip_addr="fe80::1", flags=1)
    boot("-b", "--ibft", table.path, text="warning: skipped: target1: fe80::1: no interface has")
    check(len(boot.one()["paths"]) == 1, f"{boot.one()}")
    boot.over()


def another_disk_of_the_table_is_told(boot, target):
    table = boot.ibft(target).target(1, target, lun="00000000")
    boot("-b", "--ibft", table.path, text="target1 is not attached: it is another disk")
    check(len(boot.one()["paths"]) == 1, f"{boot.one()}")
    boot.over()


def a_table_that_is_wrong_is_refused(boot, target):
    for attribute, value, text in (("lun", "zz", "target0/lun: 'zz'"),
                                   ("port", "65536", "target0/port: '65536'"),
                                   ("ip_addr", "1.2.3", "target0/ip-addr: '1.2.3'"),
                                   ("chap_type", "2", "no chap-name")):
        table = boot.ibft(target)
        table.put("target0", **{attribute: value})
        boot("-b", "--ibft", table.path, status=21, text=text)
    boot("-b", "--ibft", boot.scratch.file("none"), status=21, text="no iBFT")


# ---- waiting ----

def an_interface_that_is_missing_is_no_connection(boot, target):
    said = boot("-i", ME, "-t", target.iqn, "-a", "fe80::1%nosuch0", "--lun", "0", "--timeout", "1",
                status=4, text="waiting: ")
    check("no such interface" in said and "ublk_drv" not in said, said)
    table = boot.ibft(target)
    table.put("target0", ip_addr="fe80::1")
    boot("-b", "--ibft", table.path, "--timeout", "1", status=4,
         text="target0: fe80::1: no interface has the address of ethernet0 yet")


def a_target_that_is_down_is_waited_for_in_bounds(boot, target):
    table = boot.ibft(target)
    said = boot("-b", "--ibft", table.path, "--timeout", "1", status=4)
    check("waiting: " in said and "refused (check that a target listens there)" in said, said)
    check("no login within 1 s: " in said, said)


def a_target_that_comes_up_is_attached(boot, target, scratch, config):
    """Without end: --timeout 0."""
    table = boot.ibft(target)
    waiting = boot.start("-b", "--ibft", table.path, "--timeout", "0")
    line = waiting.stderr.readline()
    check("waiting: " in line and "refused" in line, line)
    with Farblockd(scratch, config, "late"):
        check("nbd+unix" in end(waiting), "the device")
        boot.over()


def a_signal_ends_the_wait(boot, target):
    table = boot.ibft(target)
    waiting = boot.start("-b", "--ibft", table.path, "--timeout", "0")
    waiting.stderr.readline()
    waiting.send_signal(signal.SIGTERM)
    end(waiting, status=128 + signal.SIGTERM)


# ---- iscsistart's options ----

def words_of(target, lun=None):
    host, port = target.portals[0]
    place = ("-i", ME, "-t", target.iqn, "-g", "1", "-a", host, "-p", str(port))
    return (*place, "--lun", str(lun)) if lun is not None else place


def all_disks_of_a_target_are_attached(boot, target):
    said = boot(*words_of(target))
    check([line.split()[0] for line in said.splitlines()] == ["boot-0", "boot-1"], said)
    boot(*words_of(target), status=15, text="logged in already")
    boot.over("boot-0", "boot-1")
    document = json.loads(boot(*words_of(target), "--json"))
    check([disk["name"] for disk in document] == ["boot-0", "boot-1"], f"{document}")
    boot.over("boot-0", "boot-1")


def one_lun_is_attached(boot, target):
    boot(*words_of(target, lun=1))
    check(boot.one()["paths"][0]["lun"] == 1, f"{boot.one()}")
    boot(*words_of(target, lun=1), status=15, text="attached already")
    boot.over()


def further_addresses_are_paths(boot, target):
    host, port = target.portals[0]
    boot("-i", ME, "-t", target.iqn, "-g", "1", "-p", str(port), "--lun", "0", "-a", host,
         "localhost")
    check(len(boot.one()["paths"]) == 2, f"{boot.one()}")
    boot.over()


def chap_by_options(boot, guarded, both):
    boot(*words_of(guarded, lun=0), "-u", "me", "-w", SECRET)
    boot.over()
    boot(*words_of(both, lun=0), "-u", "me", f"-w{SECRET}", "-U", "target",
         f"--password_in={TARGETS}")
    boot.over()
    boot(*words_of(guarded, lun=0), "-u", "me", "-w", "another-secret", status=24)
    boot(*words_of(guarded, lun=0), "-P", "node.session.auth.username=me", "-P",
         f"node.session.auth.password={SECRET}")
    boot.over()
    done = run([program("farblock-initiator"), "boot", *words_of(guarded, lun=0), "-u", "me", *VIA,
                "--run-dir", boot.attachments.run_dir],
               env={**os.environ, "FARBLOCK_CHAP_SECRET": SECRET})
    check("nbd+unix" in done.stdout, done.stdout)
    boot.over()


def secrets_vanish_from_the_command_line(boot):
    """While it waits: the words of the process, as other users see them."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = str(silent.getsockname()[1])
        waiting = boot.start("-i", ME, "-t", "iqn.x", "-g", "1", "-a", "127.0.0.1", "-p", port,
                             "-u", "me", "-w", SECRET, "-P",
                             f"node.session.auth.password_in={TARGETS}", "-U", "target")
        silent.accept()[0].close()
        with open(f"/proc/{waiting.pid}/cmdline", encoding="utf-8") as f:
            words = f.read()
        check("-w" in words and SECRET not in words and TARGETS not in words, words)
        waiting.terminate()
        end(waiting, status=128 + signal.SIGTERM)


def parameters_of_records(boot, target):
    words = words_of(target, lun=0)
    boot(*words, "-P", "iface.transport_name=iser", "-P",
         "node.session.timeo.replacement_timeout=77", "-P", "node.conn[0].timeo.noop_out_interval=0",
         "-P", "node.session.cmds_max=64", text="--param node.session.cmds_max: no effect")
    disk = boot.one()
    check(disk["no_path_retry"] == "77" or disk["no_path_retry"] == 77, f"{disk}")
    check(disk["paths"][0]["session"]["transport"].lower().startswith("iser"), f"{disk}")
    boot.over()
    boot(*words, "-P", "iface.transport_name=bnx2i", status=2, text="must be tcp or iser")
    boot(*words, "-P", "iface.transport_name", status=2, text="must be NAME=VALUE")


def what_is_missing_is_told(boot):
    boot(status=2, text="missing --targetname")
    boot("-t", "iqn.x", status=2, text="missing --address")
    boot("-t", "iqn.x", "-a", "127.0.0.1", "-p", "x", status=2, text="--port x")


def as_iscsistart_it_is_boot(boot, target, scratch):
    link = scratch.file("iscsistart")
    os.symlink(program("farblock-initiator"), link)
    table = boot.ibft(target)
    done = run([link, "-b", "--ibft", table.path, *VIA, "--run-dir", boot.attachments.run_dir])
    check("nbd+unix" in done.stdout, done.stdout)
    boot.over()
    check(run([link, "-v"]).stdout.startswith("farblock-initiator "), "-v")
    check(run([link], check=False).returncode == 2, "no options")


# ---- what is printed ----

def records_are_printed_without_secrets(boot, guarded):
    table = boot.ibft(guarded, **mutual())
    said = boot("-f", "--ibft", table.path)
    for line in ("iface.initiatorname = " + ME, "node.name = " + guarded.iqn,
                 "iface.bootproto = STATIC", "node.session.auth.username = me",
                 "node.boot_lun = 01000000"):
        check(f"\n{line}\n" in said, said)
    document = json.loads(boot("-f", "--json", "--ibft", table.path))
    check(document[0]["target"] == guarded.iqn and document[0]["lun"] == 1, f"{document}")
    check(SECRET not in said + json.dumps(document), said)


def they_are_those_of_iscsistart(boot, guarded):
    """Its own, with our directory in the place of /sys/firmware/ibft."""
    theirs = shutil.which("iscsistart", path="/sbin:/usr/sbin")
    if not theirs or os.geteuid():
        print("not compared with iscsistart: it is not installed, or this is not root")
        return
    table = boot.ibft(guarded, **mutual())
    os.makedirs(f"{table.path}/ethernet0/device/net/eth0")
    script = f"mount -t tmpfs none /sys/firmware && mkdir /sys/firmware/ibft && " \
             f"mount --bind {table.path} /sys/firmware/ibft && exec {theirs} -f"
    done = run(["unshare", "-m", "sh", "-c", script], check=False)
    if done.returncode:
        print(f"not compared with iscsistart: {done.stdout}")
        return
    ours = boot("-f", "--ibft", table.path).splitlines()[1:]
    hidden = ("node.session.auth.password", "iface.net_ifacename")
    expected = [line for line in done.stdout.splitlines()[1:] if not line.startswith(hidden)]
    check(ours == expected, f"{ours}, not {expected}")


def run_tests(scratch, attachments):
    config = Config()
    disks = [config.ramdisk("rd0", MIB), config.ramdisk("rd1", 2 * MIB)]
    target = config.target(disks, portals=2)
    guarded = config.target(disks, **CHAP, node_acls=acl())
    both = config.target(disks, **CHAP, node_acls=acl(chap_mutual_userid="target",
                                                      chap_mutual_password=TARGETS))
    empty = config.target(disks, attributes={"generate_node_acls": 0}, node_acls=acl(mapped_luns=[]))
    boot = Boot(attachments, scratch)
    an_interface_that_is_missing_is_no_connection(boot, target)
    a_target_that_is_down_is_waited_for_in_bounds(boot, target)
    a_signal_ends_the_wait(boot, target)
    a_target_that_comes_up_is_attached(boot, target, scratch, config)
    secrets_vanish_from_the_command_line(boot)
    records_are_printed_without_secrets(boot, guarded)
    they_are_those_of_iscsistart(boot, guarded)
    what_is_missing_is_told(boot)
    with Farblockd(scratch, config):
        for transport in ("tcp", "iser"):
            the_disk_of_the_table_is_attached(boot, target, transport)
            the_disk_of_the_table_is_attached(boot, guarded, transport, **one_way())
            the_disk_of_the_table_is_attached(boot, both, transport, **mutual())
        a_wrong_secret_ends_at_once(boot, both)
        what_is_missing_ends_at_once(boot, target, guarded)
        without_chap_the_table_has_no_credentials(boot, target)
        a_target_without_luns_for_us_is_told(boot, empty)
        retry_all_waits_until_the_time_is_over(boot, target)
        two_portals_of_a_disk_are_two_paths(boot, target)
        a_further_path_without_its_interface_is_left_out(boot, target)
        another_disk_of_the_table_is_told(boot, target)
        a_table_that_is_wrong_is_refused(boot, target)
        all_disks_of_a_target_are_attached(boot, target)
        one_lun_is_attached(boot, target)
        further_addresses_are_paths(boot, target)
        chap_by_options(boot, guarded, both)
        parameters_of_records(boot, target)
        as_iscsistart_it_is_boot(boot, target, scratch)


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        run_tests(scratch, attachments)


main(test)
