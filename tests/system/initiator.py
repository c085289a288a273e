#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator against farblockd and, where it is installed, tgtd: what it writes it reads
back, by every login and digest; it survives the end of a daemon that comes back; wrong usage
ends with 2, failure with 1, and one line that says why."""

import hashlib
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import (Config, Failure, Farblockd, Scratch, Skip, check, eventually, main,  # noqa: E402
                      program)
from peers import Tgtd  # noqa: E402

SIZE = 64 << 20


def tool(*arguments, status=0, **options):
    """Runs farblock-initiator; returns what it printed."""
    done = subprocess.run([program("farblock-initiator"), *arguments], text=True, timeout=120,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True, **options)
    if done.returncode != status:
        raise Failure(f"farblock-initiator {' '.join(arguments)}: exit status {done.returncode}, "
                      f"not {status}: {done.stderr.strip() or done.stdout.strip()}")
    if status and len(done.stderr.strip().splitlines()) != 1:
        raise Failure(f"{' '.join(arguments)}: not one line: {done.stderr}")
    return done.stdout if not status else done.stderr


def copies(scratch, url, *options):
    """An odd number of bytes, written, read back, compared and summed."""
    data = os.urandom((5 << 20) + 123)
    source, copy = scratch.file("source", content=data), scratch.file("copy")
    tool("write", url, "-i", source, "--offset", "1M", *options)
    tool("read", url, "-o", copy, "--offset", "1M", "--length", str(len(data)), *options)
    with open(copy, "rb") as file:
        check(file.read() == data, "what was read is not what was written")
    tool("verify", url, source, "--offset", "1M", *options)
    sum_ = tool("checksum", url, "--offset", "1M", "--length", str(len(data)), *options).split()[0]
    check(sum_ == hashlib.sha256(data).hexdigest(), f"the checksum is {sum_}")
    with open(source, "r+b") as file:
        file.seek(1234567)
        file.write(bytes([data[1234567] ^ 1]))
    text = tool("verify", url, source, "--offset", "1M", *options, status=1)
    check(str((1 << 20) + 1234567) in text, f"verify does not say where: {text}")
    tool("verify", url, "--pattern", "42", "--length", "8M", *options)
    tool("verify", url, "--pattern", "42", "--length", "8M", "--check-only", *options)
    tool("verify", url, "--pattern", "43", "--length", "8M", "--check-only", *options, status=1)


def identity(url):
    told = json.loads(tool("inquiry", url, "--json"))
    check(told["bytes"] == SIZE, f"capacity {told['bytes']}")
    check(told["type"] == "disk" and told["vpd_pages"], "inquiry is empty")
    line = json.loads(tool("bench", url, "--time", "1", "--json"))
    check(line["iops"] > 0 and line["errors"] == 0 and line["p50_us"] <= line["p99_us"],
          f"bench: {line}")


def found(target_url, iqn):
    portal = target_url.split("/")[2]
    check(f"{portal},1 {iqn}" in tool("discover", portal), "discover does not find the target")
    lines = json.loads(tool("discover", f"iscsi://{portal}", "--json"))
    check(any(line["target"] == iqn for line in lines), "discover --json does not find it")


def failures(url):
    base = url.rsplit("/", 1)[0]
    tool("inquiry", base + "/200", status=1)
    tool("read", url, "-o", "/dev/null", "--offset", "1T", status=2)
    tool("read", url, status=2)
    tool("ping", base + "x", status=1)
    tool("ping", url, "--set", "MaxBurstLength=1", status=2)
    tool("ping", url.replace("iscsi://", "iscsi://me%secret@"), status=2)
    tool("ping", url.replace("iscsi://", "iscsi://me@"), status=2)  # no secret, no terminal
    tool("write", url, "-i", "/nonexistent", status=1)
    tool("ping", "iscsi://127.0.0.1:1/iqn.2025-01.org.farblock.test:t0", status=1)


def usage(scratch, url):
    """What is refused before the target is asked names what was typed and what to type."""
    file, absent = scratch.file("usage", content=b"x" * 512), url.rsplit("/", 1)[0] + "/200"
    rows = [
        (["read", url], 2, "missing -o FILE (- for standard output)"),
        (["write", url], 2, "missing -i FILE (- for standard input)"),
        (["write", absent, "-i", scratch.path], 1, "Is a directory"),
        (["verify", absent, scratch.path], 2, "not a regular file"),
        (["verify", url], 2, "missing FILE to compare with (or --pattern SEED)"),
        (["verify", url, file, "--pattern", "1"], 2, "a file and --pattern exclude each other"),
        (["verify", url, file, "--check-only"], 2, "--check-only requires --pattern SEED"),
        (["discover", "127.0.0.1:99999"], 2, "invalid address '127.0.0.1:99999'"),
        (["ping", url, "--initiator-name", "bad"], 2, "--initiator-name: 'bad' does not start"),
    ]
    for arguments, status, text in rows:
        told = tool(*arguments, status=status)
        check(text in told, f"{' '.join(arguments)}: {told}")


def wrong_secret(scratch, daemon, target):
    """Who is refused for it learns which options have it."""
    path, secret = f"/iscsi/{target.iqn}/tpg1", scratch.file("secret", content=b"another secret")
    os.chmod(secret, 0o600)
    daemon.rpc("tree.run", command="set", path=path,
               positional=["auth"], named={"userid": "u", "password": "p" * 12})
    daemon.rpc("tree.run", command="set", path=path,
               positional=["attribute"], named={"authentication": "1"})
    told = tool("ping", target.url(), "--chap-user", "u", "--chap-secret-file", secret, status=1)
    check("0201" in told and "--chap-user, --chap-secret-file)" in told, told)
    daemon.rpc("tree.run", command="set", path=path,
               positional=["attribute"], named={"authentication": "0"})


def restart(daemon, url):
    """A bench continues across a restart of the daemon."""
    bench = subprocess.Popen([program("farblock-initiator"), "bench", url, "--time", "5", "--json"],
                             stdout=subprocess.PIPE, text=True)
    disks = daemon.rpc("stats.get")["storage_objects"]
    before = sum(disk["read"]["commands"] for disk in disks.values())
    eventually("the bench at work", lambda: sum(
        disk["read"]["commands"]
        for disk in daemon.rpc("stats.get")["storage_objects"].values()) > before + 1000)
    daemon.kill()
    daemon.start()
    out, _ = bench.communicate(timeout=60)
    check(bench.returncode == 0, f"bench ended with {bench.returncode} over a restart")
    check(json.loads(out)["errors"] == 0, f"errors over a restart: {out}")


def waits(daemon, target):
    """Who waits for a portal group that was disabled is told so, once, and when it is back."""
    path, timeout = f"/iscsi/{target.iqn}/tpg1", ("--replacement-timeout", "60")
    bench = subprocess.Popen([program("farblock-initiator"), "bench", target.url(), "--time", "3",
                              *timeout, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
    eventually("the bench logged in", lambda: daemon.rpc("session.list"))
    daemon.rpc("tree.run", path=path, command="disable")
    told = []
    while not told or " 0301 " not in told[-1]:
        told.append(bench.stderr.readline())
        check(told[-1], f"no report that the portal group is disabled: {told}")
    refused = sum(entry["count"] for entry in daemon.rpc("login.refusals"))
    eventually("another attempt", lambda: sum(
        entry["count"] for entry in daemon.rpc("login.refusals")) > refused)
    daemon.rpc("tree.run", path=path, command="enable")
    _, rest = bench.communicate(timeout=60)
    told += rest.splitlines(keepends=True)
    check(bench.returncode == 0, f"bench ended with {bench.returncode}: {told}")
    line = [line for line in told if " 0301 " in line]
    check(len(line) == 1 and "retrying for " in line[0], f"told: {told}")
    check(told[-1] == "farblock-initiator: session restored\n", f"told: {told}")


def farblockd(scratch):
    config = Config()
    disk = config.ramdisk("rd0", SIZE)
    path = scratch.file("disk.img")
    target = config.target([disk, config.fileio("f0", path, SIZE)])
    with Farblockd(scratch, config) as daemon:
        found(target.url(), target.iqn)
        check(len(json.loads(tool("luns", target.url(), "--json"))) == 2, "not two LUNs")
        identity(target.url())
        for lun in (0, 1):
            copies(scratch, target.url(lun))
        both = ("--header-digest", "CRC32C", "--data-digest", "CRC32C")
        copies(scratch, target.url(), *both)
        copies(scratch, target.url(), "--set", "ImmediateData=No", "--set", "InitialR2T=Yes")
        copies(scratch, target.url(), "--set", "InitialR2T=No", "--set", "MaxBurstLength=8192",
               "--set", "FirstBurstLength=4096", "--set", "MaxRecvDataSegmentLength=512", *both)
        tool("ping", target.url(), "--count", "10")
        failures(target.url())
        usage(scratch, target.url())
        wrong_secret(scratch, daemon, target)
        restart(daemon, target.url(1))
        waits(daemon, target)


def tgtd(scratch):
    with Tgtd(scratch, SIZE) as peer:
        found(peer.url, peer.iqn)
        identity(peer.url)
        copies(scratch, peer.url)


def test():
    with Scratch() as scratch:
        farblockd(scratch)
        try:
            tgtd(scratch)
        except Skip as why:
            print(f"without tgtd: {why}")


main(test)
