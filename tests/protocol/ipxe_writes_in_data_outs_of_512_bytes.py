# SPDX-License-Identifier: BSD-2-Clause
"""Whatever was negotiated, iPXE cuts its data into 512 bytes, DataSN counting up within an R2T."""

from initiators import Ipxe
from protocol import *


def test(daemon):
    peer = daemon.session({"MaxBurstLength": "16384"}, Ipxe)
    data = pattern(40960)
    r2ts = peer.write(5, data)
    check([r.desired for r in r2ts] == [16384, 16384, 8192], f"{[r.desired for r in r2ts]}")
    check(len(peer.solicited(r2ts[0], data)) == 32, "the script sends other sizes")
    check(peer.read(5, 80) == data, "read back differs")


main(test)
