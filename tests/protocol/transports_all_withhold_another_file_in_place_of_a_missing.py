# SPDX-License-Identifier: BSD-2-Clause
"""A LUN whose file went missing is not ready (04/01) to sessions of all transports. Another file at
its path answers them LOGICAL UNIT NOT SUPPORTED, also to writes, and is not reported; its own file
is served again, with what was written to it."""

from missing import *


def lose(daemon, document, name, aside):
    """In one change the LUN gets another storage object with its serial number and path."""
    os.rename(daemon.path, aside)
    apply(daemon, document.replace("fileio/late", f"fileio/{name}").replace('"late"', f'"{name}"'))


def appear(daemon, peers, sense, listed):
    daemon.rpc("tree.run", command="refresh", path="/")
    become(peers, sense, listed)


def test(daemon):
    own, other, document = daemon.path + ".own", daemon.other, daemon.document
    make_file(daemon.path)
    peers = daemon.sessions_of_all()
    appear(daemon, peers, SERVED, TWO_LUNS)
    for name, aside, file, sense, listed in (("second", own, own, SERVED, TWO_LUNS),
                                             ("third", own, other, WITHHELD, ONE_LUN),
                                             ("fourth", other, own, SERVED, TWO_LUNS)):
        lose(daemon, document, name, aside)
        become(peers, WAITING, TWO_LUNS)
        os.rename(file, daemon.path)
        appear(daemon, peers, sense, listed)
    with open(other, "rb") as found:
        check(found.read() == bytes(SIZE), "a WRITE reached the other file")


main(test)
