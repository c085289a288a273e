#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A path that does not exist: the shell suggests the step that is near, and asks the daemon no more
often than the tree is deep, however long the path is."""

import os
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402

DEPTH = 6  # of /iscsi/TARGET/tpg1/acls/INITIATOR/mapped_lun0
REQUESTS = DEPTH + 6  # the line itself, which of its parts is not there, and names that are near


class Relay:
    """Between shells and the daemon; counts their requests."""

    def __init__(self, daemon, path):
        self.to, self.path, self.requests = daemon.socket_path, path, 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            client, _ = self.listener.accept()
            with client, socket.socket(socket.AF_UNIX) as daemon:
                daemon.connect(self.to)
                asked, answered = client.makefile("rb"), daemon.makefile("rb")
                for line in asked:
                    self.requests += 1
                    daemon.sendall(line)
                    client.sendall(answered.readline())

    def refused(self, path):
        """How many requests the shell made of a line, and what it said."""
        self.requests = 0
        batch = f"{self.path}.batch"
        with open(batch, "w", encoding="utf-8") as out:
            out.write(f"{path} ls\n")
        done = farblock.run(["farblock", "--socket", self.path, "-c", batch], check=False)
        if done.returncode != 3:
            raise farblock.Failure(f"{path[:60]}: status {done.returncode}: {done.stdout[:300]}")
        return self.requests, done.stdout


def main():
    with farblock.Scratch() as scratch:
        config = farblock.Config()
        target = config.target([config.ramdisk("rd0", 1 << 20)])
        with farblock.Farblockd(scratch, config) as daemon:
            relay = Relay(daemon, scratch.file("relay.sock"))
            deepest = f"/iscsi/{target.iqn}/tpg1"
            for path in ("/x" * 40000, f"{deepest}/luns" + "/x" * 40000, f"{deepest}/lunz/lun0/x/y"):
                requests, _ = relay.refused(path)
                if requests > REQUESTS:
                    raise farblock.Failure(f"{path[:60]}: {requests} requests")
            _, said = relay.refused(f"{deepest}/lunz/lun0/x/y")
            if f"Did you mean {deepest}/luns/lun0/x/y?" not in said:
                raise farblock.Failure(f"not suggested: {said}")
    return 0


if __name__ == "__main__":
    farblock.main(main)
