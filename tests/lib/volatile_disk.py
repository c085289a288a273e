# SPDX-License-Identifier: BSD-2-Clause
"""A folder with one file that behaves like a disk with a volatile cache: what was written is lost
at a power cut unless it was synced after that. A FUSE server in a process of its own, over the
plain file that keeps what is durable; root only.

    with VolatileDisk(scratch, "name", size) as disk:
        use(disk.path)
        disk.cut()      # and everything that was not synced is gone
        disk.start()

The power may fail in a sync, which is when the order of writes matters most: a random half of the
pages that were not synced is then there, as of a disk that writes its cache in an order of its own.

        disk.cut_in_sync()
        while disk.is_alive(): ...  # something that syncs
        disk.cut()

A process may be killed in its second sync from now, which then makes nothing durable.

        disk.kill_in_sync(pid)
"""

import ctypes
import errno
import os
import random
import signal
import struct
import subprocess

from farblock import Failure

LIBC = ctypes.CDLL(None, use_errno=True)
PAGE, WRITE_MAX = 4096, 1 << 20
ROOT, FILE, NAME = 1, 2, b"disk.img"
LOOKUP, FORGET, GETATTR, SETATTR, OPEN, READ, WRITE = 1, 2, 3, 4, 14, 15, 16
RELEASE, FSYNC, FLUSH, INIT, INTERRUPT, BATCH_FORGET = 18, 20, 25, 26, 36, 42
NO_ANSWER = (FORGET, INTERRUPT, BATCH_FORGET)
ASYNC_READ, BIG_WRITES, WRITEBACK_CACHE, MAX_PAGES = 1 << 0, 1 << 5, 1 << 16, 1 << 22


