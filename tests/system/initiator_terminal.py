#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The long verbs of farblock-initiator in a terminal: a bar with rate and time left that fits its
width, in any locale; Ctrl-C in the middle says how far it came, in bytes and blocks, exits with 130,
and leaves no session at the target and nothing attached."""

import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import (Config, Failure, Farblockd, Scratch, Skip, check, eventually,  # noqa: E402
                      main, program, run)

try:
    import pexpect
except ImportError:
    pexpect = None

SIZE = 1 << 36  # of zeros: no verb gets through before the signal
FIGURES = r"\d+\.\d MB/s  \d+:\d\d(:\d\d)? left"


class Terminal:
    """A command in a terminal of so many columns."""

    def __init__(self, *words, columns=100, locale="C.UTF-8"):
        env = {**os.environ, "TERM": "xterm", "LC_ALL": locale}
        self.name = words[0]
        self.child = pexpect.spawn(program("farblock-initiator"), list(words), encoding="utf-8",
                                   timeout=60, dimensions=(24, columns), env=env)

    def wait(self, pattern):
        try:
            self.child.expect(pattern)
        except (pexpect.TIMEOUT, pexpect.EOF):
            raise Failure(f"{self.name}: no '{pattern}': {self.child.before!r}") from None
        return self.child

    def interrupt(self):
        self.child.sendintr()

    def end(self, status):
        self.wait(pexpect.EOF)
        said = self.child.before
        self.child.close()
        check(self.child.exitstatus == status,
              f"{self.name}: exit status {self.child.exitstatus}, not {status}: {said!r}")
        return said


def a_bar_and_its_interruption(rig, verb, words):
    """The bar has a percentage, an amount, a rate and a time; both counts of the end agree."""
    command = "verify" if "--pattern" in words else verb
    terminal = Terminal(command, *words)
    terminal.wait(rf"{verb} \[[#-]+\] +\d+%  \S+ of \S+  {FIGURES}")
    check(rig.sessions(), f"{verb}: no session while it works")
    terminal.interrupt()
    told = terminal.wait(rf"{verb}: interrupted after (\d+) of (\d+) bytes \((\d+) blocks of 512 "
                         r"bytes\)").match
    check(int(told[1]) == 512 * int(told[3]) and 0 < int(told[1]) < int(told[2]), told[0])
    terminal.end(130)
    eventually(f"{verb}: the end of its sessions", lambda: not rig.sessions())


def bench(rig):
    terminal = Terminal("bench", rig.url(0), "--time", "3600")
    terminal.wait(r"bench \[[#-]+\] +\d+%  \d+ of 3600 s  \d+ IOPS  \S+ MB/s  p99 \S+ us  "
                  r"\d+:\d\d left")
    terminal.interrupt()
    terminal.wait(r"bench: interrupted after \d+\.\d of 3600\.0 s")
    terminal.wait(r"randread bs 4096 depth 32: \d+ IOPS")
    terminal.end(130)
    eventually("bench: the end of its sessions", lambda: not rig.sessions())


def attach(rig, scratch):
    """The target is stopped: it answers nothing."""
    with Attachments(scratch) as attachments:
        rig.daemon.pause()
        terminal = Terminal("attach", rig.url(0), "--via", "socket", "--name", "half",
                            "--run-dir", attachments.run_dir)
        terminal.wait(r"attach half +waiting \(Ctrl-C ends it\)  \d+:\d\d")
        terminal.interrupt()
        terminal.wait("half: interrupted; undoing the attachment")
        terminal.end(130)
        rig.daemon.resume()
        check(attachments.list() == [], "attached")
        left = [f for f in os.listdir(attachments.run_dir) if f.endswith((".json", ".sock"))]
        check(not left, left)
    eventually("attach: the end of its sessions", lambda: not rig.sessions())


def a_login_that_waits_ends_at_once(rig):
    rig.daemon.pause()
    terminal = Terminal("luns", rig.url(0))
    eventually("a signal handler", lambda: catches_interrupts(terminal.child.pid))
    terminal.interrupt()
    terminal.wait("interrupted; not logged in")
    terminal.wait(pexpect.EOF)
    terminal.child.close()
    check(terminal.child.signalstatus == signal.SIGINT, f"ended by {terminal.child.signalstatus}")
    rig.daemon.resume()


def catches_interrupts(pid):
    """Its threads block the signal: one waits for it."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        blocked = next(line for line in status if line.startswith("SigBlk:"))
    return int(blocked.split()[1], 16) >> (signal.SIGINT - 1) & 1


