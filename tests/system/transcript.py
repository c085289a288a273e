#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The shell, command by command, as transcript/*.txt tell it: each file is an empty daemon.

    transcript.py [--update] [FILE ...]

    # a comment
    > iscsi create iqn.2025-01.org.example:t      a line of the shell
    Created target iqn.2025-01.org.example:t.     what it prints, errors included
    [exit 5]                                      its exit status, unless that is 0
    ! login HOST TARGET                           an initiator logs in (also: read HOST, logout
                                                  HOST, file NAME SIZE|TEXT, device SIZE)

<any> stands for any text, a line <lines> for any number of lines, {dir} for the daemon's folder,
{dir-} for a name made of it, {device} for the loop device; a line of ls with one of them has three
dots, and the mark below one stands in front. --update writes what was printed into the files, for reading. The
network is one of our own, with 127.0.0.1 in it. Without arguments every command of every class
that farblockd's schema has must be in some transcript.
"""

import ctypes
import fcntl
import glob
import json
import os
import re
import socket
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import farblock  # noqa: E402
import iscsi  # noqa: E402

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
# The shell's own commands, which no class has.
OWN = ("cd", "pwd", "ls", "get", "help")


def own_network():
    """Hides ports and addresses of the machine."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) and libc.unshare(CLONE_NEWUSER | CLONE_NEWNET):
        raise farblock.Skip("no network namespace can be made here")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        flags, = struct.unpack("16xh22x", fcntl.ioctl(s, SIOCGIFFLAGS, struct.pack("16s24x", b"lo")))
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", flags | IFF_UP))


class Block:
    """A line of the shell or of ours with what is to follow it."""

    def __init__(self, line, number):
        self.line, self.number, self.expected = line, number, []


def parse(path):
    """The comments and blank lines in front of a block stay with it."""
    head, blocks = [], []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if line.startswith(("> ", "! ")):
                blocks.append(Block(line, number))
                blocks[-1].head, head = head, []
            elif line.startswith("#") or not line and not blocks:
                head.append(line)
            elif blocks:
                blocks[-1].expected.append(line)
    for block in blocks:
        while block.expected and not block.expected[-1]:
            block.expected.pop()
    return blocks


def pattern(line):
    """As long as names of folders are, a line of ls has more or fewer dots."""
    parts = [re.escape(part) for part in line.split("<any>")]
    return ".*".join(parts)


