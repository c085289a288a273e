#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""More clients at the control socket than there is room for: who is silent makes way and is told so,
who stands still in the middle makes way a second later, who has a transaction open stays; and a
shell that was displaced continues. Who asks without a pause leaves time for others; who stands still
in the middle is dropped after 10 s, and logged, however few there are."""

import json
import os
import select
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from farblock import check  # noqa: E402

ROOM = 64
BEGIN = {"path": "/", "command": "begin", "positional": [], "named": {}}
COMMIT = {**BEGIN, "command": "commit"}
STUCK_S = 5  # a second, on a slow machine


class Client:
    def __init__(self, daemon, text=b""):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(daemon.socket_path)
        self.socket.settimeout(20)
        self.socket.sendall(text)
        self.lines = self.socket.makefile("rb")

    def call(self, method, params):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        return json.loads(self.lines.readline())

    def last_words(self):
        """The error that comes before the end."""
        told = json.loads(self.lines.readline())
        check(told["id"] is None and not self.lines.readline(), f"{told}")
        return told["error"]["message"]

    def close(self):
        self.lines.close()
        self.socket.close()


class Crowd(list):
    def __init__(self, daemon, count, text=b""):
        super().__init__(Client(daemon, text) for _ in range(count))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for client in self:
            client.close()


def ls(daemon):
    done = farblock.run(["farblock", "--socket", daemon.socket_path, "ls"], check=False)
    return done.returncode, done.stdout


def silent_ones_make_way(daemon):
    with Crowd(daemon, ROOM) as crowd:
        for _ in range(3):
            status, said = ls(daemon)
            check(status == 0, f"status {status}: {said}")
        told = crowd[0].last_words()
        check("all 64 connections are in use" in told and "idle for longest" in told, told)
        check("result" in crowd[-1].call("version", {}), "the last one went first")


def who_stands_still_makes_way(daemon):
    with Crowd(daemon, ROOM, b'{"jsonrpc'):
        tries = []
        farblock.eventually("an answer", lambda: tries.append(ls(daemon)) or not tries[-1][0], STUCK_S)
        for status, said in tries[:-1]:
            check(status == 5 and "all 64 connections are in use: none is idle" in said, f"{status}: {said}")


def a_transaction_stays(daemon):
    with Crowd(daemon, 1) as owner:
        check("result" in owner[0].call("tree.run", BEGIN), "no transaction")
        with Crowd(daemon, 2 * ROOM):
            answer = owner[0].call("tree.run", COMMIT)
            check("result" in answer, f"{answer}")


def a_shell_goes_on(daemon):
    command = [farblock.program("farblock"), "--socket", daemon.socket_path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as shell:
        def ask():
            shell.stdin.write("version\n")
            shell.stdin.flush()
            return shell.stdout.readline()
        first = ask()
        with Crowd(daemon, 2 * ROOM):
            second = ask()
        shell.stdin.close()
        check(first.startswith("farblock version") and second == first, f"{first!r}, {second!r}")


def who_asks_without_end_leaves_room(daemon):
    """A client is answered while another's requests, sent before, are still being carried out."""
    with Crowd(daemon, 2) as (greedy, other):
        check("result" in other.call("version", {}), "no version")
        work = {"jsonrpc": "2.0", "method": "schema", "params": {}}  # no id: it wants no answer
        last = {**work, "id": 1, "method": "version"}
        greedy.socket.sendall((json.dumps(work) + "\n").encode() * 1000 + json.dumps(last).encode() + b"\n")
        check("result" in other.call("version", {}), "no version")
        greedy.socket.setblocking(False)
        try:
            said = greedy.socket.recv(100)
        except BlockingIOError:
            said = None
        check(said is None, f"all of the other's requests came first: {said}")
        greedy.socket.settimeout(60)
        check(b"result" in greedy.socket.recv(100), "the last of its requests was not answered")


def who_stands_still_is_dropped(daemon):
    schema = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "schema", "params": {}}).encode()
    half, deaf = Client(daemon, schema[:9]), Client(daemon, (schema + b"\n") * 100)
    for client, cause in (half, "request incomplete"), (deaf, "response not read"):
        end = select.poll()
        end.register(client.socket, 0)  # POLLHUP
        check(end.poll(60000), f"{cause}: not dropped")
        check(f"client dropped: {cause} after 10 s" in daemon.log(), f"{cause}: not logged")
        client.close()


def main():
    with farblock.Scratch() as scratch, farblock.Farblockd(scratch, farblock.Config()) as daemon:
        for test in (silent_ones_make_way, who_stands_still_makes_way, a_transaction_stays, a_shell_goes_on,
                     who_asks_without_end_leaves_room, who_stands_still_is_dropped):
            test(daemon)
            print(f"{test.__name__}: passed")
    return 0


if __name__ == "__main__":
    farblock.main(main)
