# SPDX-License-Identifier: BSD-2-Clause
"""The old session has writes that wait for data and reads on their way when it is taken over."""

from initiators import Iscsid
from protocol import *


def test(daemon):
    keys = {"InitialR2T": "Yes", "ImmediateData": "No"}
    for _ in range(4):
        old = daemon.session(keys, Iscsid)
        writes = [old.write_task(i * 8, 8) for i in range(16)]
        old.send(*writes, *[old.read_task(0, 512) for _ in range(16)])
        old.expect(R2T, itt=writes[0].itt)
        new = daemon.session(keys, Iscsid)
        new.write_and_read_back(0, pattern(65536))
        new.close()


main(test, cpus=(0, 1))
