# SPDX-License-Identifier: BSD-2-Clause
"""An initiator without an ACL has written a LUN: an ACL for it that has another disk under the LUN's
number, or none, is refused; one with the same disk is not."""

from protocol import *


def create(daemon, path, **params):
    return daemon.rpc("tree.run", command="create", path=path, named=params)


def test(daemon):
    peer = daemon.session()
    peer.write(0, pattern(BLOCK))
    acls = f"{daemon.tpg_path()}/acls"
    try:
        create(daemon, acls, wwn=INITIATOR, add_mapped_luns=False)
    except Failure as why:
        check("in use by" in str(why), str(why))
    else:
        raise Failure("the ACL took the LUN away")
    check(peer.read(0, 1) == pattern(BLOCK), "the LUN was disturbed")
    create(daemon, acls, wwn=INITIATOR, add_mapped_luns=True)
    check(peer.read(0, 1) == pattern(BLOCK), "the LUN under the ACL is another one")


main(test)
