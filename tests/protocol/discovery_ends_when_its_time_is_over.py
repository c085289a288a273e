# SPDX-License-Identifier: BSD-2-Clause
"""A discovery session has the time of a login, all in all: one that keeps asking ends as one that
is silent does, over TCP and over iSER."""

import threading

from iser import *


def ask_for_ever(peer):
    try:
        while True:
            peer.texts({"SendTargets": "All"})
            peer.log.clear()
    except (Failure, OSError):
        pass


def test(daemon):
    silent = [daemon.connect(kind, timeout=40).login(discovery=True) for kind in (None, IserPeer)]
    busy = daemon.connect().login(discovery=True)
    asking = threading.Thread(target=ask_for_ever, args=(busy,), daemon=True)
    asking.start()
    for peer in silent:
        peer.expect_closed("when its time is over")
    asking.join(40)
    check(not asking.is_alive(), "the session that keeps asking has not ended")
    check(not daemon.sessions(), f"{daemon.sessions()}")


main(test)
