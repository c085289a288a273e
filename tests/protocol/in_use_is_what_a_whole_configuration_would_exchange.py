# SPDX-License-Identifier: BSD-2-Clause
"""A LUN that sessions of all transports have written keeps its disk: apply, undo, import
and restoreconfig that would exchange it are refused, with its path, the session and
what to do; plan says so. With force=true they do it."""

import json

from transports import *

from protocol import pattern


def document(daemon, name):
    with open(daemon.config_path, encoding="utf-8") as saved:
        text = saved.read().replace('"/backstores/ramdisk/rd0"', f'"/backstores/ramdisk/{name}"')
    return {"name": "/x", "document": json.loads(text)}


def is_refused(daemon, answer):
    check(isinstance(answer, str) and "0: in use by" in answer and "session " in answer and
          "force=true" in answer, f"not refused: {answer}")
    check(len(daemon.sessions()) == 3, "a session ended")


def test(daemon):
    client = Client(daemon)
    client("create", "/backstores/ramdisk", name="other", size="16M")
    wish = document(daemon, "other")
    check(not isinstance(client("apply", file=wish), str), "apply without sessions")
    peers = daemon.sessions_of_all()
    for peer in peers:
        check(peer.write_block(0, pattern(512)) == GOOD, f"{peer.name}: WRITE")
    back = document(daemon, "other")
    back["document"] = json.loads(json.dumps(back["document"]).replace("ramdisk/other",
                                                                       "ramdisk/rd0"))
    is_refused(daemon, client("undo"))
    is_refused(daemon, client("apply", file=back))
    is_refused(daemon, client("import", kind="scst", clear_existing=True, file={
        **back, "notes": []}))
    is_refused(daemon, client("restoreconfig", savefile=back, clear_existing=True))
    plan = client("plan", file=back)["messages"]
    check("would be refused: " in plan[-1], plan)
    for peer in peers:
        check(peer.read_block(0) == pattern(512), f"{peer.name}: it was disturbed")
    check(not isinstance(client("undo", force=True), str), "undo with force")


main(test)
