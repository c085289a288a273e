# SPDX-License-Identifier: BSD-2-Clause
"""Keys of extensions are answered NotUnderstood (RFC 7143 6.2), and so is any unknown key beside a
list, in discovery as in a normal session."""

from protocol import *


def test(daemon):
    for discovery in (True, False):
        peer = daemon.connect().login(discovery=discovery)
        answer, _ = peer.texts({"X-a.b": "1", "X#b": "2"})
        check(dict(pairs_of(answer)) == {"X-a.b": "NotUnderstood", "X#b": "NotUnderstood"},
              f"{answer}")
        answer, _ = peer.texts({"Later": "1", "SendTargets": "All", "X-c": "3"})
        found = dict(pairs_of(answer))
        check(found["Later"] == found["X-c"] == "NotUnderstood", f"{found}")
        check(found["TargetName"] == daemon.target.iqn, f"{found}")
        peer.logout()


main(test)
