# SPDX-License-Identifier: BSD-2-Clause
"""Private data that is too short, or not a LOGIN_REQ, ends the connect with a rejection. What
follows a LOGIN_REQ is ignored."""

from srp import *


def test(daemon):
    good = login_request(initiator=port_id(farblock.SRP_INITIATOR),
                         target=port_id(daemon.target.iqn))
    for bad in [good[:n] for n in (0, 1, 8, 11, 12, 48, 55)] + \
               [good[:11] + bytes((op,)) + good[12:] for op in (1, 2, 0x41, 0xc0, 0xff)]:
        daemon.rejected(UNABLE, login=bad)
    for size in (56, 57, 64, 92, 400):
        daemon.session(login=good + b"\xff" * (size - 56)).logout()


main(test)
