# SPDX-License-Identifier: BSD-2-Clause
"""A session that the operator drops, whose target is disabled or whose ACL is deleted ends with a
T_LOGOUT on every channel that has sent an IU, and is remembered with its reason."""

from srp import *


def drop(daemon):
    daemon.rpc("session.drop", sid=daemon.sessions()[0]["sid"])


def disable(daemon):
    daemon.rpc("tree.run", command="disable", path=daemon.tpg_path(), positional=[], named={})


def enable(daemon):
    daemon.rpc("tree.run", command="enable", path=daemon.tpg_path(), positional=[], named={})


def delete_acl(daemon):
    daemon.rpc("tree.run", command="delete", path=f"{daemon.tpg_path()}/acls",
               named={"wwn": farblock.SRP_INITIATOR, "force": "true"})


def test(daemon):
    for end in (drop, disable, delete_acl):
        spoken, silent = daemon.session(), daemon.connect(flags=MULTI)
        end(daemon)
        check(spoken.expect_closed() is not None, f"{end.__name__}: no T_LOGOUT")
        check(silent.expect_closed() is None, f"{end.__name__}: an IU before the first one")
        eventually("the session is gone", lambda: not daemon.sessions())
        if end == disable:
            enable(daemon)
    ended = daemon.rpc("session.ended")
    ended = ended if isinstance(ended, list) else ended["sessions"]
    check(len(ended) == 3 and all(e["reason"] for e in ended), f"{ended}")


main(test)
