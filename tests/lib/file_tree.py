# SPDX-License-Identifier: BSD-2-Clause
"""A tree of many small files, and a disk's target that is killed and started again while another
process copies or compares it. Never write to the disk from here: a process that waits for it in the
kernel cannot start its target."""

import os
import random
import subprocess
import time

from farblock import check, eventually, run

FOLDER_FILES, SIZES = 500, 12000  # files of a folder; bytes of a file, at most


class Tree:
    """count files of many sizes in folders below path; bytes is the sum of their sizes."""

    def __init__(self, path, count, seed=1):
        self.path, self.count, self.bytes = path, count, 0
        dice = random.Random(seed)
        content = dice.randbytes(1 << 20)
        for i in range(count):
            folder = os.path.join(path, f"d{i // FOLDER_FILES}")
            if i % FOLDER_FILES == 0:
                os.makedirs(folder)
            size, at = dice.randrange(SIZES), dice.randrange(len(content) - SIZES)
            with open(os.path.join(folder, f"f{i}"), "wb") as f:
                f.write(content[at:at + size])
            self.bytes += size


def copying(source, at):
    """A process that copies it, folder by folder to the disk."""
    script = 'cd "$0" && for d in *; do cp -a "$d" "$1" && sync -f "$1" || exit; done'
    return subprocess.Popen(["sh", "-c", script, source, at])


def comparing(source, at):
    return subprocess.Popen(["diff", "-r", "--exclude=lost+found", source, at])


def image(path, tree, size):
    """An image of an ext4 filesystem with the tree in it; needs no root."""
    with open(path, "wb") as f:
        f.truncate(size)
    run(["mkfs.ext4", "-q", "-F", "-N", str(2 * tree.count), "-d", tree.path, path])
    return path


def moved(status, way):
    """Bytes that all paths of an attachment have moved: way is "read" or "written"."""
    return sum(path[f"bytes_{way}"] for path in status["paths"])


class Restarts:
    """Kills the daemon of a disk and starts it again in the middle of what processes do."""

    def __init__(self, daemon, attachments, name="disk"):
        self.daemon, self.attachments, self.name = daemon, attachments, name

    def status(self):
        return self.attachments.one(self.name)

    def during(self, what, process, way, at):
        """Kills it once for each of at (bytes that have been moved since now), while the process
        runs; waits for its end, with status 0, and prints how long all that took."""
        begin, before, gaps = time.monotonic(), moved(self.status(), way), []
        for mark in at:
            eventually(f"{what}: {mark} bytes {way}", lambda m=mark: process.poll() is not None or
                       moved(self.status(), way) - before >= m, 600)
            check(process.poll() is None, f"{what}: over after {moved(self.status(), way) - before}"
                  f" bytes {way}, before the target was killed: status {process.poll()}")
            gaps.append(self.restart())
        check(process.wait(1200) == 0, f"{what}: status {process.returncode}")
        gone = ", ".join(f"{gap:.2f}" for gap in gaps)
        print(f"{what}: {time.monotonic() - begin:.1f} s, target killed {len(gaps)} times, "
              f"away for {gone} s", flush=True)

    def restart(self):
        """Returns for how many seconds the disk had no path."""
        self.daemon.kill()
        begin = time.monotonic()
        eventually("the loss", lambda: self.status()["state"] == "no-path")
        self.daemon.start()
        eventually("the disk's return", lambda: self.status()["state"] == "attached")
        return time.monotonic() - begin
