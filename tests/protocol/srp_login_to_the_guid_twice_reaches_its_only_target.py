# SPDX-License-Identifier: BSD-2-Clause
"""As LIO's targets are addressed: the last 8 bytes of the identifier twice. Where two targets have
the same GUID that is rejected."""

from srp import *

SAME = "ib.1111111111111111" + farblock.SRP_PORT[-16:]


def test(daemon):
    guid = port_id(daemon.target.iqn)[8:]
    daemon.session(login={"target": guid + guid}).logout()
    daemon.rpc("tree.run", command="create", path="/srpt", positional=[SAME], named={})
    daemon.rejected(NO_PORT, login={"target": guid + guid})
    daemon.session()


main(test)
