#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator against farblockd over iSER and software iWARP: discovery, CHAP, logins in a
row, commands of 512 bytes to 16 MiB, and a daemon that is killed again and again under load, every
byte compared afterwards, over iSER and over TCP. What cannot connect says why."""

import json
import os
import random
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import (Config, Failure, Farblockd, Scratch, check, eventually, free_port,  # noqa: E402
                      main)
from initiator import end, start, verify_all_sizes  # noqa: E402

MIB = 1 << 20
MOST = {"max_transfer_kib": 16384}
KILLS = 4


def over_iser(url):
    return url.replace("iscsi://", "iser://")


def tool(*arguments, status=0, **options):
    """Runs farblock-initiator to its end; returns what it printed."""
    return end(start(*arguments, **options), status)


def moved(daemon, way):
    disks = daemon.rpc("stats.get")["storage_objects"]
    return sum(disk[way]["bytes"] for disk in disks.values())


# --- logging in ---

def discovered(target):
    portal = over_iser(target.url()).rsplit("/", 2)[0]
    check(target.iqn in tool("discover", portal), "discover does not find the target")
    portal = portal.replace("iser://", "")
    check(target.iqn in tool("discover", portal, "--transport", "iser", "--provider", "iwarp"),
          "discover --transport does not find the target")


def logins(url):
    told = json.loads(tool("ping", url, "--json"))
    check("iSER (iwarp)" in told["transport"], f"ping went over {told['transport']}")
    for _ in range(50):
        tool("ping", url, "--count", "1")


def chap(scratch):
    config = Config()
    disk = config.ramdisk("rd0", 16 * MIB)
    target = config.target([disk], attributes={"authentication": 1}, chap_userid="me",
                           chap_password="correct-horse")
    with Farblockd(scratch, config, "farblockd-chap") as daemon:
        del daemon
        url = over_iser(target.url())
        right, wrong = {"FARBLOCK_CHAP_SECRET": "correct-horse"}, {"FARBLOCK_CHAP_SECRET": "other"}
        tool("ping", url, "--chap-user", "me", env={**os.environ, **right})
        text = tool("ping", url, "--chap-user", "me", status=1, env={**os.environ, **wrong})
        check("CHAP" in text, f"a wrong secret: {text}")


def silent_peer(answer):
    """The port of a peer that accepts once and answers a connect with these bytes."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)

    def serve():
        peer, _ = listener.accept()
        with listener, peer:
            peer.recv(100)
            peer.sendall(answer)
            peer.settimeout(10)
            try:
                while peer.recv(100):
                    pass
            except OSError:
                pass
    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


def failures(target):
    url = "iser://127.0.0.1:{}/" + target.iqn + "/0"
    begin = ["--login-timeout", "1"]
    cases = ((free_port(), "refused"), (silent_peer(b""), "timeout"),
             (silent_peer(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 4), "MPA"))
    for port, word in cases:
        text = tool("ping", url.format(port), *begin, status=1)
        check(word in text and text.count("\n") == 1, f"instead of '{word}': {text}")
    text = tool("ping", over_iser(target.url()).replace(":t0", ":x"), status=1)
    check("discover" in text, f"an unknown target: {text}")
    tool("ping", over_iser(target.url()), "--provider", "magic", status=2)


# --- a daemon that ends ---

def killed(daemon, url, bs, length, dice):
    """Writes and verifies a range while the daemon is killed and started again: the page cache,
    a volatile write cache to the initiator, survives that."""
    arguments = ("verify", url, "--pattern", str(dice.randrange(1000)), "--length", str(length),
                 "--bs", bs, "--allow-replaced")
    at_work = start(*arguments)
    for i in range(KILLS):
        way = "write" if i < KILLS // 2 else "read"
        first, some = moved(daemon, way), dice.randrange(1, length // KILLS // 4)
        eventually(f"{some} bytes to {way}", lambda w=way, f=first, s=some:
                   moved(daemon, w) - f >= s or at_work.poll() is not None, timeout=120)
        if at_work.poll() is not None:
            break
        daemon.kill()
        daemon.start()
    end(at_work)
    check(i == KILLS - 1, f"it was over after {i} kills")
    tcp = ("verify", url.replace("iser://", "iscsi://"), *arguments[2:-3], "--check-only")
    tool(*tcp)
    print(f"killed {KILLS} times under commands of {bs}: every byte equal", flush=True)


def bench_goes_on(daemon, url):
    arguments = ("bench", url, "--time", "6", "--depth", "64", "--json", "--allow-replaced")
    bench = start(*arguments)
    for _ in range(2):
        first = moved(daemon, "read")
        eventually("the bench at work", lambda f=first: moved(daemon, "read") > f + MIB)
        daemon.kill()
        daemon.start()
    out = json.loads(end(bench))
    check(out["errors"] == 0 and out["iops"] > 0, f"errors over a restart: {out}")


def test():
    dice = random.Random(7)
    with Scratch(in_memory=True) as memory, Scratch() as scratch:
        chap(scratch)
        config = Config()
        disks = [config.ramdisk("rd0", 64 * MIB, MOST),
                 config.fileio("f0", memory.file("disk.img"), 256 * MIB, MOST, write_back=True)]
        target = config.target(disks)
        with Farblockd(scratch, config) as daemon:
            discovered(target)
            logins(over_iser(target.url()))
            failures(target)
            for lun in range(len(disks)):
                verify_all_sizes(over_iser(target.url(lun)))
            bench_goes_on(daemon, over_iser(target.url()))
            for bs in ("4k", "128k"):
                # Long enough to be at work still when it has been looked at.
                killed(daemon, over_iser(target.url(1)), bs, 96 * MIB if bs == "4k" else 256 * MIB,
                       dice)


main(test)
