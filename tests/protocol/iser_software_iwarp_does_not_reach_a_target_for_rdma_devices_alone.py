# SPDX-License-Identifier: BSD-2-Clause
"""A target of transport=rdma shares an address with one that offers all: software iWARP, which the
other lets in, gets no login to it, with the cause on record, and does not discover it. Nor does TCP
where no RDMA device listens."""

from iser import *


def adapt(config, scratch):
    first, second = config.targets
    second["tpgs"][0]["portals"] = [dict(first["tpgs"][0]["portals"][0], transport="rdma")]


def addresses(peer):
    """{target name: addresses} as discovered."""
    answer, found = peer.texts({"SendTargets": "All"})[0], {}
    for key, value in pairs_of(answer):
        if key == "TargetName":
            found[value] = shown = []
        elif key == "TargetAddress":
            shown.append(value)
    return found


def test(daemon):
    other = f"{farblock.IQN}:t0001"
    daemon.session(kind=IserPeer, target=daemon.target.iqn)
    daemon.connect(IserPeer, target=other).refused(0x0203)
    reason = daemon.refusals()[0]["reason"]
    check("does not offer iSER over software iWARP" in reason, reason)
    found = addresses(daemon.connect(IserPeer).login(discovery=True))
    check(found[daemon.target.iqn] and other not in found, f"over iWARP: {found}")
    found = addresses(daemon.connect().login(discovery=True))
    check(found[daemon.target.iqn] and other not in found, f"over TCP: {found}")


main(test, targets=2, adapt=adapt)
