# SPDX-License-Identifier: BSD-2-Clause
"""How fast this machine's time stamp counter counts."""

import ctypes
import mmap
import time

# rdtsc; shl $32, %rdx; or %rdx, %rax; ret
CODE = b"\x0f\x31\x48\xc1\xe2\x20\x48\x09\xd0\xc3"


def moment(read):
    """Counter and clock (ns) at the same time: of many pairs, the one least likely disturbed."""
    def pair():
        before, count, after = time.monotonic_ns(), read(), time.monotonic_ns()
        return after - before, count, before

    return min(pair() for _ in range(200))[1:]


def khz(seconds=0.1):
    with mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as page:
        page.write(CODE)
        start = ctypes.c_char.from_buffer(page)
        read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(start))
        first, begin = moment(read)
        time.sleep(seconds)
        last, end = moment(read)
        del start
    return (last - first) * 1000000 // (end - begin)
