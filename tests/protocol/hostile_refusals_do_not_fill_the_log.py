# SPDX-License-Identifier: BSD-2-Clause
"""Refused logins of one cause and address are a line and then a count; another cause is said at
once; the table of refusals has them all."""

import re

from protocol import *

MORE = re.compile(r"login refused, status 0203: (\d+) more from 127\.0\.0\.1 in the last \d+ s")


def test(daemon):
    for _ in range(200):
        daemon.connect(target="iqn.2025-01.org.example:none").refused(0x0203)
    daemon.connect().refused(0x0207, keys={"SessionType": "Normal"})
    daemon.settle()
    lines = [line for line in daemon.log().splitlines() if "login refused" in line]
    check(sum("status 0203" in line for line in lines) <= 3, f"{len(lines)} lines")
    check(sum("status 0207" in line for line in lines) == 1, f"{lines}")
    mine = [r for r in daemon.refusals() if r["status"] == 0x0203]
    check(sum(r["count"] for r in mine) == 200, f"{mine}")
    eventually("the others are counted",
               lambda: sum(map(int, MORE.findall(daemon.log()))) == 199, timeout=30)


main(test)
