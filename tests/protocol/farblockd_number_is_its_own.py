# SPDX-License-Identifier: BSD-2-Clause
"""The number of VPD page F0h is the same after kill -9, and not that of a farblockd that has a copy of
the state directory, or the same one where it cannot be locked."""

import os
import shutil

from protocol import *


class Second(Daemon):
    """Another farblockd on the state directory at path."""

    def __init__(self, daemon, path):
        config = make_config(daemon.scratch)
        super().__init__(daemon.scratch, config, name=os.path.basename(path))
        self.target, self.state_path = targets(config)[0], path


def number(daemon):
    peer = daemon.session()
    page = peer.send(peer.task(b"\x12\1\xf0\0\xff\0", 255, READ))
    data, _ = peer.collect(page, 255)
    peer.logout()
    return data[20:28]


def number_beside(daemon, path):
    with Second(daemon, path) as second:
        return number(second)


def test(daemon):
    own = number(daemon)
    check(own[:4] not in (bytes(4), b"\xff" * 4), f"{own.hex()}: not of 64 bits")
    daemon.kill()
    daemon.start()
    check(number(daemon) == own, "another number after kill -9")
    copy = shutil.copytree(daemon.state_path, daemon.scratch.file("copy"))
    check(number_beside(daemon, copy) != own, "the number of a farblockd with a copy of its directory")
    daemon.kill()
    os.unlink(f"{daemon.state_path}/lock")
    os.mkdir(f"{daemon.state_path}/lock")
    daemon.start()
    check(number_beside(daemon, daemon.state_path) != number(daemon),
          "two have one number in a directory that cannot be locked")


main(test)
