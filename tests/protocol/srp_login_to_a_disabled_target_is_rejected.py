# SPDX-License-Identifier: BSD-2-Clause
"""A login to a target that is disabled is rejected with 00010001, before its ACLs are looked at."""

from srp import *


def disable(config, _):
    config.targets[0]["tpgs"][0]["enable"] = False


def test(daemon):
    stranger = "ib." + "5" * 32
    daemon.rejected(NO_RESOURCES, initiator=stranger)
    daemon.rejected(NO_RESOURCES)
    daemon.rpc("tree.run", command="enable", path=daemon.tpg_path(), positional=[], named={})
    daemon.rejected(NO_PORT, initiator=stranger)
    daemon.session()


main(test, adapt=disable)
