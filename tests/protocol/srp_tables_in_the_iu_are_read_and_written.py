# SPDX-License-Identifier: BSD-2-Clause
"""READ and WRITE through tables of descriptors in the IU, of any number and any lengths, odd and
empty ones too: the table itself is not read."""

from srp import *

SHAPES = ([512], [256, 256], [1, 511], [511, 1, 3, 509], [0, 512, 0], [4096] * 16, [65536, 512],
          [100] * 254 + [200], [8192 - 1, 1 + 8192, 12288], [33] * 128 + [32768 - 33 * 128])


def cut(data, shape):
    at = 0
    for length in shape:
        yield data[at:at + length]
        at += length


def test(daemon):
    peer = daemon.session()
    for seed, shape in enumerate(SHAPES):
        size = sum(shape)
        data = pattern(size, seed)
        peer.response(peer.send(peer.write_from(peer.indirect(list(cut(data, shape))))))
        check(peer.read(0, size // BLOCK) == data, f"{shape}: not what was written")
        iu = peer.send(peer.read_into(peer.room(shape)))
        peer.response(iu)
        check(iu.data_in.bytes == data, f"{shape}: not what was read")


main(test)
