# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: an RDMA device that goes while farblockd uses it, and one that comes back."""

import re

from farblock import Failure
from kernel import wait_until
from logins import ramdisk, round_trip, same
from place import rdma_device


def remove(lab):
    """`rdma link del` has to return, though farblockd has the device open. The kernel waits for that
    where no signal reaches it, hence in the background."""
    lab.guest.run(f"""
        rm -f /run/gone
        (rdma link del {lab.device}0; echo $? >/run/gone) >/dev/null 2>&1 </dev/null &""")
    wait_until(lambda: lab.guest.ask("[ -s /run/gone ]")[0] == 0,
               f"rdma link del {lab.device}0 returns")
    same(lab.guest.run("cat /run/gone").strip(), "0", f"rdma link del {lab.device}0")


def portal(daemon, target):
    """What `info` and `ls` say of it."""
    host, port = target.portals[0]
    path = f"{target.path}/portals/{host}:{port}"
    return {**daemon.rpc("tree.info", path=path), **daemon.rpc("tree.ls", path=path)}


def is_listening(found):
    return found.get("rdma_devices", found["state"]) == "listening"


def device_removed(lab):
    """`rdma link del` returns although farblockd has the device open, without a session and under
    one; the portal says what it lacks and serves again when the device is back."""
    daemon, target, initiator = lab.serve(ramdisk)
    for has_session in (False, True):
        where = initiator.login(target) if has_session else None
        if has_session:
            round_trip(lab, initiator.disk(), ("64k",))
        remove(lab)
        found = portal(daemon, target)
        if is_listening(found) or not re.search("waiting: .*device", found["summary"]):
            raise Failure(f"the portal without its device: {found}")
        if has_session:
            wait_until(lambda: not daemon.rpc("session.list"), "the session has ended")
            ended = daemon.rpc("session.ended")[0]
            if "the device was removed" not in ended["reason"]:
                raise Failure(f"why the session ended: {ended}")
        rdma_device(lab.guest, lab.device)
        wait_until(lambda: is_listening(portal(daemon, target)), "the portal listens again")
        if has_session:
            wait_until(lambda: initiator.is_up() and daemon.rpc("session.list"),
                       "the session is back")
        else:
            where = initiator.login(target)
        round_trip(lab, initiator.disk(), ("64k",))
        initiator.logout(where)


SCENARIOS = [device_removed]