def ping_sums_up(rig):
    terminal = Terminal("ping", rig.url(0), "--count", "1000000")
    terminal.wait("NOP-Out answered in ")
    terminal.interrupt()
    terminal.wait(r"\d+ answered; us: min \S+, mean \S+, max \S+")
    terminal.end(130)


def what_is_drawn(terminal):
    """Some pictures of a bar, whole ones."""
    drawn = ""
    for _ in range(3):
        terminal.wait(r" left\r")
        drawn += terminal.child.before + terminal.child.after
    terminal.interrupt()
    terminal.end(130)
    return drawn


def pictures_fit_their_terminal(rig):
    for columns, locale in ((40, "C"), (80, "C.UTF-8"), (250, "C")):
        terminal = Terminal("read", rig.url(0), "-o", "/dev/null", columns=columns, locale=locale)
        drawn = what_is_drawn(terminal)
        lines = [line.rstrip("\r") for line in drawn.replace("\x1b[K", "").split("\r") if line]
        check(lines and all(len(line) < columns for line in lines), f"{columns}: {lines}")
        check(drawn.isascii(), drawn)
        check(("[" in lines[0]) == (columns >= 80), lines[0])


def what_stands_still_says_so(rig):
    terminal = Terminal("read", rig.url(0), "-o", "/dev/null")
    terminal.wait(FIGURES)
    rig.daemon.pause()
    terminal.wait(r"stalled for 0:0\d")
    rig.daemon.resume()
    terminal.wait(FIGURES)
    terminal.interrupt()
    terminal.end(130)


def what_is_short_has_no_bar(rig):
    terminal = Terminal("read", rig.url(0), "-o", "/dev/null", "--length", "1m")
    said = terminal.end(0)
    check("\x1b" not in said and "Read 1048576 bytes" in said, said)


def bytes_do_not_go_to_a_terminal(rig):
    for words, text in ((("read", rig.url(0), "-o", "-"), "standard output is a terminal"),
                        (("write", rig.url(1), "-i", "-"), "standard input is a terminal")):
        terminal = Terminal(*words)
        terminal.wait(text)
        terminal.end(2)


def a_signature_is_asked_about(rig):
    """Only y overwrites; the question names the disk and what is on it."""
    for answer, status in (("n", 1), ("", 1), ("y", 130)):
        terminal = Terminal("bench", rig.url(2), "--op", "randwrite", "--time", "3600")
        terminal.wait(r"LUN 2 of \S+: overwrite an ext4 filesystem labelled data\? \[y/N\] ")
        terminal.child.sendline(answer)
        if status == 1:
            terminal.wait(r"LUN 2: refusing to overwrite an ext4 filesystem labelled data \(--force")
        else:
            terminal.wait("bench .* left")
            terminal.interrupt()
        terminal.end(status)


class Rig:
    def __init__(self, scratch):
        self.config = config = Config()
        zeros = config.ramdisk("zeros", SIZE)
        null = config.ramdisk("null", SIZE, {"emulate_tpu": 1, "max_unmap_lba_count": 8},
                              nullio=True)
        image = scratch.file("fs.img", size=16 << 20)
        run(["/usr/sbin/mkfs.ext4", "-q", "-L", "data", image])
        self.target = config.target([zeros, null, config.fileio("fs", image, 16 << 20)])
        self.sparse = scratch.file("sparse", size=SIZE)

    def url(self, lun):
        return self.target.url(lun)

    def sessions(self):
        return self.daemon.rpc("session.list")

    def verbs(self):
        zeros, null = self.url(0), self.url(1)
        return (("read", [zeros, "-o", "/dev/null"]),
                ("write", [null, "-i", self.sparse]),
                ("verify", [zeros, self.sparse]),
                ("write", [null, "--pattern", "5"]),
                ("checksum", [zeros]),
                ("unmap", [null]),
                ("copy", [zeros, null, "--way", "memory"]),
                ("copy", [zeros, null, "--way", "extended-copy"]),
                ("copy", [zeros, null, "--way", "odx"]))


def test():
    if pexpect is None:
        raise Skip("python3-pexpect is not installed")
    with Scratch() as scratch:
        rig = Rig(scratch)
        with Farblockd(scratch, rig.config) as rig.daemon:
            for verb, words in rig.verbs():
                a_bar_and_its_interruption(rig, verb, words)
            attach(rig, scratch)
            for case in (a_login_that_waits_ends_at_once, ping_sums_up, bench,
                         pictures_fit_their_terminal, what_stands_still_says_so,
                         what_is_short_has_no_bar, bytes_do_not_go_to_a_terminal,
                         a_signature_is_asked_about):
                case(rig)


main(test)
