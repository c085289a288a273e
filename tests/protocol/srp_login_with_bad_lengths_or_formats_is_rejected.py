# SPDX-License-Identifier: BSD-2-Clause
"""IU lengths out of range are rejected with 00010002, formats that the target does not have with
00010004, reserved multi-channel actions with 00010005, and all before the port is looked up. The
channel that was there before continues."""

from srp import *


def test(daemon):
    before = daemon.session()
    for action in (2, 3):
        daemon.rejected(NO_MULTI, flags=action)
    before.expect_alive()
    before.close()
    for length in (0, 1, 63, 8449, 65536, 0x7fffffff, 0xffffffff):
        daemon.rejected(IU_TOO_LARGE, login={"it_iu_len": length})
        daemon.rejected(IU_TOO_LARGE, login={"it_iu_len": length, "target": bytes(16)})
    for formats in (0, 1, 8, 0xfff9):
        daemon.rejected(BAD_FORMAT, login={"formats": formats})
        daemon.rejected(BAD_FORMAT, login={"formats": formats, "target": bytes(16)})
    for length in (64, 8448):
        peer = daemon.session(login={"it_iu_len": length, "formats": 2}, immediate=False)
        check(64 <= peer.accepted.max_it_iu_len <= 8448, f"{peer.accepted}")


main(test)
