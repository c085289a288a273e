# SPDX-License-Identifier: BSD-2-Clause
"""A target is reached through its own portals: through that of another target it is rejected with
00010003."""

from srp import *


def test(daemon):
    second, = daemon.others
    daemon.rejected(NO_PORT, target=second.iqn)
    daemon.rejected(NO_PORT, through=second)
    daemon.session(target=second.iqn, through=second)
    daemon.session()


main(test, targets=2)
