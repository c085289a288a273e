#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator against farblockd over SRP and software iWARP: discovery, URLs and add_target
strings, logins in a row, commands of 512 bytes to 16 MiB over one channel and over four, and a
daemon that is killed again and again under load, every byte compared afterwards, over SRP and over
TCP. What cannot connect says why."""

import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import (SRP_INITIATOR, Config, Failure, Farblockd, Scratch, check,  # noqa: E402
                      eventually, free_port, main, program)
from initiator import end  # noqa: E402
import initiator  # noqa: E402

MIB = 1 << 20
MOST = {"max_transfer_kib": 16384}
KILLS = 4
OWN = ("--initiator-port", f"{SRP_INITIATOR[3:19]}:{SRP_INITIATOR[19:]}")


def start(*arguments):
    return initiator.start(*arguments, *OWN)


def tool(*arguments, status=0):
    """Runs farblock-initiator to its end; returns what it printed."""
    return end(start(*arguments), status)


def url(target, lun):
    return f"srp://127.0.0.1:{target.port}/{target.iqn[3:19]}:{target.iqn[19:]}/{lun}"


def string(target, lun):
    return (f"id_ext={target.iqn[3:19]},ioc_guid={target.iqn[19:]},"
            f"dest=127.0.0.1:{target.port},ch_count=2,max_sect=1024/{lun}")


def moved(daemon, way):
    disks = daemon.rpc("stats.get")["storage_objects"]
    return sum(disk[way]["bytes"] for disk in disks.values())


def logins(target):
    told = json.loads(tool("ping", url(target, 0), "--channels", "4", "--json"))
    check(told["transport"] == "SRP (iwarp)" and told["channels"] == 4, told)
    check(told["initiator_port"] == OWN[1] and told["immediate_max"] == 8192, told)
    told = json.loads(tool("ping", url(target, 0), "--channels", "16", "--json"))
    check(told["channels"] == 16, told)
    told = json.loads(tool("ping", string(target, 0), "--json"))
    check(told["channels"] == 2, told)
    check(tool("luns", url(target, 0)).count("disk") == 2, "luns")
    for _ in range(50):
        tool("ping", url(target, 0), "--count", "1")
    for way in (url(target, 1), string(target, 1)):
        check("f0" in tool("inquiry", way), way)


def failures(target):
    good = url(target, 0)
    cases = ((good.replace(str(target.port), str(free_port())), "refused"),
             (good.replace("fe80", "fe81"), "0x00010003"))
    for where, word in cases:
        text = tool("ping", where, "--login-timeout", "1", status=1)
        check(word in text and text.count("\n") == 1, f"instead of '{word}': {text}")
    text = tool("read", url(target, 9), "-o", "/dev/null", status=1)
    check("no LUN 9" in text, text)
    for more in (("--transport", "tcp"), ("--chap-user", "me"), ("--set", "a=b")):
        check("only for iSCSI" in tool("ping", good, *more, status=2), more)
    tool("ping", good, "--channels", "17", status=2)
    tool("read", good.rsplit("/", 1)[0], "-o", "/dev/null", status=2)
    text = tool("ping", "id_ext=1111111111111111,ioc_guid=1111111111111111,pkey=ffff,"
                "dgid=fe800000000000000002c90300000001,service_id=0002c90300000001", status=2)
    check("IB-CM" in text, text)


def discovery(target, iscsi):
    """What it prints is what to type."""
    portal, add = f"127.0.0.1:{target.port}", target.add_target()
    text = tool("discover", f"srp://{portal}")
    check(text.splitlines() == [target.iqn, f"  srp_daemon.conf: a {add.rsplit(',', 1)[0]}",
                                f"  add_target: {add}",
                                f"  url: {target.url().rsplit('/', 1)[0]}"], text)
    listed, = json.loads(tool("discover", f"srp://{portal}", "--json"))
    check(listed == {"target": target.iqn, "portal": portal, "add_target": add,
                     "url": target.url().rsplit("/", 1)[0],
                     "srp_daemon_conf": f"a {add.rsplit(',', 1)[0]}"}, listed)
    for url in (listed["url"], listed["add_target"]):
        check(tool("luns", url).count("disk") == 2, url)
    for more in ((), ("--json",)):
        at_work = subprocess.run([program("farblock-initiator"), "discover", f"srp://{portal}", *more],
                                 capture_output=True, text=True, timeout=60, check=False)
        check(not at_work.returncode and not json.loads(at_work.stdout or "[]") and
              "no target admits this initiator, ib.0000000000000000" in at_work.stderr, at_work)
    text = tool("discover", f"srp://127.0.0.1:{free_port()}", "--login-timeout", "1", status=4)
    check("refused" in text and text.count("\n") == 1, text)
    text = tool("discover", f"srp://127.0.0.1:{iscsi.port}", "--login-timeout", "5", status=19)
    check("SRP" in text and text.count("\n") == 1, text)
    tool("discover", f"srp://{portal}", "--chap-user", "me", status=2)
    tool("discover", "srp://", status=2)
    tool("discover", f"srp://{portal}/nonsense", status=2)


def killed(daemon, where, tcp, bs, length, dice):
    """Writes and verifies a range while the daemon is killed and started again: the page cache,
    a volatile write cache to the initiator, survives that."""
    arguments = ("verify", where, "--pattern", str(dice.randrange(1000)), "--length", str(length),
                 "--bs", bs, "--allow-replaced", "--channels", "3")
    at_work = start(*arguments)
    for i in range(KILLS):
        way = "write" if i < KILLS // 2 else "read"
        first, some = moved(daemon, way), dice.randrange(1, length // KILLS // 4)
        eventually(f"{some} bytes to {way}", lambda w=way, f=first, s=some:
                   moved(daemon, w) - f >= s or at_work.poll() is not None)
        if at_work.poll() is not None:
            break
        daemon.kill()
        daemon.start()
    end(at_work)
    check(i == KILLS - 1, f"it was over after {i} kills")
    verify = ("verify", tcp, *arguments[2:6], "--check-only")
    end(initiator.start(*verify))
    print(f"killed {KILLS} times under commands of {bs}: every byte equal", flush=True)


def gone(daemon, where):
    """The daemon does not return: the command ends, with words."""
    arguments = ("bench", where, "--time", "600", "--replacement-timeout", "1")
    bench = start(*arguments)
    first = moved(daemon, "read")
    eventually("the bench at work", lambda: moved(daemon, "read") > first + MIB)
    daemon.kill()
    text = end(bench, status=1)
    check("retrying for 1 s" in text and "SRP" in text, text)
    daemon.start()


def test():
    dice = random.Random(7)
    with Scratch(in_memory=True) as memory, Scratch() as scratch:
        config = Config()
        disks = [config.ramdisk("rd0", 64 * MIB, MOST),
                 config.fileio("f0", memory.file("disk.img"), 256 * MIB, MOST, write_back=True)]
        target, iscsi = config.srp_target(disks), config.target(disks)
        with Farblockd(scratch, config) as daemon:
            logins(target)
            failures(target)
            discovery(target, iscsi)
            initiator.verify_all_sizes(url(target, 0), *OWN)
            initiator.verify_all_sizes(url(target, 1), "--channels", "4", *OWN)
            for bs in ("4k", "128k"):
                # Long enough to be at work still when it has been looked at.
                killed(daemon, url(target, 1), iscsi.url(1), bs,
                       96 * MIB if bs == "4k" else 256 * MIB, dice)
            gone(daemon, url(target, 1))


main(test)
