#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Wireshark's dissectors read what farblockd and farblock-initiator say over iSER and software
iWARP, captured in a network namespace of the test's own: every frame is understood, none is
malformed, and the messages are those that a session of logins, writes and reads consists of."""

import os
import socket
import struct
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from farblock import Config, Failure, Farblockd, Scratch, Skip, main, program, run  # noqa: E402

MIB = 1 << 20
HOST, PORT = "127.0.0.1", 3260
ETH_P_ALL = 3
SO_RCVBUFFORCE, SOL_PACKET, PACKET_STATISTICS = 33, 263, 6  # of Linux
# What has to be there, by name and filter.
WANTED = {
    "MPA request": "iwarp_mpa.req",
    "MPA reply": "iwarp_mpa.rep",
    "Send": "iwarp_rdma.opcode == 3",
    "Read Request": "iwarp_rdma.opcode == 1",
    "Read Response": "iwarp_rdma.opcode == 2",
    "RDMA Write": "iwarp_rdma.opcode == 0",
}
# Protocols above iWARP that take other messages for theirs.
NOT_HERE = ("--disable-protocol", "rpcordma", "--disable-protocol", "smb_direct")
BAD = ("(iwarp_mpa || iwarp_ddp_rdmap) && "
       "(_ws.malformed || _ws.expert.severity == error || iwarp_mpa.bad_length)")


class Capture:
    """Everything on the loopback device, into a pcap file."""

    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 128 * MIB)
        self.socket.bind(("lo", 0))
        self.socket.settimeout(0.5)
        self.is_over = False
        self.thread = threading.Thread(target=self.write)
        self.thread.start()

    def write(self):
        with open(self.path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 1 << 18, 1))
            while True:
                try:
                    frame, where = self.socket.recvfrom(1 << 18)
                except TimeoutError:
                    if self.is_over:
                        return
                    continue
                if where[2] != socket.PACKET_OUTGOING:  # lo shows each twice
                    file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)

    def end(self):
        self.is_over = True
        self.thread.join()
        _, lost = struct.unpack("II", self.socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        self.socket.close()
        if lost:
            raise Failure(f"{lost} frames were not captured")


def session(url):
    """All that a session does: logins, commands with immediate, read and written data."""
    words = ("--initiator-name", "iqn.2025-01.org.farblock.test:tshark")
    run(["farblock-initiator", "discover", url.rsplit("/", 2)[0], *words])
    run(["farblock-initiator", "ping", url, *words])
    for bs in ("512", "8704", "64k", "1m"):
        run(["farblock-initiator", "verify", url, "--pattern", "1", "--bs", bs, "--length",
             str(max(2 * 8704, 2 * MIB if bs == "1m" else 131072) // 512 * 512), *words])


def captured(scratch):
    config = Config()
    target = config.target([config.ramdisk("rd0", 16 * MIB)], portals=[(HOST, PORT)])
    path = scratch.file("iser.pcap")
    with Farblockd(scratch, config):
        capture = Capture(path)
        try:
            session(target.url().replace("iscsi://", "iser://"))
        finally:
            capture.end()
    return path


def frames(path, display):
    """How many frames a display filter finds, and the first of them in tshark's words."""
    done = subprocess.run(
        [program("tshark"), "-n", "-r", path, "-o", "tcp.try_heuristic_first:TRUE",
         # The two CPUs of a connection reach the capture in any order.
         "-o", "tcp.reassemble_out_of_order:TRUE", *NOT_HERE,
         "-Y", display],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        timeout=120)
    if done.returncode:
        raise Failure(f"tshark: {done.stderr.strip()}")
    lines = done.stdout.splitlines()
    return len(lines), "\n".join(lines[:5])


def check():
    run(["ip", "link", "set", "lo", "up"])
    with Scratch(in_memory=True) as scratch:
        path = captured(scratch)
        for name, display in WANTED.items():
            count, _ = frames(path, display)
            print(f"{name}: {count} frames")
            if not count:
                raise Failure(f"no {name} among the frames")
        count, first = frames(path, BAD)
        if count:
            raise Failure(f"{count} frames that tshark calls malformed:\n{first}")


def enter():
    """Again in a separate network namespace, where it may capture and has the port to itself."""
    for name in ("tshark", "ip"):
        program(name)
    unshare = [program("unshare"), "--net"]
    if os.geteuid():
        unshare += ["--user", "--map-root-user"]
    done = run([*unshare, "true"], check=False)
    if done.returncode:
        raise Skip(f"no network namespace can be made: {done.stdout.strip()}")
    os.environ["FARBLOCK_TEST_INSIDE"] = "1"
    os.execv(unshare[0], [*unshare, sys.executable, os.path.abspath(__file__)])


if __name__ == "__main__":
    main(check if "FARBLOCK_TEST_INSIDE" in os.environ else enter)
