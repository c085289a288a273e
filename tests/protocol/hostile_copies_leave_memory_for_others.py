# SPDX-License-Identifier: BSD-2-Clause
"""Sessions that ask for more than a hundred copies each, together many times a worker's memory:
another session's reads and writes go on meanwhile."""

from protocol import *

SESSIONS = 18
COPIES = 140
SEGMENTS = 32
BLOCKS = 65535  # 1 GiB a copy


def extended_copy(peer, naa, segments=SEGMENTS, blocks=BLOCKS, at=0, to=65536):
    cscd = struct.pack(">BBHBBBB", 0xe4, 0, 0, 1, 3, 0, 16) + naa + bytes(8)
    segment = segments * struct.pack(">BBHHHHHQQ", 2, 0, 0x18, 0, 0, 0, blocks, at, to)
    data = struct.pack(">BBHIII", 0, 3 << 3, len(cscd), 0, len(segment), 0) + cscd + segment
    return peer.task(struct.pack(">BB8xIxx", 0x83, 0, len(data)), edtl=len(data), flags=WRITE,
                     data=data)


def name_of(peer):
    pdu = peer.send(peer.task(bytes((0x12, 1, 0x83, 0, 255, 0)), edtl=255, flags=READ))
    data, _ = peer.collect(pdu, 255)
    return data[8:24]


def test(daemon):
    first = daemon.session()
    naa = name_of(first)
    crowd = []
    for i in range(SESSIONS):
        peer = daemon.session(isid=bytes([0x80, 0, 0, 1, 0, i]))
        peer.send(*[extended_copy(peer, naa) for _ in range(COPIES)])
        crowd.append(peer)
    other = daemon.session(isid=bytes.fromhex("80aabb000002"))
    for i in range(20):
        other.write_and_read_back(200000 + 128 * i, pattern(65536, seed=i))
    check(len(daemon.sessions()) == SESSIONS + 2, "a session is gone")
    for peer in crowd:
        peer.close()


# The delay makes the RAM disk one whose memory is not sent from directly.
main(test, arguments=("--pool-mem", "16M"), size=128 * MIB, storage={"delay_read_us": 1},
     parameters={}, attributes={"default_cmdsn_depth": 256})
