# SPDX-License-Identifier: BSD-2-Clause
"""IUs longer than 64 bytes, immediate data, tables, more IUs than the request limit of two, and those
of a target end a channel of discovery, and nobody else's."""

from srp import *


def too_long(peer):
    iu = peer.query()
    iu.raw += bytes(4)
    peer.send(iu)


def immediate(peer):
    peer.send(peer.write_from(peer.immediate(bytes(8))))


def table(peer):
    peer.send(peer.read_into(peer.indirect([bytes(512)], True)))


def external_table(peer):
    peer.send(peer.read_into(peer.indirect([bytes(512)] * 3, True, 0)))


def cut(peer):
    peer.send_bytes(peer.message(bytes(peer.query().raw[:63])))


def of_a_target(peer):
    peer.send_bytes(peer.message(bytes((RSP,)) + bytes(47)))


def login_again(peer):
    peer.send_bytes(peer.message(peer.login))


def test(daemon):
    other = daemon.session()
    for act in (too_long, immediate, table, external_table, cut, of_a_target, login_again):
        peer = daemon.discovery()
        act(peer)
        peer.expect_closed(act.__name__)
        peer = daemon.discovery()
        peer.targets()
        act(peer)
        check(peer.expect_closed(act.__name__) == INVALID_IU, act.__name__)
    other.expect_alive()


main(test)
