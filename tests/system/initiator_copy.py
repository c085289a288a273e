#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator copy: the target copies between its own logical units, memory is used between
targets, and the destination then has the source's bytes and nothing else changed."""

import json
import os
import random
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import (SRP_INITIATOR, Config, Farblockd, Scratch, check,  # noqa: E402
                      eventually, main, program, run)

MIB = 1 << 20
SIZE = 20 * MIB
ODX = "odx"
SRP = ("--initiator-port", f"{SRP_INITIATOR[3:19]}:{SRP_INITIATOR[19:]}")


def tool(*words, status=0):
    done = subprocess.run([program("farblock-initiator"), *words], timeout=120,
                          stdin=subprocess.DEVNULL, capture_output=True)
    told = done.stderr.decode()
    check(done.returncode == status, f"{words}: exit status {done.returncode}: {told}")
    return told if status else done.stdout


def content(url):
    return tool("read", url, "-o", "-", *(SRP if url.startswith("srp") else ()))


def copied(rig, a, b, way, *words, offset=0, length=SIZE, seek=0):
    """What the destination is afterwards, compared with what it was."""
    before = bytearray(content(b))
    before[seek:seek + length] = rig.data[offset:offset + length]
    told = json.loads(tool("copy", a, b, "--json", "--force", *words))
    check(told["bytes"] == length and told["way"] == way, f"{told}")
    check(content(b) == bytes(before), f"{words}: other bytes than the source's")


def the_target_copies_its_own(rig):
    copied(rig, rig.a.url(0), rig.a.url(1), ODX)
    tool("verify", rig.a.url(1), "--pattern", "5", "--force")
    copied(rig, rig.a.url(0), rig.a.url(1), "extended-copy", "--way", "extended-copy")
    tool("verify", rig.a.url(1), "--pattern", "5", "--force")
    copied(rig, rig.a.url(0), rig.a.url(1), "memory", "--way", "memory")


def a_token_crosses_targets_where_its_source_is_a_lun_of_both(rig):
    """Also from iSCSI to SRP."""
    tool("verify", rig.b.url(0), "--pattern", "5", "--force")
    copied(rig, rig.a.url(0), rig.b.url(0), ODX)
    copied(rig, rig.a.url(0), rig.srp.url(0), ODX, *SRP)


