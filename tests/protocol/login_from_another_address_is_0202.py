# SPDX-License-Identifier: BSD-2-Clause
"""allowed_addresses keeps everybody else out."""

from protocol import *


def test(daemon):
    daemon.connect().refused(0x0202)
    daemon.set(daemon.tpg_path(), "attribute", allowed_addresses="10.0.0.0/8,127.0.0.0/8")
    daemon.session()


main(test, attributes={"allowed_addresses": "10.0.0.0/8,2001:db8::/32"})
