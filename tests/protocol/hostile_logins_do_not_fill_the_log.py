# SPDX-License-Identifier: BSD-2-Clause
"""Who logs in and out all the time is some lines of the log and then a count, and leaves the ends of
other addresses' sessions in their table."""

import re

from protocol import *

MORE = re.compile(r"(login ok|session ended): (\d+) more from 127\.0\.0\.1 in the last \d+ s")


def test(daemon):
    daemon.session(source="127.0.0.2", isid=bytes.fromhex("80aabb000002")).logout()
    for n in range(150):
        peer = daemon.connect()
        peer.login(discovery=n % 2)
        peer.logout()
    daemon.settle()
    for what in ("login ok", "session ended"):
        lines = [line for line in daemon.log().splitlines()
                 if what in line and "peer=127.0.0.1" in line]
        check(0 < len(lines) < 60, f"{len(lines)} lines of {what}")
    ended = daemon.rpc("session.ended")
    check(any(e["peer"].startswith("127.0.0.2:") for e in ended), "another's end is forgotten")
    eventually("the others are counted", lambda: MORE.search(daemon.log()), timeout=30)


main(test)
