#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What an administrator sees and does of sessions with the shell: sessions in detail, top as text,
as JSON and in a terminal, drop and drain, admitting who was refused, codes explained."""

import fcntl
import json
import os
import pty
import re
import select
import struct
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from farblock import Config, Failure, Farblockd, Process, Scratch, check, eventually  # noqa: E402

WORKING, STRANGER = "iqn.2025-01.org.example:working", "iqn.2025-01.org.example:stranger"


class Bench:
    """A daemon with one target, and an initiator that keeps it busy over iSER."""

    def __init__(self, scratch):
        self.scratch, config = scratch, Config()
        self.target = config.target([config.ramdisk("rd0", 32 << 20)],
                                    attributes={"generate_node_acls": 0})
        config.targets[0]["tpgs"][0]["node_acls"] = [{
            "node_wwn": WORKING, "attributes": {},
            "mapped_luns": [{"index": 0, "tpg_lun": 0, "write_protect": False, "alias": "m0"}]}]
        self.daemon = Farblockd(scratch, config)
        self.load = Process(scratch, "load")

    def words(self, *words):
        return ["farblock", "--socket", self.daemon.socket_path, *words]

    def shell(self, *words, status=0):
        done = farblock.run(self.words(*words), check=False)
        check(done.returncode == status, f"{words}: status {done.returncode}: {done.stdout}")
        return done.stdout

    def json(self, *words):
        return json.loads(self.shell("--json", *words))

    def begin_load(self):
        self.load.spawn(["farblock-initiator", "bench", self.target.url().replace("iscsi", "iser", 1),
                         "--initiator-name", WORKING, "--time", "600", "--depth", "4"])
        eventually("a session that works", lambda: any(
            s["commands"] > 100 for s in self.daemon.rpc("session.list")))


def sessions_tell_all(b):
    line = b.shell("sessions")
    check(re.fullmatch(r"alias: \S+\tsid: \d+ type: Normal session-state: LOGGED_IN "
                       r"isid: [0-9a-f]{12} \(random\)\n", line), line)
    text = b.shell("sessions", "detail")
    for part in (f"    name: {WORKING} (NOT AUTHENTICATED)", "acl: static proven: none",
                 "    mapped-lun: 0 backstore: ramdisk/rd0 mode: rw", "(iSER over iWARP)",
                 "connection-state: LOGGED_IN", "MaxBurstLength=", "commands in flight"):
        check(part in text, f"no '{part}' in {text}")
    check(not re.search(r"now: 0 IOPS", text), f"no rates while it works: {text}")
    one, = b.json("sessions", "detail")
    check(one["rates"]["iops"] > 0 and one["rates"]["p99_us"] > 0, f"{one['rates']}")
    check("no session 999" in b.shell("sessions", "list", "999", status=3), "a session 999")
    b.shell("sessions", "sideways", status=8)


def top_as_text(b):
    text = b.shell("top", "-n", "2", "interval=0.2")
    check(len(re.findall(r"^farblock .* sessions: 1 ", text, re.M)) == 2, text)
    check(re.search(r"^ +\d+ +iqn\S+ +iqn\S+ +iSER/iWARP +\S+ +\S+ MB/s", text, re.M), text)
    check(re.search(r"^ramdisk/rd0 +[1-9]", text, re.M) and "\033" not in text, text)
    check(b.shell("top", "--once", "interval=0.1").count("farblock ") == 1, "not once")
    disk, = b.json("top", "--once", "interval=0.2")["disks"]
    check(disk["disk"] == "ramdisk/rd0" and disk["iops"] > 0, f"{disk}")
    for bad in (["top", "-n", "x"], ["top", "interval=0"], ["top", "n=-1"]):
        b.shell(*bad, status=8)


class Terminal:
    """top in a pseudo terminal of its own."""

    def __init__(self, words):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execv(farblock.program(words[0]), words)

    def size(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def key(self, key):
        self.text = ""
        os.write(self.fd, key.encode())

    def wait(self, pattern, timeout=20):
        end = time.monotonic() + timeout
        while not re.search(pattern, self.text):
            if time.monotonic() > end:
                raise Failure(f"top: no {pattern!r} in {self.text[-3000:]!r}")
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.fd, 65536).decode()
                except OSError:
                    raise Failure(f"top ended without {pattern!r}") from None

    def status(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def top_in_a_terminal(b):
    t = Terminal(b.words("top", "interval=0.2"))
    t.size(30, 120)
    t.wait(r"\033\[\?1049h")
    t.wait(r"by .*IOPS")
    t.key("s")
    t.wait(r"by .*read")
    t.key("p")
    t.wait(r"\[paused\]")
    t.key("p")
    t.wait(r"written\033\[K")
    t.text = ""
    t.size(20, 60)
    t.wait(r"INITIATOR +OVER")  # no room for the target
    t.key("q")
    t.wait(r"\033\[\?1049l")
    check(t.status() == 0, "top did not end well")
    t = Terminal(b.words("top"))
    t.wait(r"by .*IOPS")
    t.key("\x03")  # Ctrl-C
    t.wait(r"\033\[\?1049l")
    check(t.status() == 0, "top did not end with Ctrl-C")


def who_was_refused_is_admitted(b):
    acls = f"/iscsi/{b.target.iqn}/tpg1/acls"
    check("No recent refusals" in b.shell(acls, "create", "from_seen="), "a login was refused")
    luns = ["farblock-initiator", "luns", b.target.url(), "--initiator-name", STRANGER]
    check(farblock.run(luns, check=False).returncode, "a stranger was let in")
    check(f"{STRANGER} from 127.0.0.1" in b.shell(acls, "create", "--from-seen"), "not seen")
    check("no recent refusal" in b.shell(acls, "create", f"from_seen={STRANGER}x", status=3), "x")
    b.shell(acls, "create", status=2)
    b.shell(acls, "create", f"from_seen={STRANGER}")
    farblock.run(luns)
    check("No recent refusals" in b.shell(acls, "create", "--from-seen"), "is still among the refused")


def sessions_end_as_told(b):
    sid = str(b.json("sessions")[0]["sid"])
    text = b.shell("session", "drop", sid)
    check(text == f"Session {sid} of {WORKING} ended: dropped by the administrator.\n", text)
    eventually("a new session", lambda: b.json("sessions"))
    sid = str(b.json("sessions")[0]["sid"])
    text = b.shell("session", "drain", sid, "2")
    check(f"Asked session {sid} to log out within 2 s.\nSession {sid} of {WORKING} ended: "
          in text, text)
    b.shell("session", "drop", "99999", status=3)
    b.shell("session", "drop", status=2)
    b.shell("session", "shoot", sid, status=2)


def codes_are_explained(b):
    text = b.shell("explain", "0201")
    check("authentication failure" in text and "cause:" in text and "cure:" in text, text)
    check("Illegal Request, invalid field in CDB" in b.shell("explain", "5/24/00"), "sense")
    check(b.json("explain", "cm", "8")[0]["kind"] == "cm", "a kind")
    check("kinds" in b.shell("explain", "gibberish", status=3), "gibberish")
    check({"kind": "sense", "title": "SCSI sense"} in b.json("explain"), "kinds as JSON")
    # Whatever a refusal shows can be explained.
    for refusal in b.json("refusals"):
        b.shell("explain", f"{refusal['status']:04x}")


def main():
    with Scratch(in_memory=True) as scratch:
        b = Bench(scratch)
        with b.daemon:
            try:
                b.begin_load()
                sessions_tell_all(b)
                top_as_text(b)
                top_in_a_terminal(b)
                who_was_refused_is_admitted(b)
                sessions_end_as_told(b)
                codes_are_explained(b)
            finally:
                b.load.kill()


if __name__ == "__main__":
    farblock.main(main)
