# SPDX-License-Identifier: BSD-2-Clause
"""RFC 7143 6.3.2: an operational key in stage 0 is an error."""

from protocol import *


def test(daemon):
    peer = daemon.connect()
    peer.refused(0x0200, {**peer.names(), "AuthMethod": "None", "MaxBurstLength": "8192"},
                 stage=0, next_stage=1)


main(test)
