# SPDX-License-Identifier: BSD-2-Clause
"""The machine's pool of 2 MiB pages (vm.nr_hugepages), for one test at a time: a lock keeps it, and
its size comes back at the end. Needs root. What already uses the pool stays as it is."""

import fcntl
import mmap
import os
import random
import signal

from farblock import Skip, eventually

LOCK = "/run/lock/farblock-test-hugepages"  # tests/unit/backstores/hugepages_test.c takes it too
SIZE = "/proc/sys/vm/nr_hugepages"
STATE = "/sys/kernel/mm/hugepages/hugepages-2048kB/{}_hugepages"
MAP_HUGETLB = 0x40000 | 21 << 26
PAGE = 2 << 20


class Pool:
    """So many pages are free in it at first."""

    def __init__(self, pages):
        self.pages, self.changer, self.changes = pages, None, None

    def __enter__(self):
        if os.geteuid() or not os.path.exists(STATE.format("nr")):
            raise Skip("the pool of huge pages is root's, of a kernel with pages of 2 MiB")
        self.lock = os.open(LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        with open(SIZE, encoding="ascii") as was:
            self.before = was.read()
        try:
            self.free(self.pages)
        except Skip:
            self.__exit__()
            raise
        return self

    def free(self, pages):
        """So many pages are free from now on, if others leave them alone."""
        _write(_read("nr") - _read("free") + _read("resv") + pages)
        if _read("free") - _read("resv") < pages:
            raise Skip(f"the machine has no {pages} free huge pages")

    def shrink(self):
        """To what is in use."""
        _write(0)

    def change(self):
        """From now on a process lets it shrink and grow, and maps and unmaps private pages of it:
        then Linux gives away pages that shared mappings have reserved."""
        self.changes = mmap.mmap(-1, 4096)
        self.changer = os.fork()
        if not self.changer:
            try:
                _change(self.changes)
            finally:
                os._exit(1)

    def changed(self, times):
        """Returns after so many more changes."""
        until = _count(self.changes) + times
        eventually("the pool changes", lambda: _count(self.changes) >= until)

    def __exit__(self, *_):
        if self.changer:
            os.kill(self.changer, signal.SIGKILL)
            os.waitpid(self.changer, 0)
        _write(self.before)
        os.close(self.lock)


def held_by(process):
    """Bytes of files in huge pages that it has open, all allocated; of its mappings of such pages."""
    allocated = mapped = size = 0
    for name in os.listdir(f"/proc/{process.pid}/fd"):
        state = os.stat(f"/proc/{process.pid}/fd/{name}")
        if state.st_blksize == PAGE:
            allocated += state.st_blocks * 512
    with open(f"/proc/{process.pid}/smaps", encoding="ascii") as lines:
        for line in lines:
            key, value = line.split()[:2]
            size = int(value) * 1024 if key == "Size:" else size
            mapped += size if (key, value) == ("KernelPageSize:", "2048") else 0
    return allocated, mapped


def _read(what):
    with open(STATE.format(what), encoding="ascii") as number:
        return int(number.read())


def _write(pages):
    with open(SIZE, "w", encoding="ascii") as size:
        size.write(str(pages).strip() + "\n")


def _count(changes):
    return int.from_bytes(changes[:8], "little")


def _change(changes):
    dice, parent, me = random.Random(1), os.getppid(), os.getpid()
    if not os.fork():
        while os.getppid() == me:
            _hold(dice)
        os._exit(0)
    while os.getppid() == parent:
        _write(dice.randrange(100))
        changes[:8] = (_count(changes) + 1).to_bytes(8, "little")


def _hold(dice):
    try:
        with mmap.mmap(-1, dice.randrange(1, 17) * PAGE,
                       flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB) as mine:
            mine.madvise(23)  # MADV_POPULATE_WRITE: an error where an access would end us
    except OSError:
        pass
