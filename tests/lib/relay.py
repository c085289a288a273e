# SPDX-License-Identifier: BSD-2-Clause
"""A TCP relay in front of a target: one path to it, which can be cut and restored."""

import socket
import threading

from farblock import free_port


class Relay:
    """Forwards connections of its port to that of a target on loopback, on threads of its own."""

    def __init__(self, to):
        self.to, self.port = to, free_port()
        self.lock, self.pairs = threading.Lock(), []
        self.listener, self.moving = None, threading.Event()
        self.restore()

    def restore(self):
        """Accepts connections. What a silent cut has kept back is dropped with its connections, as a
        network's packets are."""
        self._close()
        self.moving = threading.Event()
        self.moving.set()
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", self.port))
        self.listener.listen(16)
        threading.Thread(target=self._accept, args=(self.listener, self.moving),
                         daemon=True).start()

    def cut(self):
        """Ends all connections and refuses new ones."""
        self._close()

    def cut_silently(self):
        """Moves nothing any more, and says nothing."""
        self.moving.clear()

    def _close(self):
        with self.lock:
            ends, self.pairs = [end for pair in self.pairs for end in pair], []
            ends += [self.listener] if self.listener else []
            self.listener = None
        for end in ends:
            try:
                end.shutdown(socket.SHUT_RDWR)  # wakes the threads that wait for it
            except OSError:
                pass
            end.close()
        self.moving.set()  # threads of closed connections end

    def _accept(self, listener, moving):
        while True:
            try:
                near = listener.accept()[0]
            except OSError:
                return
            far = socket.socket()
            with self.lock:
                is_ours = self.listener is listener
                if is_ours:
                    self.pairs.append((near, far))
            if not is_ours or far.connect_ex(("127.0.0.1", self.to)):
                near.close()
                far.close()
                continue
            for ends in ((near, far), (far, near)):
                threading.Thread(target=self._move, args=(*ends, moving), daemon=True).start()

    @staticmethod
    def _move(source, sink, moving):
        try:
            while data := source.recv(1 << 18):
                moving.wait()
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.cut()
