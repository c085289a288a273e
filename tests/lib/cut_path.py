# SPDX-License-Identifier: BSD-2-Clause
"""A relay of TCP connections, iWARP's among them, to a portal: a path that can be cut.

    path = Path(portal)          # connect to path.address
    path.reset()                 # its connections are reset, new ones refused
    path.silence()               # nothing arrives any more, without a word
    path.restore()               # new connections get through; those from before are reset
"""

import os
import select
import socket
import struct
import threading

from farblock import free_port

PIECE = 1 << 18


class Connection(threading.Thread):
    """Carries bytes both ways until the path is cut or an end closes."""

    def __init__(self, path, client, server):
        super().__init__(daemon=True)
        self.path, self.ends = path, (client, server)
        self.cut, self.restored = path.cut, path.restored
        self.kept = {client: b"", server: b""}  # what an end still gets

    def poll(self):
        """The ends that are ready, each for the kind it waits for; None: the path is cut."""
        poll, (client, server) = select.poll(), self.ends
        wanted = {client.fileno(): 0, server.fileno(): 0}
        for end, other in ((client, server), (server, client)):
            if self.kept[end]:
                wanted[end.fileno()] |= select.POLLOUT
            else:
                wanted[other.fileno()] |= select.POLLIN
        for fd, kinds in wanted.items():
            poll.register(fd, kinds)
        poll.register(self.cut, select.POLLIN)
        ready = dict(poll.poll())
        return None if self.cut in ready else ready

    def carry(self, end, other, ready):
        """What other has sent goes to end; False: it is over."""
        if self.kept[end]:
            if ready.get(end.fileno(), 0) & ~select.POLLIN:
                self.kept[end] = self.kept[end][end.send(self.kept[end]):]
            return True
        if ready.get(other.fileno(), 0) & ~select.POLLOUT:
            self.kept[end] = other.recv(PIECE)
            return bool(self.kept[end])
        return True

    def run(self):
        client, server = self.ends
        try:
            while (ready := self.poll()) is not None:
                if not (self.carry(server, client, ready) and self.carry(client, server, ready)):
                    break
            else:
                self.restored.wait()  # set at once by a cut that is not silent
        except OSError:
            pass  # an end has gone
        for end in self.ends:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            end.close()


class Path:
    """On a port of 127.0.0.1, to address."""

    def __init__(self, to):
        self.to, self.address = to, ("127.0.0.1", free_port())
        self.listener = None
        self.restore()

    def accept(self, listener, closed):
        """Closing a socket does not wake who waits for it: a pipe's end does."""
        poll = select.poll()
        poll.register(listener.fileno(), select.POLLIN)
        poll.register(closed, select.POLLIN)
        with listener:
            while closed not in dict(poll.poll()):
                client = listener.accept()[0]
                try:
                    server = socket.create_connection(self.to)
                except OSError:
                    client.close()
                    continue
                for end in (client, server):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    end.setblocking(False)
                Connection(self, client, server).start()

    def listen(self):
        self.closed, self.close = os.pipe()
        self.listener = threading.Thread(target=self.accept, daemon=True, args=(
            socket.create_server(self.address, reuse_port=False), self.closed))
        self.listener.start()

    def stop_listening(self):
        os.close(self.close)
        self.listener.join()
        os.close(self.closed)
        self.listener = None

    def end_connections(self, is_silent):
        if not is_silent:
            self.restored.set()
        os.close(self.cutter)

    def reset(self):
        self.stop_listening()
        self.end_connections(False)

    def silence(self):
        """New connections are accepted, by the kernel, and not answered."""
        self.stop_listening()
        self.deaf = socket.create_server(self.address)
        self.end_connections(True)

    deaf = restored = None

    def restore(self):
        if self.deaf:
            self.deaf.close()
            self.deaf = None
        if self.restored:
            self.restored.set()
        self.restored = threading.Event()
        self.cut, self.cutter = os.pipe()
        self.listen()
