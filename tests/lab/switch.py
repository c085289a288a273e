# SPDX-License-Identifier: BSD-2-Clause
"""The network between two guests, as a program: each Ethernet frame passes through here, and those of
one subnet (a path, net.py) can be held and delivered later in order, or lost, without a word."""

import socket
import struct
import threading

import net

TO_TARGET, TO_INITIATOR = 0, 1
IPV4 = 0x0800


class Port:
    """The network of one guest, which qemu connects to a socket of ours."""

    def __init__(self, scratch, number, address, gateway):
        self.guest, self.gateway, self.number = f"{address}/24", gateway, number
        self.path = scratch.file(f"port{number}")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()

    def options(self):
        return ["-netdev", f"stream,id=net0,server=off,addr.type=unix,addr.path={self.path}",
                "-device", f"virtio-net-pci,netdev=net0,mac=52:54:00:fa:b1:{self.number:02x}"]


def path_of(frame):
    """0 or 1, as in net.HOSTS; None for what is not IPv4: ARP always passes."""
    if len(frame) < 34 or struct.unpack_from(">H", frame, 12)[0] != IPV4:
        return None
    return frame[32]


class Way:
    """The frames in one direction."""

    def __init__(self):
        self.lock, self.cut, self.is_lossy, self.held = threading.Lock(), None, False, []
        self.passed, self.sink = [0, 0], None

    def take(self, frame):
        path = path_of(frame)
        with self.lock:
            if path is None or path != self.cut:
                if path in (0, 1):
                    self.passed[path] += len(frame)
                self.send(frame)
            elif not self.is_lossy:
                self.held.append(frame)

    def send(self, frame):
        self.sink.sendall(struct.pack(">I", len(frame)) + frame)

    def heal(self):
        """Delivers what was held; returns how many bytes."""
        with self.lock:
            held, self.held, self.cut = self.held, [], None
            for frame in held:
                self.send(frame)
        return sum(map(len, held))


class Switch:
    """Its ports are the networks of the initiator's and the target's guest."""

    def __init__(self, scratch):
        self.ports = [Port(scratch, 0, net.GUESTS[0], net.HOSTS[0]),
                      Port(scratch, 1, net.HOSTS[0], net.GUESTS[0])]
        self.ways = [Way(), Way()]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        ends = [port.listener.accept()[0] for port in self.ports]
        for way, source, sink in zip(self.ways, ends, reversed(ends)):
            way.sink = sink
        for way, source in zip(self.ways, ends):
            threading.Thread(target=self.pump, args=(way, source), daemon=True).start()

    @staticmethod
    def pump(way, source):
        stream = source.makefile("rb")
        try:
            while head := stream.read(4):
                way.take(stream.read(*struct.unpack(">I", head)))
        except (OSError, struct.error):
            pass  # a guest has ended

    def passed(self):
        """Bytes to the target on each path so far."""
        return list(self.ways[TO_TARGET].passed)

    def cut(self, path, directions, is_lossy):
        for direction in directions:
            with self.ways[direction].lock:
                self.ways[direction].cut, self.ways[direction].is_lossy = path, is_lossy

    def heal(self):
        """Both directions pass again; returns how many bytes for the target had been held."""
        return [way.heal() for way in self.ways][TO_TARGET]
