# SPDX-License-Identifier: BSD-2-Clause
"""TCP, iSER and SRP show the same disk: names, serial numbers and designators of the logical unit
are equal, the target ports are not, and what one writes the others read."""

from transports import *

OF_UNIT, OF_PORT, OF_DEVICE = 0, 1, 2
NAA, RELATIVE, SCSI_NAME = 3, 4, 8
SRP_PROTOCOL, ISCSI_PROTOCOL = 4, 5


def ports_of(peer):
    """VPD 88h without its header."""
    page = peer.inquiry(0x88)
    return page[4:4 + int.from_bytes(page[2:4], "big")]


def test(daemon):
    tcp, iser, srp = peers = daemon.sessions_of_all()
    check(len({peer.inquiry()[:36] for peer in peers}) == 1, "the INQUIRY data differ")
    check(len({peer.inquiry(0x80) for peer in peers}) == 1, "the serial numbers differ")
    units = [{what: value for what, value in peer.identity().items() if what[0] == OF_UNIT}
             for peer in peers]
    check((OF_UNIT, NAA) in units[0] and units[0] == units[1] == units[2], f"{units}")
    check(tcp.port() == iser.port() != srp.port(), "relative target ports")
    for peer, wanted in ((tcp, ISCSI_PROTOCOL), (iser, ISCSI_PROTOCOL), (srp, SRP_PROTOCOL)):
        protocols = {value[0] for what, value in peer.identity().items() if what[0] == OF_PORT}
        check(wanted in protocols <= {wanted, None}, f"{peer.name}: protocols {protocols}")
    check(len({ports_of(peer) for peer in peers}) == 1, "VPD 88h differs")
    for lba, peer in enumerate(peers):
        data = bytes((lba + 1,)) * 512
        check(peer.write_block(lba, data) == GOOD, f"{peer.name} cannot write")
        check(all(other.read_block(lba) == data for other in peers), "another block is read")


main(test)
