# SPDX-License-Identifier: BSD-2-Clause
"""An alias is what an initiator likes to say: bytes that are no UTF-8 would end the JSON of every
answer that shows sessions, and escape sequences reach terminals."""

from protocol import *


def test(daemon):
    peer = daemon.connect()
    peer.login_step(text({**peer.names(), "AuthMethod": "None"}) +
                    b"InitiatorAlias=a\xc3\xa4\xff\x1b[2J\xc2\x9b\0", stage=0, next_stage=1)
    peer.login_step(peer.OPERATIONAL)
    session, = daemon.sessions()
    check(session["alias"] == "a\u00e4??[2J??", f"alias {session['alias']!r}")
    peer.logout()


main(test)