def a_refused_token_is_told_and_memory_continues(rig):
    tool("verify", rig.b.url(0), "--pattern", "5", "--force")
    command = [program("farblock-initiator"), "copy", rig.a.url(1), rig.b.url(0), "--force"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    check("copying by token (ODX) is refused: WRITE USING TOKEN: " in done.stderr and
          "through memory" in done.stdout, f"{done.stdout}{done.stderr}")
    check(content(rig.b.url(0)) == content(rig.a.url(1)), "other bytes than the source's")


def only_a_range_is_copied(rig):
    words = ("--offset", "1m", "--length", str(17 * MIB + 512), "--seek", "512")
    where = {"offset": MIB, "length": 17 * MIB + 512, "seek": 512}
    for to in (rig.a.url(1), rig.b.url(0)):
        tool("verify", to, "--pattern", "5", "--force")
    copied(rig, rig.a.url(0), rig.a.url(1), "extended-copy", "--way", "extended-copy", *words,
           **where)
    copied(rig, rig.a.url(0), rig.b.url(0), ODX, *words, **where)
    tool("verify", rig.b.url(0), "--pattern", "5", "--force")
    copied(rig, rig.a.url(0), rig.b.url(0), "memory", "--way", "memory", *words, **where)


def other_block_sizes_go_through_memory(rig):
    copied(rig, rig.a.url(0), rig.a.url(2), "memory")


def from_iscsi_to_srp(rig):
    memory = ("--way", "memory", *SRP)
    tool("verify", rig.srp.url(0), "--pattern", "5", "--force", *SRP)
    copied(rig, rig.a.url(0), rig.srp.url(0), "memory", *memory)
    copied(rig, rig.srp.url(0), rig.b.url(0), "memory", *memory)


def refusals_are_in_words(rig):
    for words, status, what in (
            ((rig.a.url(0), rig.a.url(0)), 2, "are the same disk"),
            ((rig.a.url(0), rig.a.url(0), "--length", "2m", "--seek", "1m"), 2, "overlap"),
            ((rig.a.url(0), rig.b.url(0), "--seek", "512"), 2, "too small"),
            ((rig.a.url(0), rig.b.url(0), "--way", "xcopy"), 2, "must be odx, extended-copy or"),
            ((rig.a.url(0), rig.a.url(2), "--way", "odx"), 1, "--way odx: not possible between"),
            ((rig.a.url(0), rig.b.url(0), "--way", "extended-copy"), 1, "not possible between"),
            ((rig.a.url(0), rig.a.url(2), "--offset", "512"), 2, "block size (4096)")):
        told = tool("copy", *words, status=status)
        check(what in told, f"{words}: no '{what}' in {told}")


def a_filesystem_is_kept(rig):
    run(["/usr/sbin/mkfs.ext4", "-q", "-L", "data", rig.image])
    tool("write", rig.b.url(0), "-i", rig.image, "--force")
    told = tool("copy", rig.a.url(0), rig.b.url(0), status=1)
    check("refusing to overwrite an ext4 filesystem labelled data" in told, told)
    tool("verify", rig.b.url(0), rig.image)


def the_same_disk_takes_two_ranges(rig):
    copied(rig, rig.a.url(0), rig.a.url(0), ODX, "--length", "4m", "--seek", "8m",
           length=4 * MIB, seek=8 * MIB)


def an_interrupt_says_how_far_it_came(rig):
    """Of 64 GiB of zeros: it does not end before the signal."""
    before = rig.daemon.moved(rig.large)[0]
    process = subprocess.Popen([program("farblock-initiator"), "copy", rig.a.url(3), rig.b.url(1)],
                               stderr=subprocess.PIPE, text=True)
    eventually("a write", lambda: process.poll() is not None or rig.daemon.moved(rig.large)[0] > before + MIB)
    ended = rig.daemon.log().count("session ended: logged out")
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=60)[1]
    check(process.returncode == 130, f"exit status {process.returncode}: {told}")
    check("copy: interrupted after " in told and f" of {64 << 30} bytes" in told, told)
    eventually("both logouts",
               lambda: rig.daemon.log().count("session ended: logged out") >= ended + 2)


class Rig:
    def __init__(self, scratch):
        self.config = config = Config()
        disks = [config.ramdisk(f"rd{i}", SIZE) for i in range(4)]
        wide = config.ramdisk("wide", SIZE, {"block_size": 4096})
        self.large = config.ramdisk("large1", 64 << 30)
        self.a = config.target([disks[0], disks[1], wide, config.ramdisk("large0", 64 << 30)])
        self.b = config.target([disks[2], self.large, disks[0]])
        self.srp = config.srp_target([disks[3], disks[0]])
        self.data = random.Random(7).randbytes(SIZE)
        self.source = scratch.file("source", content=self.data)
        self.image = scratch.file("fs.img", size=8 * MIB)


def test():
    with Scratch() as scratch:
        rig = Rig(scratch)
        with Farblockd(scratch, rig.config) as rig.daemon:
            tool("write", rig.a.url(0), "-i", rig.source)
            # First: the daemon's log has no more than some lines of a kind in a time.
            for case in (an_interrupt_says_how_far_it_came, the_target_copies_its_own,
                         a_token_crosses_targets_where_its_source_is_a_lun_of_both,
                         a_refused_token_is_told_and_memory_continues,
                         only_a_range_is_copied, other_block_sizes_go_through_memory,
                         from_iscsi_to_srp, refusals_are_in_words, a_filesystem_is_kept,
                         the_same_disk_takes_two_ranges):
                case(rig)


main(test)
