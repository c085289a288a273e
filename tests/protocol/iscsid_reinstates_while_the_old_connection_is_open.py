# SPDX-License-Identifier: BSD-2-Clause
"""After a dropped link iscsid comes back with the same ISID and TSIH 0 while the target still
holds the old connection: that one ends, the new login goes through, without "too many
connections"."""

from initiators import Iscsid
from protocol import *


def test(daemon):
    old = daemon.session(kind=Iscsid)
    old.write(0, pattern(4096))
    for _ in range(3):
        new = daemon.connect(Iscsid)
        new.login()
        old.expect_closed("when its session was reinstated")
        rsp = new.send(new.test_unit_ready())
        check(new.expect(RESPONSE, itt=rsp.itt).status == CHECK, "no unit attention afterwards")
        check(new.ready().read(0, 8) == pattern(4096), "data is lost")
        old = new
    check(len(daemon.sessions()) == 1, "an old session is still there")


main(test)
