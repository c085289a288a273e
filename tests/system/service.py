#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the daemon tells the service manager (sd_notify(3)): that it is ready, that it lives, that
it looks again when told to, and that it ends; each at its time, and not before; and in a line what it serves."""

import os
import signal
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402


class Manager:
    """The socket that systemd would listen at."""

    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.settimeout(20)

    def hear(self):
        return self.socket.recv(4096).decode().split("\n")

    def wait_for(self, line):
        told = None
        while told != [line]:
            told = self.hear()
            if told[0].startswith("STATUS=") and told != [line]:
                raise farblock.Failure(f"the manager was told {told}, not {line}")
        print("told:", line)

    def expect(self, *lines):
        """The next word; that the daemon lives, and what it serves now, comes in between."""
        told = self.hear()
        while len(told) == 1 and told != list(lines) and told[0][:7] in ("WATCHDO", "STATUS="):
            told = self.hear()
        if [line.split("=")[0] for line in told] != [line.split("=")[0] for line in lines]:
            raise farblock.Failure(f"the manager was told {told}, not {list(lines)}")
        print("told:", " ".join(told))


def main():
    with farblock.Scratch() as scratch:
        manager = Manager(scratch.file("notify"))
        config = farblock.Config()
        config.target([config.ramdisk("rd", 16 << 20)])
        daemon = farblock.Farblockd(scratch, config)
        daemon.environment = {"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "200000"}
        with daemon:
            manager.expect("READY=1", "STATUS=")
            daemon.rpc("version")  # ready is ready
            manager.expect("WATCHDOG=1")
            manager.expect("WATCHDOG=1")
            daemon.signal(signal.SIGHUP)
            manager.expect("RELOADING=1", "MONOTONIC_USEC=")
            manager.expect("READY=1", "STATUS=")
            serves = "STATUS=1 target, 2 storage objects; 0 logins, 0 refused"
            daemon.rpc("tree.run", path="/backstores/null", command="create", positional=["n", "1M"])
            manager.wait_for(serves)
            daemon.signal(signal.SIGTERM)
            manager.expect("STOPPING=1")
    return 0


if __name__ == "__main__":
    farblock.main(main)
