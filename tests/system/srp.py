#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""SRP from the shell to a session and back: a target, portals and ACLs made as with targetcli, in
every spelling of an initiator; logins by what is printed; what is seen of the session, and what
keeps its target from being deleted; refusals with their cure; a restart."""

import json
import os
import re
import sys
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from farblock import check, eventually  # noqa: E402

GID = "ib.fe800000000000000002c903000a1b2c"
TARGET = f"/srpt/{GID}"
EXT, GUID = "0002c903000d5f01", "0002c903000d5f02"
PORT = f"ib.{EXT}{GUID}"
OWN = ["--initiator-port", f"{EXT}:{GUID}"]


class Bench:
    def __init__(self, scratch):
        self.scratch = scratch
        self.metrics = farblock.free_port()
        self.daemon = farblock.Farblockd(scratch, farblock.Config(),
                                         arguments=["--metrics", f"127.0.0.1:{self.metrics}"])
        self.at = f"127.0.0.1:{farblock.free_port()}"
        self.url = f"srp://{self.at}/{GID[3:19]}:{GID[19:]}"

    def shell(self, *words, status=0):
        done = farblock.run(["farblock", "--socket", self.daemon.socket_path, *words], check=False)
        check(done.returncode == status, f"{words}: status {done.returncode}: {done.stdout}")
        return done.stdout

    def json(self, *words):
        return json.loads(self.shell("--json", *words))

    def sessions(self):
        return self.daemon.rpc("session.list")

    @staticmethod
    def initiator(*words, status=0):
        done = farblock.run(["farblock-initiator", *words, "--login-timeout", "10"], check=False)
        check(done.returncode == status, f"{words}: status {done.returncode}: {done.stdout}")
        return done.stdout


def make(b):
    ip, port = b.at.split(":")
    b.shell("set", "global", "auto_add_default_portal=false")
    for name in ("rd0", "rd1"):
        b.shell("/backstores/ramdisk", "create", name, "16M")
    b.shell("/srpt", "create", GID)
    b.shell(f"{TARGET}/portals", "create", ip, port)
    b.shell(f"{TARGET}/luns", "create", "ramdisk/rd0")
    b.shell(f"{TARGET}/luns", "create", "ramdisk/rd1")


def a_stranger_is_told_what_to_do(b):
    out = b.initiator("inquiry", f"{b.url}/0", *OWN, status=1)
    check("ACL" in out and "10003" in out, out)
    told = b.shell("refusals")
    check(f"{PORT} from 127.0.0.1:" in told and f"to {GID}: status 00010003" in told and
          f"acls create {PORT}" in told, told)
    cause = b.shell("explain", "00010003")
    check("no ACL admits the initiator" in cause and "add_target" in cause, cause)
    seen = b.shell(f"{TARGET}/acls", "create", "--from-seen")
    check(f"create from_seen={PORT}" in seen, seen)
    b.shell(f"{TARGET}/acls", "create", f"from_seen={PORT}")
    check("rd0" in b.initiator("inquiry", f"{b.url}/0", *OWN), "an admitted stranger")
    b.shell(f"{TARGET}/acls", "delete", PORT)
    print("a stranger is refused, told of, and admitted")


def every_spelling_admits(b):
    spellings = [PORT, f"0x{EXT}{GUID}".upper().replace("X", "x", 1), f"{EXT}{GUID}",
                 ":".join(f"{EXT}{GUID}"[i:i + 4] for i in range(0, 32, 4)), GUID, f"0x{GUID}",
                 ":".join(GUID[i:i + 4] for i in range(0, 16, 4)), "127.0.0.1"]
    for text in spellings:
        b.shell(f"{TARGET}/acls", "create", text)
        check("rd0" in b.initiator("inquiry", f"{b.url}/0", *OWN), text)
        b.shell(f"{TARGET}/acls", "delete", text)
    b.shell(f"{TARGET}/acls", "create", f"ib.{GUID}{EXT}")
    b.initiator("inquiry", f"{b.url}/0", *OWN, status=1)
    b.shell(f"{TARGET}/acls", "delete", f"ib.{GUID}{EXT}")
    print(len(spellings), "spellings of an initiator")


def what_info_prints_attaches_it(b):
    b.shell(f"{TARGET}/acls", "create", PORT)
    told = b.json(TARGET, "info")["attach"]
    check(len(told) == 1 and told[0]["portal"] == b.at, told)
    check("rd0" in b.initiator("inquiry", told[0]["url"], *OWN), told)
    check("rd1" in b.initiator("inquiry", told[0]["add_target"] + "/1", *OWN), told)
    b.initiator("verify", "--pattern", "5", "--length", "1m", f"{b.url}/1", *OWN)
    print("the URL and the add_target line of info attach the disk")


def the_guid_twice_is_the_target_too(b):
    """As ib_srpt has it."""
    url = f"srp://{b.at}/{GID[19:]}:{GID[19:]}/0"
    check("rd0" in b.initiator("inquiry", url, *OWN), url)
    b.initiator("inquiry", f"srp://{b.at}/{GUID}:{GUID}/0", *OWN, status=1)
    check(f"to ib.{GUID}{GUID}: status 00010003" in b.shell("refusals"), "another GUID")


def the_length_of_a_response_is_a_setting(b):
    b.shell(TARGET, "set", "attribute", "srp_max_rsp_size=512")
    told = b.initiator("ping", f"{b.url}/0", *OWN)
    check("512" in told, told)
    b.shell(TARGET, "set", "attribute", "srp_max_rsp_size=256")


def a_session_is_seen(b):
    load = farblock.Process(b.scratch, "load")
    try:
        load.spawn(["farblock-initiator", "bench", f"{b.url}/0", *OWN, "--time", "600",
                    "--channels", "2", "--depth", "4"])
        eventually("a session that works", lambda: any(s["commands"] > 100 for s in b.sessions()))
        session, = b.sessions()
        sid = str(session["sid"])
        check((session["transport"], session["carrier"], session["initiator"]) ==
              ("SRP", "iWARP", PORT), session)
        text = b.shell("sessions", "detail")
        for part in (f"    name: {PORT} ", "(SRP over iWARP)  channels: 2 connection-state",
                     f"portal: {b.at} worker:", "mapped-lun: 0 backstore: ramdisk/rd0 mode: rw"):
            check(part in text, f"{part}: {text}")
        check(PORT[-12:] in b.shell("top", "1"), "top")
        acl = f"{TARGET}/acls/{PORT}"
        check("channels=2 [ro]" in b.shell(acl, "get", "parameter", "channels"), "parameter")
        for path in (TARGET, acl):
            check(b.json(path, "info")["sessions"] == 1, path)
        check(b.json(f"{TARGET}/portals/{b.at}", "info")["read"]["commands"] > 100, "portal")
        with urllib.request.urlopen(f"http://127.0.0.1:{b.metrics}/metrics", timeout=60) as page:
            text = page.read().decode()
        check(re.search(f'farblock_sessions{{target="{GID}",transport="srp"}} 1', text), "metrics")
        check(f'farblock_portal_up{{target="{GID}",tpg="1",portal="{b.at}"}} 1' in text, "portal")
        for words in (["/srpt", "delete", GID], [f"{TARGET}/acls", "delete", PORT],
                      [f"{TARGET}/luns", "delete", "lun0"]):
            check("in use by" in b.shell(*words, status=5), f"{words}")
        b.shell(f"{TARGET}/luns", "delete", "lun1")
        check("ended" in b.shell("session", "drop", sid), "drop")
    finally:
        load.kill()
    print("a session of two channels is seen, protects what it uses, and is dropped")


def disable_ends_it_and_says_so(b):
    b.shell(TARGET, "disable")
    out = b.initiator("inquiry", f"{b.url}/0", *OWN, status=1)
    check("10001" in out, out)
    b.shell(TARGET, "enable")
    b.initiator("inquiry", f"{b.url}/0", *OWN)


def a_read_only_mapping_refuses_writes(b):
    b.shell(f"{TARGET}/acls/{PORT}", "delete", "0")
    b.shell(f"{TARGET}/acls/{PORT}", "create", "7", "lun0", "write_protect=true")
    b.initiator("inquiry", f"{b.url}/7", *OWN)
    out = b.initiator("verify", "--pattern", "5", "--length", "1m", f"{b.url}/7", *OWN, status=1)
    check("WRITE PROTECTED" in out.upper().replace("-", " "), out)


def it_comes_back_after_a_restart(b):
    b.daemon.stop()
    b.daemon.start()
    check("rd0" in b.initiator("inquiry", f"{b.url}/7", *OWN), "after a restart")


def main():
    with farblock.Scratch() as scratch:
        b = Bench(scratch)
        with b.daemon:
            make(b)
            a_stranger_is_told_what_to_do(b)
            every_spelling_admits(b)
            what_info_prints_attaches_it(b)
            the_guid_twice_is_the_target_too(b)
            the_length_of_a_response_is_a_setting(b)
            a_session_is_seen(b)
            disable_ends_it_and_says_so(b)
            a_read_only_mapping_refuses_writes(b)
            it_comes_back_after_a_restart(b)
    return 0


if __name__ == "__main__":
    farblock.main(main)