class Server:
    """Answers the kernel's requests until it is killed."""

    def __init__(self, device, durable, size, gate, victim):
        self.device, self.size, self.gate, self.victim = device, size, gate, victim
        self.durable = os.open(durable, os.O_RDWR)
        self.cache = {}  # number: content, of pages that are not durable
        self.syncs_left = None  # until the power fails
        self.killing = None  # the process to kill, and the syncs until then

    def page(self, number):
        return self.cache.get(number) or os.pread(self.durable, PAGE, number * PAGE)

    def read(self, offset, size):
        size = max(0, min(size, self.size - offset))
        first, last = offset // PAGE, (offset + size + PAGE - 1) // PAGE
        data = b"".join(self.page(number) for number in range(first, last))
        return data[offset - first * PAGE:offset - first * PAGE + size]

    def write(self, offset, data):
        at = 0
        while at < len(data):
            number, skip = divmod(offset + at, PAGE)
            piece = data[at:at + PAGE - skip]
            old = self.page(number)
            self.cache[number] = old[:skip] + piece + old[skip + len(piece):]
            at += len(piece)

    def has_killed(self):
        if self.killing is None:
            return False
        pid, syncs_left = self.killing
        self.killing = (pid, syncs_left - 1) if syncs_left > 1 else None
        if self.killing:
            return False
        os.kill(pid, signal.SIGKILL)
        return True

    def sync(self):
        if self.gate:
            self.gate.wait()
        if self.syncs_left is not None:
            self.syncs_left -= 1
            if not self.syncs_left:
                self.tear()
        for number, content in self.cache.items():
            os.pwrite(self.durable, content, number * PAGE)
        self.cache.clear()

    def attr(self, node):
        mode, size = (0o100600, self.size) if node == FILE else (0o40700, 0)
        return struct.pack("<QQQQQQIIIIIIIIII", node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, 1,
                           0, 0, 0, PAGE, 0)

    def answer(self, opcode, node, body):
        """The answer's body, or a negative errno."""
        if opcode == INIT:
            flags = ASYNC_READ | BIG_WRITES | WRITEBACK_CACHE | MAX_PAGES
            return struct.pack("<IIIIHHIIHHI28x", 7, 31, 128 << 10, flags, 64, 48, WRITE_MAX, 1,
                               WRITE_MAX // PAGE, 0, 0)
        if opcode == LOOKUP:
            if body.rstrip(b"\0") != NAME:
                return -errno.ENOENT
            return struct.pack("<QQQQII", FILE, 0, 3600, 3600, 0, 0) + self.attr(FILE)
        if opcode in (GETATTR, SETATTR):
            return struct.pack("<QII", 3600, 0, 0) + self.attr(node)
        if opcode == OPEN:
            return struct.pack("<QII", 1, 0, 0)
        if opcode == READ:
            _, offset, size = struct.unpack_from("<QQI", body)
            return self.read(offset, size)
        if opcode == WRITE:
            _, offset, size = struct.unpack_from("<QQI", body)
            self.write(offset, body[40:40 + size])
            return struct.pack("<II", size, 0)
        if opcode == FSYNC:
            if self.has_killed():
                return -errno.EIO
            self.sync()
            return b""
        return b"" if opcode in (RELEASE, FLUSH) else -errno.ENOSYS

    def fail_soon(self, *_):
        self.syncs_left = random.randint(1, 2)

    def kill_soon(self, *_):
        with open(self.victim, encoding="ascii") as text:
            self.killing = int(text.read()), 2

    def tear(self):
        """The power fails while the cache is being written."""
        for number, content in self.cache.items():
            if random.getrandbits(1):
                os.pwrite(self.durable, content, number * PAGE)
        os._exit(0)

    def run(self):
        signal.signal(signal.SIGUSR1, self.fail_soon)
        signal.signal(signal.SIGUSR2, self.kill_soon)
        while True:
            try:
                request = os.read(self.device, WRITE_MAX + 4096)
            except OSError as why:
                if why.errno == errno.ENODEV:  # unmounted
                    return
                if why.errno in (errno.EINTR, errno.ENOENT):
                    continue
                raise
            _, opcode, unique, node = struct.unpack_from("<IIQQ", request)
            if opcode in NO_ANSWER:
                continue
            body = self.answer(opcode, node, request[40:])
            code, body = (body, b"") if isinstance(body, int) else (0, body)
            os.write(self.device, struct.pack("<IiQ", 16 + len(body), code, unique) + body)


class Gate:
    """Syncs of disks that have it end when this process closes it, or ends."""

    def __init__(self):
        self.reader, self.writer = os.pipe()

    def wait(self):
        os.read(self.reader, 1)

    def close(self):
        if self.writer is not None:
            os.close(self.writer)
        self.writer = None


class VolatileDisk:
    def __init__(self, scratch, name, size, gate=None):
        self.size, self.pid, self.gate = size, None, gate
        self.durable = scratch.file(f"{name}.durable", size=size)
        self.victim = scratch.file(f"{name}.victim")
        self.folder = scratch.file(f"{name}.mnt")
        os.mkdir(self.folder)
        self.path = os.path.join(self.folder, NAME.decode())

    def start(self):
        device = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={device},rootmode=40000,user_id=0,group_id=0,max_read={WRITE_MAX}"
        if LIBC.mount(b"volatile", self.folder.encode(), b"fuse.volatile", 0, options.encode()):
            raise Failure(f"mount {self.folder}: {os.strerror(ctypes.get_errno())}")
        self.pid = os.fork()
        if not self.pid:
            try:
                if self.gate:
                    self.gate.close()
                Server(device, self.durable, self.size, self.gate, self.victim).run()
            finally:
                os._exit(0)
        os.close(device)
        return self

    def cut_in_sync(self):
        os.kill(self.pid, signal.SIGUSR1)

    def kill_in_sync(self, pid):
        with open(self.victim, "w", encoding="ascii") as text:
            text.write(str(pid))
        os.kill(self.pid, signal.SIGUSR2)

    def is_alive(self):
        if self.pid and os.waitpid(self.pid, os.WNOHANG)[0]:
            self.pid = None
        return self.pid is not None

    def cut(self):
        """The power fails, unless it has: the cache is gone."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self.pid = None
        subprocess.run(["umount", "-l", self.folder], check=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if os.path.ismount(self.folder):
            self.cut()
