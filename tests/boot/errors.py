# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: what keeps a machine from its root disk, and what the console says of it."""

import functools

from farblock import Scratch, Shell
from machine import HOST, Machine
from target import MACHINE, Root

WORDS = "ip=dhcp farblock.timeout=20"
SHELL = r"\(initramfs\)|emergency mode|dracut:/#"


def says(text, words, pair, is_away=False, machine=None, breaks=None, **target):
    """The console says text, with what to do, and then gives a rescue shell. breaks(root): before that."""
    with Scratch() as scratch, Root(scratch, **target) as root:
        if breaks:
            breaks(root)
        if is_away:
            root.daemon.stop()
        with Machine(scratch, pair=pair, words=f"{words(root)} {WORDS}", name="error",
                     **(machine or {})) as booting:
            booting.wait_for("farblock: .*" + text)
            booting.wait_for(r"no root disk after 20 s: .*" + text)
            booting.wait_for(SHELL)
        if is_away:
            root.daemon.start()


def by_words(change=lambda place: place):
    return lambda root: f"farblock.root=iscsi:{change(root.place)}"


def by_iser(root):
    return f"farblock.rdma=siw farblock.root=iser:{root.place}"


def by_srp(change=lambda words: words):
    return lambda root: ("farblock.rdma=siw farblock.root=srp:"
                         + change(root.target.add_target().replace("127.0.0.1", HOST)))


def by_url(change=lambda url: url):
    return lambda root: f"farblock.root=user:{change(root.url())}"


def wrong_secret(pair):
    """A wrong CHAP secret is named, and where it is set."""
    says("CHAP refused: check user and secret", by_words(), pair, chap="one-way",
         secret="another-horse-3")


def user_wrong_secret(pair):
    """The same, of farblock-initiator."""
    says("CHAP.*node.session.auth in /etc/iscsi/iscsid.conf", by_url(), pair, chap="one-way",
         secret="another-horse-3")


def no_such_lun(pair):
    """A LUN that is not mapped is named."""
    says("no LUN 5 for iqn", by_words(lambda p: p.replace(":0:", ":5:")), pair)


def no_such_target(pair):
    """A name that the portal does not have."""
    says("this portal has no such target", by_words(lambda p: p + "x"), pair)


def target_down(pair):
    """Nothing listens at the portal."""
    says("connection refused: does the target run", by_words(), pair, is_away=True)


def no_link(pair):
    """No cable: the interface is named."""
    says(r"eth0: no link \(check cable", by_words(), pair, machine={"is_unplugged": True})


def no_dhcp(pair):
    """A network without a DHCP server."""
    says("no address.*: ip= has to give one", by_words(), pair,
         machine={"network": "hubport,id=n0,hubid=0"})


def late_link(pair):
    """A cable that comes later, before the time is over."""
    with Scratch() as scratch, Root(scratch) as root:
        with Machine(scratch, pair=pair, is_unplugged=True, name="late",
                     words=f"{by_words()(root)} ip=dhcp farblock.timeout=forever") as machine:
            machine.wait_for("farblock: eth0: no link")
            machine.plug()
            machine.wait_for("farroot login:")


def late_target(pair):
    """A target that comes later, with words that ask to wait for it without end."""
    with Scratch() as scratch, Root(scratch) as root:
        root.daemon.stop()
        with Machine(scratch, pair=pair, name="late",
                     words=f"{by_words()(root)} ip=dhcp farblock.timeout=forever") as machine:
            machine.wait_for("farblock: .*connection refused")
            root.daemon.start()
            machine.wait_for("farroot login:")


def iser_wrong_secret(pair):
    """A wrong CHAP secret, over iSER."""
    says("CHAP refused: check user and secret", by_iser, pair, chap="one-way", secret="another-horse-3")


def iser_target_down(pair):
    """Nothing listens at the portal of iSER."""
    says("does the target run", by_iser, pair, is_away=True)


def srp_target_down(pair):
    """Nothing listens at the portal of SRP."""
    says("SRP login .*does the target run, is the address right", by_srp(), pair, is_away=True, is_srp=True)


def srp_no_such_target(pair):
    """A name that no target of SRP has."""
    says("SRP login .*check id_ext and ioc_guid", by_srp(lambda w: w.replace("ioc_guid=02", "ioc_guid=06")), pair,
         is_srp=True)


def srp_no_such_lun(pair):
    """No LUN is mapped for the machine's port."""
    says("no LUN for this machine's port: map it in its ACL", by_srp(), pair, is_srp=True,
         breaks=lambda root: Shell(root.daemon)(f"{root.target.path}/acls/{MACHINE}", "delete", "0"))


def user_target_down(pair):
    """The same, of farblock-initiator."""
    says("connect: refused", by_url(), pair, is_away=True)


def user_no_such_lun(pair):
    """The same, of farblock-initiator."""
    says("LUN 5", by_url(lambda url: url.rsplit("/", 1)[0] + "/5"), pair)


# NAME-initrd and NAME-dracut.
SCENARIOS = {f"{f.__name__.replace('_', '-')}-{kind}": functools.partial(f, f"{kind}-6.12")
             for f in (wrong_secret, user_wrong_secret, no_such_lun, no_such_target, target_down,
                       no_link, no_dhcp, late_link, late_target, user_target_down,
                       user_no_such_lun, iser_wrong_secret, iser_target_down, srp_target_down,
                       srp_no_such_target, srp_no_such_lun)
             for kind in ("initrd", "dracut")}
