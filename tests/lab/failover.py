#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Do old writes come back below the kernel's initiator? open-iscsi and dm-multipath of the lab's
guest, two paths to one LUN, each through a relay. In an outage the first path's relay holds what it
receives, without a word, and delivers it afterwards, as a network does that was only slow. Meanwhile
the kernel fails over, sends the writes again on the second path, and newer ones after them. Counts
the acknowledged writes that older ones have replaced (docs/fences.md). Not a test.

    failover.py farblockd|lio [--outages N] [--seconds FROM TO]

Needs tests/lab/prepare.sh to have run."""

import argparse
import os
import random
import socket
import struct
import sys
import threading
import time
from types import SimpleNamespace

import farblock_path  # noqa: F401: makes tests/lib importable
import farblock
import fence_targets
import guest
import net
import open_iscsi
from kernel import wait_until
from multipath import Multipath

BLOCKS, HOLD_MS = 16, 300
STOP = "/run/stamps.stop"
SETTINGS = {**open_iscsi.IMPATIENT, "node.session.timeo.replacement_timeout": "3",
            "node.conn[0].timeo.login_timeout": "5", "node.session.iscsi.MaxBurstLength": "262144",
            "node.session.iscsi.InitialR2T": "No"}


class Relay(threading.Thread):
    """Forwards the connections to one address; while held, nothing leaves it."""

    def __init__(self, here, there):
        super().__init__(daemon=True)
        self.there, self.open, self.kept = there, threading.Event(), 0
        self.open.set()
        self.listener = socket.create_server(here)
        self.start()

    def run(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.connect, args=(client,), daemon=True).start()

    def connect(self, client):
        self.open.wait()
        server = socket.create_connection(self.there)
        for one in (client, server):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for pair in ((client, server), (server, client)):
            threading.Thread(target=self.pump, args=pair, daemon=True).start()

    def pump(self, source, sink):
        """A reset is passed on as one, after what came before it."""
        held = []
        reader = threading.Thread(target=self.read, args=(source, held), daemon=True)
        reader.start()
        try:
            while True:
                if not held:
                    time.sleep(0.002)
                    continue
                self.open.wait()
                data = held.pop(0)
                if not isinstance(data, bytes):
                    break
                sink.sendall(data)
            if data == "reset":
                sink.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                sink.close()
            else:
                sink.shutdown(socket.SHUT_WR)
        except OSError:
            source.close()

    def read(self, source, held):
        try:
            while data := source.recv(262144):
                if not self.open.is_set():
                    self.kept += len(data)
                held.append(data)
            held.append("end")
        except OSError:
            held.append("reset")


def stamps(scratch):
    path, source = scratch.file("stamps"), os.path.join(os.path.dirname(__file__), "stamps.c")
    farblock.run(["cc", "-O1", "-static", "-pthread", "-o", path, source])
    os.chmod(scratch.path, 0o755)
    return path


def log(machine):
    return machine.run("cat /run/stamps.log; true").splitlines()


def outages(target, machine, scratch, asked):
    relays = [Relay((host, net.PORT + 10), target.portals[name])
              for host, name in zip(net.HOSTS, ("same", "other"))]
    machine.run(f"ip addr replace {net.GUESTS[1]}/24 dev eth0")
    initiator = open_iscsi.Initiator(machine, net.HOSTS[0], SETTINGS)
    paths = SimpleNamespace(iqn=target.iqn, portals=[(host, net.PORT + 10) for host in net.HOSTS])
    with Multipath(machine) as multipath:
        for number in (0, 1):
            initiator.login(paths, number)
        device = multipath.device(2)
        initiator.in_background("stamps", f"/host{stamps(scratch)} {device} {BLOCKS} {HOLD_MS} {STOP}")
        for number in range(1, asked.outages + 1):
            before, seconds = len(log(machine)), random.uniform(*asked.seconds)
            relays[0].kept = 0
            relays[0].open.clear()
            time.sleep(seconds)
            failed_over = len(multipath.working()) == 1
            relays[0].open.set()
            wait_until(lambda: len(multipath.working()) == 2, "both paths are used")
            time.sleep(5)
            print(f"| {target.version()} | outage {number} | {seconds:.0f} s | failed over: "
                  f"{'yes' if failed_over else 'no'} | {relays[0].kept} bytes held | "
                  f"{len(log(machine)) - before} old writes came back |", flush=True)
        machine.run(f"touch {STOP}")
        print(initiator.finished("stamps").splitlines()[-1], flush=True)
        initiator.end()


def run():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("target", choices=("farblockd", "lio"))
    parser.add_argument("--outages", type=int, default=10)
    parser.add_argument("--seconds", type=float, nargs=2, default=(10, 30))
    asked = parser.parse_args()
    if not os.environ.get("FARBLOCK_LAB_INSIDE"):
        net.enter([sys.executable, *sys.argv])
    with farblock.Scratch() as scratch:
        target = fence_targets.KINDS[asked.target](scratch, 0, None)
        if asked.target == "lio":
            target.guest.shares_host = True
            with target:
                outages(target, target.guest, scratch, asked)
        else:
            net.up()
            with target, guest.Guest(scratch, net.Tap, shares_host=True) as machine:
                outages(target, machine, scratch, asked)
    return 0


if __name__ == "__main__":
    farblock.main(run)
