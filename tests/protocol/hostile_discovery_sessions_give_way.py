# SPDX-License-Identifier: BSD-2-Clause
"""Discovery sessions count as logins in progress: when those are all taken, the oldest of the address
with the most of them gives way, and logins and discovery of others continue."""

from protocol import *

PLACES = 1024  # logins in progress of a worker


def test(daemon):
    other = daemon.connect(source="127.0.0.2").login(discovery=True)
    crowd = [daemon.connect().login(discovery=True) for _ in range(PLACES - 1)]
    daemon.session(source="127.0.0.3", isid=bytes.fromhex("80aabb000003")).logout()
    crowd[0].expect_closed("to let the newcomer in")
    answer, _ = crowd[-1].texts({"SendTargets": "All"})
    check(daemon.target.iqn.encode() in answer, "the youngest one has no answer")
    answer, _ = other.texts({"SendTargets": "All"})
    check(daemon.target.iqn.encode() in answer, "another address has no answer")
    check(daemon.counter("logins_displaced") >= 1, "not counted")


main(test)
