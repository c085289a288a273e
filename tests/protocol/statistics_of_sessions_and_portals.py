# SPDX-License-Identifier: BSD-2-Clause
"""Each session counts its own commands, bytes, latencies and copies; its portal keeps the sum when
it has ended, and why logins failed there."""

from protocol import *


def one(entries, what):
    check(len(entries) == 1, f"{len(entries)} {what}: {entries}")
    return list(entries.values())[0]


def test(daemon):
    first, other = daemon.session(), daemon.session(isid=bytes([0x80, 0, 0, 0, 0, 9]))
    check(len(daemon.rpc("stats.get")["sessions"]) == 2, "not two sessions")
    # Small immediate data is copied once; a RAM disk is read from where it lies.
    for at in range(10):
        first.write(8 * at, pattern(4096))
    for _ in range(3):
        other.read(0, 8)
    stats = daemon.rpc("stats.get")["sessions"].values()
    writer = one({0: s for s in stats if s["write"]["commands"]}, "sessions wrote")
    reader = one({0: s for s in stats if s["read"]["commands"]}, "sessions read")
    check(writer["write"]["commands"] == 10 and writer["write"]["bytes"] == 40960, f"{writer}")
    check(sum(writer["write"]["latency_log2_us"]) == 10, f"{writer}")
    check(reader["read"]["commands"] == 3 and reader["read"]["bytes"] == 12288, f"{reader}")
    check(sum(reader["read"]["latency_log2_us"]) == 3, f"{reader}")
    # Together they are what the worker counts.
    copies = writer["payload_copies"] + reader["payload_copies"]
    check(copies == daemon.copies() > 0, f"{copies} copies of {daemon.copies()}")
    check(reader["payload_copies"] == 0, f"{reader}")
    listed = {s["write"]["commands"]: s for s in daemon.rpc("session.list")}
    check(listed[10]["payload_copies"] == writer["payload_copies"], f"{listed}")

    portal = one(daemon.rpc("stats.get")["portals"], "portals")
    check(portal["write"] == writer["write"] and portal["read"] == reader["read"], f"{portal}")
    first.logout()
    daemon.connect(target="iqn.2025-01.org.example:nobody").refused(0x0203)
    other.read(0, 8)

    def is_counted():
        after = one(daemon.rpc("stats.get")["portals"], "portals")
        check(after["write"] == writer["write"], f"after the logout: {after}")
        check(after["payload_copies"] == copies, f"after the logout: {after}")
        check(after["read"]["commands"] == 4, f"after the logout: {after}")
        check(after["failed_target"] == 1 == after["login_failures"], f"{after}")
        check(after["failed_auth"] == after["failed_acl"] == after["timed_out"] == 0, f"{after}")
        return len(daemon.rpc("stats.get")["sessions"]) == 1
    while not is_counted():
        pass


main(test)
