#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""login and logout: all disks of a target, each by a process of its own, from URLs and records."""

import json
import os
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from initiator import end, start  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, eventually, main, run  # noqa: E402

MIB = 1 << 20
VIA = ("--via", "socket")


class Logins(Attachments):
    def __init__(self, scratch):
        super().__init__(scratch)
        self.records = scratch.file("login.d")

    def login(self, *words, status=0):
        return self.command("login", *words, "--record-dir", self.records, status=status)

    def logout(self, *words, status=0):
        return self.command("logout", *words, status=status)

    def states(self):
        return {a["name"]: a["state"] for a in self.list()}

    def record(self, name):
        with open(f"{self.records}/{name}.conf", encoding="utf-8") as f:
            return f.read()


def url(target):
    return target.url().rsplit("/", 1)[0]


def name(target, lun):
    return f"{target.iqn}-{lun}"


def a_login_attaches_every_disk(logins, target):
    said = logins.login(url(target), *VIA)
    names = [name(target, lun) for lun in (0, 1)]
    check(logins.states() == dict.fromkeys(names, "attached"), f"{logins.states()}")
    devices = [f"{n} {logins.one(n)['device']}" for n in names]
    check(said.splitlines() == devices, said)
    for n, size in zip(names, (8, 16)):
        run(["qemu-io", "-f", "raw", "-c", f"write {size - 1}M 1M", logins.one(n)["device"]])


def disks_of_one_nexus_are_refused(logins, target):
    """Their sessions would end each other."""
    words = (url(target), *VIA, "--isid", "800000000001")
    said = logins.login(*words, status=2)
    check(f"has the initiator port 800000000001, as {name(target, 0)}" in said, said)
    check(logins.states() == {name(target, 0): "attached"}, f"{logins.states()}")
    said = logins.attach(target.url(), *VIA, "--isid", "800000000001", status=15)
    check("attached already" in said, said)
    logins.logout(target.iqn)


def a_second_login_says_so(logins, target):
    said = logins.login(url(target), *VIA, status=15)
    check("logged in already" in said, said)


def one_that_dies_takes_nothing_along(logins, target):
    os.kill(logins.one(name(target, 0))["pid"], signal.SIGKILL)
    eventually("its end", lambda: logins.states()[name(target, 0)] == "dead")
    check(logins.states()[name(target, 1)] == "attached", f"{logins.states()}")
    said = logins.login(url(target), *VIA)
    check(said.startswith(name(target, 0)) and said.count("\n") == 1, said)
    check(set(logins.states().values()) == {"attached"}, f"{logins.states()}")


def logout_takes_what_login_made(logins, target):
    logins.attach(target.url(lun=1), *VIA, "--name", "own", "--read-only")
    said = logins.logout("x", status=21)
    check("x: not logged in" in said, said)
    logins.logout(target.iqn)
    check(logins.states() == {"own": "attached"}, f"{logins.states()}")
    said = logins.logout("--all", status=21)
    check("not logged in" in said, said)
    logins.detach("own")


def a_record_is_saved_and_used(logins, target):
    logins.login(url(target), url(target).replace("iscsi:", "iser:"), *VIA, "--name", "data",
                 "--policy", "round-robin", "--save")
    check(logins.record("data").splitlines() == [
        f"url = {url(target)}", f"url = {url(target).replace('iscsi:', 'iser:')}",
        "startup = manual", "via = socket", "policy = round-robin"], logins.record("data"))
    check(os.stat(f"{logins.records}/data.conf").st_mode & 0o777 == 0o600, "its mode")
    logins.logout("data")
    told = json.loads(logins.login("data", "--json"))
    check([s["name"] for s in told] == ["data-0", "data-1"], f"{told}")
    eventually("both paths", lambda: all(p["state"] == "up"
                                         for p in logins.one("data-1")["paths"]))
    check(logins.one("data-0")["login"] == "data", "what it is of")
    logins.logout("data")


def automatic_records_are_used_by_all(logins, target, other):
    said = logins.login("--all", status=21)
    check("no automatic records" in said, said)
    logins.login(url(other), *VIA, "--name", "auto", "--save", "--startup", "automatic")
    logins.logout("--all")
    logins.login("--all")
    check(logins.states() == {"auto-0": "attached"}, f"{logins.states()}")
    logins.login("--all", status=15)
    logins.logout("--all")
    check(logins.list() == [], "something is left")


def a_used_disk_stays_and_others_go(logins, target):
    logins.login("data")
    client = logins.client("data-0")
    said = logins.logout("data", status=28)
    check("used by 1 client" in said, said)
    check(logins.states() == {"data-0": "attached"}, f"{logins.states()}")
    logins.logout("data", "--force")
    client.communicate(b"quit\n")
    check(logins.list() == [], "something is left")


