# SPDX-License-Identifier: BSD-2-Clause
"""LOGIN_RSP grants credits, names the IU lengths and formats, supports the immediate data that was
requested, and knows no other channel. Then commands are served."""

from srp import *


def test(daemon):
    for tag in (0, 0xa1a2a3a4a5a6a7a8):
        peer = daemon.connect(login={"tag": tag})
        rsp = peer.accepted
        check(rsp.delta >= 64, f"{rsp.delta} credits")
        check(8260 <= rsp.max_it_iu_len <= 8448, f"IUs of {rsp.max_it_iu_len}")
        check(256 <= rsp.max_ti_iu_len <= 8260, f"IUs of {rsp.max_ti_iu_len} to the initiator")
        check(rsp.formats == 6, f"formats {rsp.formats}")
        check(rsp.rsp_flags == IMMEDIATE_SUPPORTED | NO_CHANNEL, f"flags {rsp.rsp_flags:#x}")
        peer.ready()
        peer.write(0, pattern(65536))
        check(peer.read(0, 128) == pattern(65536), "read back differs")
        peer.logout()
        eventually("the session is gone", lambda: not daemon.sessions())


main(test)
