# SPDX-License-Identifier: BSD-2-Clause
"""An initiator with an ACL uses LUNs under the numbers of its mapped LUNs: what it has read is in
use as mapped LUN, as LUN and as storage, and the LUN whose number that is in the group is not."""

from protocol import *

SWAPPED = {**acl(), "mapped_luns": [
    {"index": i, "tpg_lun": 1 - i, "write_protect": False, "alias": f"map{i}"} for i in range(2)]}


def test(daemon):
    peer = daemon.session()
    peer.read(0, 1)  # LUN 1 of the group
    luns, mapped = f"{daemon.tpg_path()}/luns", f"{daemon.tpg_path()}/acls/{INITIATOR}"
    daemon.refuse_delete(mapped, mapped_lun="0")
    daemon.refuse_delete(luns, lun="lun1")
    daemon.refuse_delete("/backstores/ramdisk", name="rd1")
    daemon.delete(mapped, mapped_lun="1")
    daemon.delete(luns, lun="lun0")
    daemon.delete("/backstores/ramdisk", name="rd0")
    peer.ready()
    peer.read(0, 1)


main(test, luns=2, acls=[SWAPPED], attributes={"generate_node_acls": 0})