def an_interrupted_login_leaves_nothing(logins):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        tool = start("login", f"iscsi://127.0.0.1:{silent.getsockname()[1]}/iqn.2025-01.org.x:x",
                     *VIA, "--run-dir", logins.run_dir, "--login-timeout", "600")
        with silent.accept()[0] as connection:
            connection.recv(48)  # the login request
            tool.send_signal(signal.SIGTERM)
            end(tool, 143)
    check(logins.list() == [], "something is left")


def one_interrupted_halfway_takes_back_what_it_made(logins, many):
    tool = start("login", url(many), *VIA, "--name", "many", "--run-dir", logins.run_dir)
    first = tool.stdout.readline()
    check(first.startswith("many-0 "), first)
    tool.send_signal(signal.SIGINT)  # 23 more disks would follow
    end(tool, 130)
    check(logins.list() == [], f"left: {logins.states()}")


def foreground_replaces_what_dies(logins):
    stays = start("login", "data", "--foreground", "--record-dir", logins.records, "--run-dir",
                  logins.run_dir)
    eventually("both", lambda: list(logins.states().values()) == ["attached"] * 2)
    old = logins.one("data-1")["pid"]
    os.kill(old, signal.SIGKILL)
    eventually("another process", lambda: logins.one("data-1")["state"] == "attached" and
               logins.one("data-1")["pid"] != old)
    stays.kill()
    stays.communicate()
    check(list(logins.states().values()) == ["attached"] * 2, "the disks do not need it")
    stays = start("login", "data", "--foreground", "--record-dir", logins.records, "--run-dir",
                  logins.run_dir)
    old = logins.one("data-0")["pid"]
    os.kill(old, signal.SIGKILL)
    eventually("a process again", lambda: logins.one("data-0")["state"] == "attached" and
               logins.one("data-0")["pid"] != old)
    stays.send_signal(signal.SIGTERM)
    end(stays)
    check(logins.list() == [], "something is left")


def foreground_tries_again_after_seconds(logins):
    """Two of its attempts at a portal where nobody answers are seconds apart, however long its own
    processes live. A busy machine makes the time between them longer, never shorter."""
    with socket.create_server(("127.0.0.1", 0)) as portal:
        portal.settimeout(60)
        url = f"iscsi://127.0.0.1:{portal.getsockname()[1]}/iqn.2025-01.org.example:none"
        stays = start("login", url, "--name", "none", "--foreground", "--run-dir", logins.run_dir,
                      *VIA)
        begun = []
        while len(begun) < 3:
            portal.accept()[0].close()
            begun.append(time.monotonic())
        stays.send_signal(signal.SIGTERM)
        end(stays)
    check(begun[1] - begun[0] > 2 and begun[2] - begun[1] > 4, f"attempts at {begun}")


def refusals_say_why(logins, target, scratch):
    for words, status, text in (
            ((target.url(), *VIA), 2, "names a LUN"),
            ((), 2, "one of URL, RECORD and --all"),
            (("data", "--all"), 2, "one of URL, RECORD and --all"),
            ((url(target), "--startup", "automatic"), 2, "only with --save"),
            ((url(target), "--save", "--startup", "x"), 2, "must be automatic or manual"),
            (("data", "--save"), 2, "--save is for URLs"),
            (("nothing",), 21, "nothing.conf"),
            ((url(target) + "x", *VIA), 19, "target not found")):
        said = logins.login(*words, status=status)
        check(text in said, f"{words}: {said}")
    with open(f"{logins.records}/bad.conf", "w", encoding="utf-8") as f:
        f.write("url = x\nat = /x\n")
    check("--at" in logins.login("bad", status=6), "a key that records do not have")


def test():
    with Scratch() as scratch, Logins(scratch) as logins:
        config = Config()
        target = config.target([config.ramdisk("a", 8 * MIB), config.ramdisk("b", 16 * MIB)])
        other = config.target([config.ramdisk("c", 8 * MIB)])
        many = config.target([config.ramdisk(f"m{i}", MIB) for i in range(24)])
        with Farblockd(scratch, config):
            a_login_attaches_every_disk(logins, target)
            a_second_login_says_so(logins, target)
            one_that_dies_takes_nothing_along(logins, target)
            logout_takes_what_login_made(logins, target)
            disks_of_one_nexus_are_refused(logins, target)
            a_record_is_saved_and_used(logins, target)
            automatic_records_are_used_by_all(logins, target, other)
            a_used_disk_stays_and_others_go(logins, target)
            one_interrupted_halfway_takes_back_what_it_made(logins, many)
            foreground_replaces_what_dies(logins)
            foreground_tries_again_after_seconds(logins)
            an_interrupted_login_leaves_nothing(logins)
            refusals_say_why(logins, target, scratch)


main(test)
