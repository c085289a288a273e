# SPDX-License-Identifier: BSD-2-Clause
"""Two targets share an address, one for TCP only and one for iSER only: a login gets what its own
target offers, and discovery shows each carrier what it can use."""

from iser import *


def adapt(config, scratch):
    first, second = config.targets
    first["tpgs"][0]["portals"][0]["transport"] = "tcp"
    second["tpgs"][0]["portals"] = [dict(first["tpgs"][0]["portals"][0], transport="iser")]


def names(peer):
    answer, _ = peer.texts({"SendTargets": "All"})
    return {v for k, v in pairs_of(answer) if k == "TargetAddress"}, \
        [v for k, v in pairs_of(answer) if k == "TargetName"]


def test(daemon):
    other = f"{farblock.IQN}:t0001"
    daemon.session(target=daemon.target.iqn)
    daemon.session(kind=IserPeer, target=other)
    daemon.connect(IserPeer, target=daemon.target.iqn).refused(0x0203)
    check("does not offer iSER" in daemon.refusals()[0]["reason"], f"{daemon.refusals()}")
    daemon.connect(target=other).refused(0x0203)
    check("does not offer iSCSI over TCP" in daemon.refusals()[0]["reason"], "cause")
    over_tcp = daemon.connect().login(discovery=True)
    check(len(names(over_tcp)[1]) == 2, "over TCP everything is shown")
    over_iser = daemon.connect(IserPeer).login(discovery=True)
    addresses, shown = names(over_iser)
    host, port = daemon.target.portals[0]
    check(addresses == {f"{host}:{port},1"}, f"{addresses}")
    check(other in shown, f"{shown}")


main(test, targets=2, adapt=adapt)
