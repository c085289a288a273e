#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A client of farblockd's control socket (docs/api.md). Creates a RAM disk, exports it and shows it:

    farblock_client.py [SOCKET]
"""
import json
import socket
import sys


class Farblock:
    def __init__(self, path="/run/farblock/control.sock"):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rb")

    def call(self, method, **params):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        answer = json.loads(self.lines.readline())
        if "error" in answer:
            raise OSError(answer["error"]["message"])
        return answer["result"]

    def run(self, path, command, *positional, **named):
        return self.call("tree.run", path=path, command=command, positional=positional, named=named)


if __name__ == "__main__":
    farblock = Farblock(*sys.argv[1:])
    farblock.run("/", "begin")
    disk = farblock.run("/backstores/ramdisk", "create", "example", size="64M")["created"]
    target = farblock.run("/iscsi", "create")["created"]
    farblock.run(f"{target}/tpg1/luns", "create", disk)
    print("revision", farblock.run("/", "commit")["revision"])
    for node in farblock.call("tree.ls", path=f"{target}/tpg1")["children"]:
        print(node["name"], node["summary"])
