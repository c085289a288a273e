# SPDX-License-Identifier: BSD-2-Clause
"""Sessions of all transports log in while the file of a LUN is missing. Another storage object that
gets its number answers them LOGICAL UNIT NOT SUPPORTED and is not reported; the one that they have
waited for is served."""

from missing import *


def test(daemon):
    own = daemon.document
    other = own.replace("fileio/late", "fileio/other").replace('"late"', '"other"')
    other = other.replace("late.img", "other.img").replace(SERIAL, SERIAL.replace("1", "2"))
    peers = daemon.sessions_of_all()
    become(peers, WAITING, TWO_LUNS)
    apply(daemon, other)
    become(peers, WITHHELD, ONE_LUN)
    make_file(daemon.path)
    apply(daemon, own)
    become(peers, SERVED, TWO_LUNS)
    apply(daemon, other)
    become(peers, WITHHELD, ONE_LUN)


main(test)
