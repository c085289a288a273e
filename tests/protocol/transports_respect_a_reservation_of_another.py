# SPDX-License-Identifier: BSD-2-Clause
"""A persistent reservation that a session of one transport holds keeps those of the others from
writing until it is released, or preempted by one of them."""

from transports import *


def keeps_out(holder, others):
    key = 0xabc
    holder.reserve_out(REGISTER, 0, key)
    holder.reserve_out(RESERVE, key, kind=WRITE_EXCLUSIVE)
    check(holder.write_block(0, bytes(512)) == GOOD, f"{holder.name} holds it and cannot write")
    for other in others:
        check(other.holder() == (key, WRITE_EXCLUSIVE), f"{other.name} sees {other.holder()}")
        check(other.write_block(0, bytes(512)) == CONFLICT, f"{other.name} writes")
        other.read_block(0)
    holder.reserve_out(REGISTER, key, 0)
    for other in others:
        check(other.write_block(0, bytes(512)) == GOOD, f"{other.name} cannot write afterwards")


def preempts(holder, other):
    holder.reserve_out(REGISTER, 0, 1)
    other.reserve_out(REGISTER, 0, 2)
    holder.reserve_out(RESERVE, 1, kind=EXCLUSIVE)
    other.reserve_out(PREEMPT, 2, 1, kind=EXCLUSIVE)
    holder.fails((6, 0x2a, 5), bytes(6))  # REGISTRATIONS PREEMPTED
    check(holder.write_block(0, bytes(512)) == CONFLICT, f"{holder.name} writes")
    check(other.write_block(0, bytes(512)) == GOOD, f"{other.name} cannot write")
    other.reserve_out(REGISTER, 2, 0)


def test(daemon):
    peers = daemon.sessions_of_all()
    for holder in peers:
        others = [peer for peer in peers if peer is not holder]
        keeps_out(holder, others)
        for other in others:
            preempts(holder, other)


main(test)
