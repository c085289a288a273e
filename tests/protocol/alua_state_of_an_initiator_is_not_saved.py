# SPDX-License-Identifier: BSD-2-Clause
"""SET TARGET PORT GROUPS changes the state and not the configuration: a later save of something
else leaves the configured state in the saved file, and a restart brings that back; but with
alua_write_metadata=1 the last state."""

from protocol import *

OPTIMIZED, NONOPTIMIZED = 0, 1
DISK = "/backstores/ramdisk/rd0"
GROUP = f"{DISK}/alua/default_tg_pt_gp"


def set_state(peer, state):
    data = bytes((0, 0, 0, 0, state, 0, 0, 0))
    pdu = peer.send(peer.task(struct.pack(">BB4xIxx", 0xa4, 0x0a, len(data)), edtl=len(data),
                              flags=WRITE, data=data))
    peer.expect(RESPONSE, itt=pdu.itt, status=GOOD)


def state_of(daemon):
    peer = daemon.session()
    pdu = peer.send(peer.task(struct.pack(">BB4xIxx", 0xa3, 0x0a, 64), edtl=64, flags=READ))
    data, _ = peer.collect(pdu, 64)
    peer.close()
    return data[4] & 15


def saved_state(daemon):
    with open(daemon.config_path) as file:
        objects = json.load(file)["storage_objects"]
    return objects[0]["alua_tpgs"][0]["alua_access_state"]


def shown_state(daemon):
    return daemon.rpc("tree.get", path=GROUP, group="alua",
                      parameter="alua_access_state")["rows"][0]["value"]


def change_and_restart(daemon, state, unrelated):
    peer = daemon.session()
    set_state(peer, state)
    peer.close()
    check(shown_state(daemon) == str(state), "get does not show the state")
    daemon.set(DISK, "attribute", emulate_tas=unrelated)
    check(saved_state(daemon) == OPTIMIZED, "the state is in the saved file")
    check(state_of(daemon) == state, "saving changed the state")
    daemon.stop()
    daemon.start()
    return state_of(daemon)


def test(daemon):
    check(change_and_restart(daemon, NONOPTIMIZED, "0") == OPTIMIZED,
          "the restart does not bring the configured state")
    daemon.set(GROUP, "alua", alua_write_metadata="1")
    for unrelated in ("1", "0"):
        check(change_and_restart(daemon, NONOPTIMIZED, unrelated) == NONOPTIMIZED,
              "the restart does not bring the state that was kept")
    daemon.set(GROUP, "alua", alua_write_metadata="0")
    daemon.stop()
    daemon.start()
    check(state_of(daemon) == OPTIMIZED, "an unrequested state is saved")


main(test)
