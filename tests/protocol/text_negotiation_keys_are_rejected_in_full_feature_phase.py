# SPDX-License-Identifier: BSD-2-Clause
"""Keys of the login are answered Reject, unknown ones NotUnderstood, and nothing changes."""

from protocol import *


def test(daemon):
    peer = daemon.session()
    answer, _ = peer.texts({"MaxBurstLength": "512", "HeaderDigest": "CRC32C", "X-z": "1"})
    found = dict(pairs_of(answer))
    check(found == {"MaxBurstLength": "Reject", "HeaderDigest": "Reject",
                    "X-z": "NotUnderstood"}, f"{found}")
    peer.write(0, pattern(65536))


main(test)
