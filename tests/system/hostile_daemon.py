#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The shell where something else listens at the socket: answers of any shape end in a message and an
exit status, nothing of them gets at the terminal, and one without an end is given up."""

import json
import os
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from farblock import check  # noqa: E402

EVIL = "\x1b]0;owned\x07\x1b[2J\r\x7f\u009b31m\u202e"
RESULTS = {
    "null": None, "a number": 5, "text": EVIL, "an array": [1, None, {}, [5]],
    "odd messages": {"messages": [None, 5, {"a": 1}, [1]], "data": [5, None, {"x": None}]},
    "messages that are text": {"messages": "x", "data": "y", "created": 5, "revision": "a"},
    "evil text": {"messages": [EVIL], "data": {EVIL: EVIL, "rows": EVIL, "children": [
        {"name": EVIL, "summary": EVIL, "class": EVIL, "children": None}]}},
    "odd sessions": {"sessions": [5, {"sid": EVIL, "luns": 5, "parameters": 5}], "disks": 5,
                     "workers": [[]], "storage_objects": {"x": 5}, "progress": {"a": 1}},
    "an odd schema": {"every_node": [{"name": None, "params": 5}, 5, None], "methods": 5,
                      "classes": {"root": {"commands": [None, {"name": 5}], "groups": [[]]}}},
    "an odd LUN": {"class": "lun", "storage_object": EVIL, "lun": -5, "tpg_lun": {}, "attach": [5, {}],
                   "mapped_luns": [None, 5, "/x", "/iscsi/t/tpg1/acls/", f"/iscsi/t/tpg1/acls/{EVIL}"],
                   "rows": [None, {"name": 5}, {"name": "userid", "value": EVIL * 30}], "state": 5,
                   "children": [None, {"name": "127.0.0.1:1"}, {"name": EVIL}, {"class": "lun"}]},
    "odd settings": {"groups": 5, "rows": {"a": 1}, "group": EVIL},
}
COMMANDS = [
    ["ls"], ["--json", "ls"], ["/x", "create", "y"], ["version"], ["help"], ["sessions"],
    ["get", "global"], ["set", "global", "a=b"], ["refusals"],
    ["generations"], ["--complete", "/back"], ["--complete", "/backstores/ramdisk create "],
    ["export", "/dev/null", "--to", "iqn.2025-01.org.example:i"], ["doctor", "portals"],
    ["boot-info", "/x"], ["boot-info", "/iscsi/t/tpg1/luns/lun0"], ["boot-check", "/iscsi/t/tpg1"],
    ["boot-info", "/srpt/t/luns/lun0"],
    ["/backstores", "help", "create"],
]
OVER_TIME = [["sessions", "detail"], ["--json", "sessions", "detail"], ["top", "--once"],
             ["--json", "top", "--once"]]  # look twice, a second apart


class Impostor:
    """Answers each request of the shell by a function of its id; None: it closes."""

    def __init__(self, path):
        self.path, self.answer = path, None
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(5)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client, _ = self.listener.accept()
            with client, client.makefile("rb") as lines:
                try:
                    for line in lines:
                        client.sendall(self.answer(json.loads(line)["id"]))
                except (OSError, TypeError):
                    pass

    def shell(self, words):
        done = subprocess.run([farblock.program("farblock"), "--socket", self.path, *words],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=farblock.HANG)
        text = done.stdout.decode(errors="replace")
        if done.returncode < 0 or farblock.SANITIZER.search(text):
            raise farblock.Failure(f"{words}: ended with {done.returncode}: {text[-500:]}")
        return done.returncode, text


def odd_answers_are_survived(impostor):
    for name, result in RESULTS.items():
        impostor.answer = lambda number, r=result: json.dumps(
            {"jsonrpc": "2.0", "id": number, "result": r}).encode() + b"\n"
        for words in COMMANDS + (OVER_TIME if name == "odd sessions" else []):
            _, text = impostor.shell(words)
            found = [c for c in "\x1b\x07\r\x7f\u009b\u202e" if c in text]
            if found:
                raise farblock.Failure(f"{name}: {words} printed {found}: {text[:200]!r}")


def what_answers_something_else_is_no_daemon(impostor):
    answers = {
        "another id": lambda number: b'{"id": 77, "result": {"messages": ["for another"]}}\n',
        "neither result nor error": lambda number: b'{"id": %d}\n' % number,
        "no object": lambda number: b"[]\n",
        "no JSON": lambda number: b"\xff\xfe\0\n",
        "no end": lambda number: b"x" * (300 << 20),
    }
    for name, answer in answers.items():
        impostor.answer = answer
        status, text = impostor.shell(["/x", "create", "y"])
        if status != 1 or "farblockd's answer" not in text:
            raise farblock.Failure(f"{name}: exit status {status}: {text[:300]!r}")


def only_a_named_file_is_written(impostor, scratch):
    path = scratch.file("unasked")
    impostor.answer = lambda number: json.dumps(
        {"jsonrpc": "2.0", "id": number, "result": {"messages": [], "file": {
            "name": path, "text": "x"}}}).encode() + b"\n"
    for words in (["version"], ["saveconfig"], ["saveconfig", path + "2"]):
        status, text = impostor.shell(words)
        check(status and "does not name" in text, f"{words}: {status}: {text}")
    check(not os.path.exists(path), "a file was written that no command names")
    check(impostor.shell(["saveconfig", path])[0] == 0, "the named file was not written")


def main():
    with farblock.Scratch() as scratch:
        impostor = Impostor(scratch.file("impostor.sock"))
        odd_answers_are_survived(impostor)
        only_a_named_file_is_written(impostor, scratch)
        what_answers_something_else_is_no_daemon(impostor)
    return 0


if __name__ == "__main__":
    farblock.main(main)
