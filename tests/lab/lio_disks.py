# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: a LUN of the kernel's target (LIO) as a local device of the guest, by farblock-initiator's
attach on ublk and nbd, over TCP, and over iSER and SRP on rxe and siw."""

import json

from faults import finish, load
from farblock import Failure
from initiator_tool import INITIATOR_PORTS
from kernel import wait_until
from lio import disable_and_enable
from lio_target import kernel_target, url
from local_disks import FILESYSTEMS, copied
from logins import BACK_SECRET, BACK_USER, MIB, SECRET, USER, same
from net import GUESTS, PORT
from remote_disks import Attached

SIZE = 384 * MIB  # xfs wants 300


def begun(lab, via, *urls):
    side = Attached(lab, via, urls)
    side.begin()
    return side


def used(lab, via):
    with kernel_target(lab, SIZE):
        side = begun(lab, via, url(lab))
        for kind in FILESYSTEMS:
            copied(side, kind, 200, "true")  # LIO offers no UNMAP by default
        lab.guest.run("rm -rf /tmp/tree")
        load(lab, side, side.device)
        # Over siw LIO hangs in the end of a session under load.
        for pause in (0, 3) if lab.device != "siw" else ():
            if not disable_and_enable(lab, pause):
                raise Failure("LIO does not come back")
        side.kill()
        side.begin()
        finish(side)
        side.detach()


def ublk(lab):
    """ublk: ext4, xfs and btrfs, files copied and compared while the attaching process is killed and
    replaced; fio verifies while LIO ends all sessions and comes back (not over siw), and the process
    is replaced again."""
    used(lab, "ublk")


def nbd(lab):
    """The same on the kernel's nbd."""
    used(lab, "nbd")


def logins(lab):
    """Discovery, each digest, one-way and mutual CHAP; a wrong secret is refused."""
    with kernel_target(lab):
        side = Attached(lab, "ublk", [])
        found = side.tool.run("discover", f"{GUESTS[0]}:{PORT}")
        for host in GUESTS:
            if f"{host}:{PORT},1 " not in found:
                raise Failure(f"discovered: {found}")
        for digest in ("None", "CRC32C"):
            told = json.loads(side.tool.run("ping", url(lab), "--json", "--header-digest", digest,
                                            "--data-digest", digest))
            same((told["HeaderDigest"], told["DataDigest"]), (digest, digest), "digests")
        lab.guest.run(f"""
            cd {lab.lio.tpg}/auth && echo 1 >../attrib/authentication && echo -n {USER} >userid &&
            echo -n {SECRET} >password && echo -n {BACK_USER} >userid_mutual &&
            echo -n {BACK_SECRET} >password_mutual""")
        for secret, back, status in ((SECRET, BACK_SECRET, 0), (SECRET, "yet-another-secret", 1),
                                     ("another-secret-x", BACK_SECRET, 1)):
            side.tool.run("ping", url(lab), "--chap-user", USER, "--chap-mutual-user", BACK_USER,
                          status=status, secrets={"FARBLOCK_CHAP_SECRET": secret,
                                                  "FARBLOCK_CHAP_MUTUAL_SECRET": back})


def paths(side):
    """The states of its paths."""
    status, output = side.ask("attached", "lab", "--json")
    same(status, 0, output)
    return [path["state"] for path in json.loads(output)[0]["paths"]]


def second(lab):
    """The LUN over the other portal; over SRP from another port of the initiator, as a second login
    of a port ends the first."""
    there = url(lab).replace(*GUESTS)
    if lab.carrier != "srp":
        return there
    id_ext, ioc_guid = lab.lio.identity.split(":")
    ext = INITIATOR_PORTS[1].split(":", maxsplit=1)[0]
    return (f"id_ext={id_ext},ioc_guid={ioc_guid},dest={GUESTS[1]}:{PORT},initiator_ext={ext}/0")


def two_paths(lab):
    """Two portals, on ublk: each loses its address under fio, without a word, and gets it back: no
    error, every block verified."""
    with kernel_target(lab):
        side = begun(lab, "ublk", url(lab), second(lab))
        wait_until(lambda: paths(side) == ["up", "up"], "both paths")
        load(lab, side, side.device)
        for host, state in ((GUESTS[1], ["up", "connecting"]), (GUESTS[0], ["connecting", "up"])):
            lab.guest.run(f"ip addr del {host}/24 dev eth0")
            wait_until(lambda: paths(side) == state, f"{host} is given up")
            lab.guest.run(f"ip addr add {host}/24 dev eth0")
            wait_until(lambda: paths(side) == ["up", "up"], f"{host} is back")
        finish(side)
        side.detach()


SCENARIOS = [ublk, nbd]
TCP = [logins, *SCENARIOS, two_paths]
RXE = [*SCENARIOS, two_paths]
