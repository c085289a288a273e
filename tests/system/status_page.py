#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The status page in a browser: its script runs under its own policy, asks for what it shows, and
shows what initiators call themselves as text and never as markup; on a narrow screen the tree has as
many columns as fit, and each value says what it is."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from farblock import Config, Farblockd, Process, Scratch, check, eventually  # noqa: E402

INITIATOR = "iqn.2025-01.org.example:browser"


def dom(scratch, url, width=1280):
    """What the page has become after some seconds of the browser's own time."""
    return farblock.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         f"--user-data-dir={scratch.file('profile')}", "--virtual-time-budget=4000", "--dump-dom",
         f"--window-size={width},1600", url], timeout=100, env={**os.environ, "HOME": scratch.path}).stdout


def main():
    farblock.program("chromium")
    with Scratch() as scratch:
        config = Config()
        target = config.target([config.ramdisk("<b>bold", 16 << 20)])
        daemon = Farblockd(scratch, config)
        daemon.metrics = f"127.0.0.1:{farblock.free_port()}"
        with daemon:
            load = Process(scratch, "load")
            load.spawn(["farblock-initiator", "bench", target.url(), "--initiator-name", INITIATOR,
                        "--time", "600", "--depth", "1"])
            try:
                eventually("a session", lambda: daemon.rpc("session.list"))
                page = dom(scratch, f"http://{daemon.metrics}/")
                narrow = dom(scratch, f"http://{daemon.metrics}/", 500)
            finally:
                load.kill()
            check("live, " in page, f"the script did not run: {page[-3000:]}")
            check(INITIATOR in page and target.iqn in page, "no session, or no tree")
            check("ramdisk/&lt;b&gt;bold" in page, "the disk's name is not there as text")
            dots = [max(map(len, re.findall(r"\.{4,}", p))) for p in (page, narrow)]
            check(dots[1] < 70 < dots[0], f"the tree is as wide as {dots} dots")
            check(all(f'data-head="{head}"' in narrow for head in ("initiator", "p99", "errors")),
                  "values of a narrow screen do not say what they are")
            check("<b>bold" not in page, "a name has become markup")


if __name__ == "__main__":
    farblock.main(main)