def matches(expected, got):
    """Whether the lines got are those expected."""
    if not expected:
        return not got
    if expected[0] == "<lines>":
        return any(matches(expected[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and bool(re.fullmatch(pattern(expected[0]), got[0])) and \
        matches(expected[1:], got[1:])


class Stage:
    """A daemon in a folder, its shell, and the initiators that are logged in."""

    def __init__(self, scratch, name):
        self.scratch, self.sessions, self.device = scratch, {}, None
        self.daemon = farblock.Farblockd(scratch, farblock.Config(), name)
        os.environ["XDG_CONFIG_HOME"] = scratch.file(f"{name}-preferences")
        os.unlink(self.daemon.config_path)

    def __enter__(self):
        self.daemon.__enter__()
        return self

    def __exit__(self, *why):
        for session in self.sessions.values():
            session.close()
        self.daemon.__exit__(*why)
        if self.device:
            subprocess.run(["losetup", "-d", self.device], check=False)

    def own(self, words):
        if words[0] == "login":
            self.sessions[words[1]] = iscsi.Session(
                f"iscsi://127.0.0.1:3260/{words[2]}/0", initiator=words[1])
        elif words[0] == "read":
            self.sessions[words[1]].run(iscsi.read16(0, 1), read_len=512)
        elif words[0] == "logout":
            self.sessions.pop(words[1]).logout()
        elif words[0] == "file":
            self.make_file(*map(self.real, words[1:]))
        elif words[0] == "device":
            self.make_device(int(words[1]))
        else:
            raise farblock.Failure(f"! {words[0]}: no such word")

    def make_file(self, name, *what):
        """Of a size, or with a text, in which \\n ends a line."""
        if what[0].isdigit():
            self.scratch.file(name, size=int(what[0]))
        else:
            self.scratch.file(name, content=" ".join(what).replace("\\n", "\n"))

    def make_device(self, size):
        done = subprocess.run(
            ["losetup", "--find", "--show", self.scratch.file("device.img", size=size)],
            capture_output=True, text=True, check=False) if os.geteuid() == 0 else None
        if not done or done.returncode:
            raise farblock.Skip("no loop device can be made here")
        self.device = done.stdout.strip()

    def real(self, text):
        return text.replace("{dir}", self.scratch.path).replace("{device}", self.device or "{device}")

    def shown(self, text):
        """Without the paths of this run, and what depends on their length."""
        lines, has_path = [], False
        for line in text.splitlines():
            if has_path and line.strip() == "^":
                line = "  ^"
            plain = line.replace(self.scratch.path, "{dir}")
            plain = plain.replace(self.scratch.path[1:].replace("/", "-"), "{dir-}")
            if self.device:
                plain = plain.replace(self.device, "{device}")
            has_path = plain != line
            if has_path:
                plain = re.sub(r" \.{3,} \[", " ... [", plain)
            lines.append(plain.rstrip())
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def shell(self, *words):
        return subprocess.run(
            [farblock.program("farblock"), "--socket", self.daemon.socket_path, *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=30, check=False)

    def run(self, line):
        done = self.shell(self.real(line))
        got = self.shown(done.stdout)
        return got + ([f"[exit {done.returncode}]"] if done.returncode else [])

    def command_of(self, line):
        """(class, command) that a line runs."""
        words = line.split()
        is_path = "/" in words[0] or words[0].startswith((".", "@", "*"))
        path, command = (words[0], words[1:2]) if is_path else ("/", words[:1])
        done = self.shell("--json", path, "info")
        if done.returncode or not command:
            return None
        return json.loads(done.stdout)["class"], command[0]


def play(path, seen, is_update):
    """Runs a transcript; seen: what it exercises is added. Returns its failures."""
    failures, out = [], []
    blocks = parse(path)
    with farblock.Scratch() as scratch, Stage(scratch, "transcript") as stage:
        for block in blocks:
            got = []
            if block.line.startswith("! "):
                stage.own(block.line[2:].split())
            else:
                seen.add(stage.command_of(block.line[2:]))
                got = stage.run(block.line[2:])
                if not matches(block.expected, got):
                    failures.append("\n".join([f"{path}:{block.number}: {block.line}", "expected",
                                               *block.expected, "got", *got]))
            kept = block.expected if matches(block.expected, got) else got
            out += [*block.head, block.line, *kept]
    if is_update:
        with open(path, "w", encoding="utf-8") as to:
            to.write("\n".join(out) + "\n")
        return []
    return failures


def missing(schema, seen):
    """Commands of the schema that no transcript runs."""
    everywhere = {command for _, command in seen}
    lacks = [f"every node: {c['name']}" for c in schema["every_node"] if c["name"] not in everywhere]
    lacks += [f"every node: {name}" for name in OWN if name not in everywhere]
    for name, node in schema["classes"].items():
        lacks += [f"{name}: {c['name']}" for c in node["commands"] if (name, c["name"]) not in seen]
    return lacks


def main():
    is_update = sys.argv[1:2] == ["--update"]
    files = sys.argv[1 + is_update:]
    own_network()
    seen, failures, skipped = set(), [], []
    for path in files or sorted(glob.glob(os.path.join(HERE, "transcript", "*.txt"))):
        try:
            failures += play(path, seen, is_update)
        except farblock.Skip as why:
            skipped.append(f"{os.path.basename(path)}: {why}")
    for text in failures:
        print(text, end="\n\n")
    if not files and not skipped:
        with farblock.Scratch() as scratch, Stage(scratch, "schema") as stage:
            lacks = missing(stage.daemon.rpc("schema"), seen - {None})
        failures += lacks
        print("".join(f"no transcript runs {text}\n" for text in lacks), end="")
    if failures:
        raise farblock.Failure(f"{len(failures)} failures")
    if skipped:
        raise farblock.Skip("; ".join(skipped))


if __name__ == "__main__":
    farblock.main(main)
