# SPDX-License-Identifier: BSD-2-Clause
"""A channel of discovery that says nothing ends after some seconds, one that has its list somewhat
later, and one that does not take its list too."""

from srp import *


def test(daemon):
    other = daemon.session()
    served, unread = daemon.discovery(timeout=60), daemon.discovery(timeout=60)
    served.targets()
    unread.send(unread.query(LIST_MAX))
    silent = daemon.discovery(timeout=60)
    silent.expect_closed("silent")
    served.targets()
    served.expect_closed("with its list")
    check("no command within 5 s" in daemon.log(), "silence is not logged")
    eventually("all are over", lambda: daemon.log().count("not finished within 10 s") == 2)
    other.expect_alive()


main(test)
