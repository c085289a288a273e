# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: what keeps a machine from its root disk, and what the console says of it."""

from farblock import Scratch
from machine import Machine
from target import Root

WORDS = "ip=dhcp farblock.timeout=20"


def says(text, words, chap=None, is_away=False, options=(), pair="initrd-6.12"):
    """The console says text, with what to do, and then gives a rescue shell."""
    with Scratch() as scratch, Root(scratch, chap=chap) as root:
        if is_away:
            root.daemon.stop()
        with Machine(scratch, pair=pair, words=f"{words(root)} {WORDS}", options=options,
                     name="error") as machine:
            machine.wait_for("farblock: .*" + text)
            machine.wait_for(r"no root disk after 20 s")
        if is_away:
            root.daemon.start()


def by_words(login="", change=lambda place: place):
    return lambda root: f"farblock.root=iscsi:{login}{change(root.place)}"


def wrong_secret():
    """A wrong CHAP secret is named, and where it is set."""
    says("CHAP refused: check user and secret", by_words("diskless:wrong-horse-11@"),
         chap="one-way")


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
    says("no link at eth0: check cable", by_words(), options=["-S"])


SCENARIOS = {f.__name__.replace("_", "-"): f for f in (
    wrong_secret, no_such_lun, no_such_target, target_down)}
