# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of iSER are made of: an initiator by the book over iSER over iWARP."""

import struct
import sys

from protocol import *
from protocol import BLOCK, GOOD, NONE, READ, RESPONSE, WRITE, Closed, Failure, Peer, check, main

import iser_raw
from iser_raw import *  # noqa: F403: tests import everything from here
from iser_raw import IserWire, NO_INVALIDATE, NO_ZBVA

IB_ISER = bytes((NO_ZBVA, 0, 0, 0))
HELLO = bytes((0x20, 0xaa, 0, 16)) + bytes(24)
LIBISCSI = bytes((NO_ZBVA | NO_INVALIDATE, 0, 0, 0))


def ping(peer):
    """A ping is what is answered next, over iSER or TCP."""
    pdu = peer.send(peer.request(NOP_OUT, immediate=True, ttt=NONE))
    peer.expect(NOP_IN, "where the read in flight has to be waited for", itt=pdu.itt)


class IserPeer(IserWire, Peer):
    """An initiator by the book, as Linux's ib_iser advertises its memory."""

    OPERATIONAL = {
        "InitialR2T": "No", "ImmediateData": "Yes", "MaxBurstLength": "262144",
        "FirstBurstLength": "65536", "MaxOutstandingR2T": "1", "MaxConnections": "1",
        "DefaultTime2Wait": "2", "DefaultTime2Retain": "20", "DataPDUInOrder": "Yes",
        "DataSequenceInOrder": "Yes", "ErrorRecoveryLevel": "0",
        "InitiatorRecvDataSegmentLength": "262144", "TargetRecvDataSegmentLength": "8192",
        "RDMAExtensions": "Yes"}
    DISCOVERY = {"InitiatorRecvDataSegmentLength": "262144",
                 "TargetRecvDataSegmentLength": "8192"}
    tags_solicited_only = True  # TaggedBufferForSolicitedDataOnly, as everybody behaves

    def held_write(self, seed=1):
        """Sends a write of 128 blocks; returns it once its RDMA Read has come, which is not answered
        as long as holds_reads is set."""
        self.holds_reads = True
        pdu = self.send(self.write_from(self.write_task(0, 128), pattern(65536, seed)))
        while not self.held_reads:
            check(self.turn() is None, "an answer instead of an RDMA Read")
        return pdu

    def hello(self, versions=0xaa):
        """Says Hello; returns the answer."""
        self.send_bytes(self.message(HELLO[:1] + bytes((versions,)) + HELLO[2:]))
        return self.recv_message()

    def login(self, keys=None, discovery=False):
        self.login_step({**self.names(discovery), "AuthMethod": "None"}, stage=0, next_stage=1)
        rsp = self.login_step({**(self.DISCOVERY if discovery else self.OPERATIONAL),
                               **(keys or {})})
        check(rsp.flags & 0x83 == 0x83, "the login did not end in full feature phase")
        return self

    def enter_full_feature(self, rsp):
        super().enter_full_feature(rsp)
        self.max_recv = 8192
        self.is_normal = "RDMAExtensions" in self.agreed

    def number(self, key):
        return super().number("TargetRecvDataSegmentLength"
                              if key == "MaxRecvDataSegmentLength" else key)

    def logout(self, reason=0, **fields):
        """Logs out and closes, which the target leaves to the initiator."""
        pdu = self.send(self.request(LOGOUT, F | reason, **{"immediate": True, **fields}))
        rsp = self.expect(LOGOUT_RSP, itt=pdu.itt, response=0)
        self.close()
        return rsp

    # --- commands with memory ---

    def read_into(self, pdu, size):
        """Advertises size bytes for a command's data-in."""
        pdu.region = self.expose(b"\xa5" * size, True)
        pdu.read_tag = pdu.region.tag
        return pdu

    def write_from(self, pdu, data, unsolicited=0):
        """Advertises what of data does not go unasked; with nothing left, nothing."""
        skip = unsolicited if self.tags_solicited_only else 0
        if unsolicited < len(data):
            pdu.region = self.expose(data[skip:])
            pdu.write_tag = pdu.region.tag
        return pdu

    def read(self, lba, blocks):
        pdu = self.read_into(self.read_task(lba, blocks), blocks * BLOCK)
        self.send(pdu)
        end = self.expect(RESPONSE, itt=pdu.itt)
        check(end.status == GOOD, f"READ ended with status {end.status:#x} {end.sense}")
        check(pdu.region.written == blocks * BLOCK, f"{pdu.region.written} bytes were written")
        return bytes(pdu.region.data)

    def command_in(self, cdb, size, **fields):
        """A command with data-in; returns data and status."""
        pdu = self.read_into(self.task(cdb, size, READ, **fields), size)
        self.send(pdu)
        end = self.expect(RESPONSE, itt=pdu.itt)
        return bytes(pdu.region.data[:pdu.region.written]), end

    def write(self, lba, data, status=GOOD):
        now, more = self.unsolicited(data)
        pdu = self.write_task(lba, len(data) // BLOCK, data=data[:now], final=not more)
        self.write_from(pdu, data, now + more)
        self.send(pdu, *self.data_out(pdu, data[now:now + more], now))
        end = self.expect(RESPONSE, itt=pdu.itt)
        check(end.status == status, f"WRITE ended with status {end.status:#x} {end.sense}")
        return pdu
