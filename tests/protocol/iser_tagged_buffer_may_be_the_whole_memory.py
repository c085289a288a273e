# SPDX-License-Identifier: BSD-2-Clause
"""An initiator that declares TaggedBufferForSolicitedDataOnly=No advertises the memory of the whole
command, and what came unasked is not read again."""

from iser import *


class Whole(IserPeer):
    tags_solicited_only = False


def test(daemon):
    peer = daemon.session({"TaggedBufferForSolicitedDataOnly": "No"}, kind=Whole)
    data = pattern(65536, 7)
    peer.write_and_read_back(0, data)


main(test)
