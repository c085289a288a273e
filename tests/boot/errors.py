# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: what keeps a machine from its root disk, and what the console says of it."""

from farblock import Scratch
from machine import Machine
from target import Root

WORDS = "ip=dhcp farblock.timeout=20"
SHELL = r"\(initramfs\)|emergency mode|dracut:/#"


def says(text, words, is_away=False, machine=None, **target):
    """The console says text, with what to do, and then gives a rescue shell."""
    with Scratch() as scratch, Root(scratch, **target) as root:
        if is_away:
            root.daemon.stop()
        with Machine(scratch, words=f"{words(root)} {WORDS}", name="error",
                     **(machine or {})) as booting:
            booting.wait_for("farblock: .*" + text)
            booting.wait_for(r"no root disk after 20 s: .*" + text)
            booting.wait_for(SHELL)
        if is_away:
            root.daemon.start()


def by_words(change=lambda place: place):
    return lambda root: f"farblock.root=iscsi:{change(root.place)}"


def wrong_secret():
    """A wrong CHAP secret is named, and where it is set."""
    says("CHAP refused: check user and secret", by_words(), chap="one-way",
         secret="another-horse-3")


def user_wrong_secret():
    """The same, of farblock-initiator."""
    says("CHAP", lambda root: f"farblock.root=user:{root.url()}", chap="one-way",
         secret="another-horse-3")


def no_such_lun():
    """A LUN that is not mapped is named."""
    says("there is no LUN 5 for iqn", by_words(change=lambda p: p.replace(":0:", ":5:")))


def no_such_target():
    """A name that the portal does not have."""
    says("no such target there", by_words(change=lambda p: p + "x"))


def target_down():
    """Nothing listens at the portal."""
    says("connection refused: does the target run", by_words(), is_away=True)


def no_link():
    """No cable: the interface is named."""
    says("no link at eth0: check cable", by_words(), machine={"is_unplugged": True})


def no_dhcp():
    """A network without a DHCP server."""
    says("no address: ip= has to give one", by_words(),
         machine={"network": "hubport,id=n0,hubid=0"})


def late_link():
    """A cable that comes later, before the time is over."""
    with Scratch() as scratch, Root(scratch) as root:
        with Machine(scratch, words=f"{by_words()(root)} ip=dhcp farblock.timeout=forever",
                     is_unplugged=True, name="late") as machine:
            machine.wait_for("farblock: no link at eth0")
            machine.plug()
            machine.wait_for("farroot login:")


def late_target():
    """A target that comes later, with words that ask to wait for it without end."""
    with Scratch() as scratch, Root(scratch) as root:
        root.daemon.stop()
        with Machine(scratch, words=f"{by_words()(root)} ip=dhcp farblock.timeout=forever",
                     name="late") as machine:
            machine.wait_for("farblock: .*connection refused")
            root.daemon.start()
            machine.wait_for("farroot login:")


def user_target_down():
    """The same, of farblock-initiator."""
    says("connect: refused", lambda root: f"farblock.root=user:{root.url()}", is_away=True)


def user_no_such_lun():
    """The same, of farblock-initiator."""
    says("LUN 5", lambda root: f"farblock.root=user:{root.url().rsplit('/', 1)[0]}/5")


SCENARIOS = {f.__name__.replace("_", "-"): f for f in (
    wrong_secret, user_wrong_secret, no_such_lun, no_such_target, target_down, no_link, no_dhcp,
    late_link, late_target, user_target_down, user_no_such_lun)}
