# SPDX-License-Identifier: BSD-2-Clause
"""MAXIMUM TRANSFER LENGTH is advice: one READ or WRITE of more blocks, as iPXE's driver for UEFI
sends for a whole file, is served by all transports, of a RAM disk and of a file."""

from transports import *

BLOCK, MIB = 512, 1 << 20
SIZE = 20 * MIB
LARGEST = {"max_transfer_kib": 64}  # less than the unsolicited data of a write


def cdb(opcode, lba, blocks):
    return struct.pack(">BxQIxx", opcode, lba, blocks)


def adapt(config, scratch):
    file = config.fileio("file0", scratch.file("disk"), 2 * SIZE, LARGEST)
    for target in config.targets:
        target["tpgs"][0]["luns"].append({"index": 1, "storage_object": file})
    for acl in config.targets[0]["tpgs"][0]["node_acls"]:
        acl["mapped_luns"].append(protocol.acl(luns=2)["mapped_luns"][1])


def test(daemon):
    for number, peer in enumerate(daemon.sessions_of_all()):
        for unit in (0, 1):
            data = protocol.pattern(SIZE, number + 1)
            peer.after_attentions(b"\x25" + bytes(9), 8, unit)
            limits = peer.inquiry(0xb0, unit)
            check(int.from_bytes(limits[8:12], "big") == 128, f"VPD B0h: {limits.hex()}")
            peer.good(cdb(0x8a, 3, SIZE // BLOCK), out=data, unit=unit)
            check(peer.good(cdb(0x88, 3, SIZE // BLOCK), SIZE, unit=unit) == data,
                  f"{peer.name}: LUN {unit}: not what was written")
            # Room for a part of the data that ends within a block and within a piece.
            check(peer.good(cdb(0x88, 3, SIZE // BLOCK), 999999, unit=unit) == data[:999999],
                  f"{peer.name}: LUN {unit}: a part is not what was written")


main(test, size=2 * SIZE, storage=LARGEST, adapt=adapt)
