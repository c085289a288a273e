#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The daemon opens no file that a command names for its client, whatever the client's rights: the
client sends the content, and writes what comes back.

    client_files.py
"""

import ctypes
import json
import os
import select
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import farblock  # noqa: E402
from farblock import Shell, check  # noqa: E402

IN_OPEN = 0x20
DISK = "/backstores/ramdisk/rd0"


class Opens:
    """Names of files that anyone opens in a directory."""

    def __init__(self, folder):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_CLOEXEC)
        check(libc.inotify_add_watch(self.fd, folder.encode(), IN_OPEN) >= 0, "no inotify")

    def seen(self):
        names = []
        while select.select([self.fd], [], [], 0)[0]:
            data, at = os.read(self.fd, 65536), 0
            while at < len(data):
                size = struct.unpack_from("iIII", data, at)[3]
                names.append(data[at + 16:at + 16 + size].rstrip(b"\0").decode())
                at += 16 + size
        return names


def calls(daemon):
    """Every parameter that is a file of the client: (path, command, arguments before it, name)."""
    classes = daemon.rpc("schema")["classes"]
    for path, kind in (("/", "root"), (DISK, "storage")):
        for command in classes[kind]["commands"]:
            for row in command["params"]:
                if row.get("of") == "client":
                    yield path, command["name"], row["name"]


def no_file_is_opened(daemon, folder):
    """Neither a file nor a FIFO, which would block the daemon."""
    secret, fifo = os.path.join(folder, "secret.json"), os.path.join(folder, "fifo")
    with open(secret, "w", encoding="utf-8") as text:
        text.write('{"storage_objects": [], "targets": []}')
    os.mkfifo(fifo)
    opens, count = Opens(folder), 0
    for path, command, name in calls(daemon):
        for file in (secret, fifo, os.path.join(folder, "none")):
            named = {name: file}
            if command == "import":
                named = {"kind": "tgt", "file": "/dev/null", **named}
            try:
                answer = daemon.rpc("tree.run", path=path, command=command, named=named)
                check(answer["file"]["name"] == file, answer)
            except farblock.Failure as why:
                check("EREMOTE" in str(why), why)
            count += 1
    check(count >= 21, f"only {count} calls")
    check(not opens.seen(), "the daemon has opened a file of its client")
    check(sorted(os.listdir(folder)) == ["fifo", "secret.json"], os.listdir(folder))


def own_files_are_read_by_any_name(daemon, scratch):
    os.symlink(daemon.config_path, scratch.file("link"))
    for name in (daemon.config_path, scratch.file("link")):
        answer = daemon.rpc("tree.run", path="/", command="diff", positional=[name])
        check(answer["messages"] == [f"No differences from {name}."], answer)
    newest = daemon.rpc("tree.run", path="/", command="generations")["data"][0]["file"]
    answer = daemon.rpc("tree.run", path="/", command="plan", positional=[newest])
    check("- /backstores/ramdisk/rd1" in answer["messages"], answer)


def the_shell_does_not_wait_for_a_fifo(daemon, folder):
    for command in ("apply", "plan", "diff", "restoreconfig"):
        Shell(daemon)(command, os.path.join(folder, "fifo"), status=8, text="not a regular file")


def a_document_may_be_longer_than_other_requests(daemon, scratch):
    with open(daemon.config_path, encoding="utf-8") as text:
        doc = json.load(text)
    doc["storage_objects"] += [{"plugin": "ramdisk", "name": f"d{i}", "size": 1 << 20,
                                "alua_tpgs": [{"name": "x" * 2000}]} for i in range(3000)]
    path = scratch.file("long.json", content=json.dumps(doc))
    check(os.path.getsize(path) > 5 << 20, "the document is short")
    Shell(daemon)("plan", path, text="+ /backstores/ramdisk/d2999")


def main():
    with farblock.Scratch() as scratch:
        folder = scratch.file("files")
        os.mkdir(folder)
        with farblock.Farblockd(scratch, farblock.Config()) as daemon:
            for name in ("rd0", "rd1"):
                Shell(daemon)("/backstores/ramdisk", "create", name, "1M")
            no_file_is_opened(daemon, folder)
            own_files_are_read_by_any_name(daemon, scratch)
            the_shell_does_not_wait_for_a_fifo(daemon, folder)
            a_document_may_be_longer_than_other_requests(daemon, scratch)
    return 0


if __name__ == "__main__":
    farblock.main(main)
