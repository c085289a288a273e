# SPDX-License-Identifier: BSD-2-Clause
"""One WRITE and one READ of 16 MiB, to a RAM disk and to a file."""

from iser import *


def adapt(config, scratch):
    disk = config.fileio("file0", scratch.file("disk"), 32 * MIB, {"max_transfer_kib": 16384})
    config.targets[0]["tpgs"][0]["luns"].append({"index": 1, "storage_object": disk})


def test(daemon):
    peer = daemon.session(kind=IserPeer)
    data = pattern(16 * MIB, 16)
    for number in (0, 1):
        peer.lun = lun(number)
        peer.ready()
        peer.write_and_read_back(0, data, f"LUN {number}: ")


main(test, size=32 * MIB, storage={"max_transfer_kib": 16384}, adapt=adapt)
