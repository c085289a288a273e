# SPDX-License-Identifier: BSD-2-Clause
"""Where a target of transport=tcp shares a portal with one that offers iSER too, iSER discovers the
other alone, and TCP both."""

from iser import *


def adapt(config, scratch):
    first, second = config.targets
    second["tpgs"][0]["portals"] = [dict(first["tpgs"][0]["portals"][0], transport="tcp")]


def names(peer):
    answer, _ = peer.texts({"SendTargets": "All"})
    return [value for key, value in pairs_of(answer) if key == "TargetName"]


def test(daemon):
    found = names(daemon.connect(IserPeer).login(discovery=True))
    check(found == [daemon.target.iqn], f"over iSER: {found}")
    found = names(daemon.connect().login(discovery=True))
    check(found == [daemon.target.iqn, f"{farblock.IQN}:t0001"], f"over TCP: {found}")


main(test, targets=2, adapt=adapt)
