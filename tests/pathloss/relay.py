#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""relay.py FROM TO PORT: a middlebox that carries TCP connections from FROM:PORT to TO:PORT. A line
"hold" on standard input makes it keep what clients send, and "reset" reset the clients' connections
too; "release" delivers what it keeps, also for clients that have closed meanwhile, in the order in
which they connected. It answers each with the number of bytes kept."""

import os
import selectors
import socket
import struct
import sys

PIECE = 1 << 18


class Connection:
    """client is None once it has closed, server once that has; kept: what the server has not got."""

    def __init__(self, relay, client):
        self.relay, self.client, self.server, self.kept, self.back = relay, client, None, b"", b""
        if not relay.holds:
            self.reach()

    def reach(self):
        self.server = socket.create_connection(self.relay.to)
        self.server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.server.setblocking(False)

    def upward(self):
        if self.server and not self.relay.holds and self.kept:
            try:
                self.kept = self.kept[self.server.send(self.kept):]
            except BlockingIOError:
                pass

    def downward(self):
        if self.client and self.back:
            try:
                self.back = self.back[self.client.send(self.back):]
            except BlockingIOError:
                pass
            except OSError:
                self.lose_client()

    def receive(self, end):
        try:
            data = end.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if end is self.client:
            if not data:
                self.lose_client()
            self.kept += data
        elif data:
            self.back += data if self.client else b""
        else:
            self.close()

    def reset_client(self):
        if self.client:
            self.receive(self.client)  # a close would throw away what the client has sent
        if self.client:
            self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.lose_client()

    def lose_client(self):
        self.relay.forget(self.client)
        self.client = None

    def close(self):
        for end in (self.client, self.server):
            if end:
                self.relay.forget(end)
        self.client = self.server = None

    def is_over(self):
        return not self.client and (not self.server or (not self.kept and not self.relay.holds))


class Relay:
    def __init__(self, address, to):
        self.to, self.holds, self.connections = to, False, []
        self.listener = socket.create_server(address, backlog=64)
        self.ready = selectors.DefaultSelector()
        self.known = {}

    def forget(self, end):
        if self.known.pop(end, None) is not None:
            self.ready.unregister(end)
        end.close()

    def watch(self, end, events, data):
        if self.known.get(end) == events:
            return
        if end in self.known:
            self.ready.modify(end, events, data)
        else:
            self.ready.register(end, events, data)
        self.known[end] = events

    def watch_all(self):
        for c in self.connections:
            if c.client:
                self.watch(c.client, selectors.EVENT_READ |
                           (selectors.EVENT_WRITE if c.back else 0), c)
            if c.server:
                self.watch(c.server, selectors.EVENT_READ |
                           (selectors.EVENT_WRITE if c.kept and not self.holds else 0), c)

    def command(self):
        words = os.read(0, 4096).decode().split()
        if not words:
            sys.exit(0)
        self.holds = words[-1] != "release"
        for c in self.connections if words[-1] == "reset" else ():
            c.reset_client()
        print(sum(len(c.kept) for c in self.connections), flush=True)
        for c in self.connections if not self.holds else ():
            try:
                if not c.server:
                    c.reach()
                c.upward()
            except OSError:
                c.close()

    def run(self):
        self.ready.register(self.listener, selectors.EVENT_READ)
        self.ready.register(0, selectors.EVENT_READ)
        print("ready", flush=True)
        while True:
            self.watch_all()
            for key, _ in self.ready.select():
                if key.fileobj is self.listener:
                    client = self.listener.accept()[0]
                    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    client.setblocking(False)
                    self.connections.append(Connection(self, client))
                elif key.fileobj == 0:
                    self.command()
                else:
                    self.serve(key.data, key.fileobj)
            for c in [c for c in self.connections if c.is_over()]:
                c.close()
                self.connections.remove(c)

    def serve(self, c, end):
        try:
            if end in (c.client, c.server):
                c.receive(end)
            c.upward()
            c.downward()
        except OSError:
            c.close()


if __name__ == "__main__":
    Relay((sys.argv[1], int(sys.argv[3])), (sys.argv[2], int(sys.argv[3]))).run()
