#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The status page in a browser: its script runs under its own policy, shows what initiators call
themselves as text, what is not served and why, and the rates from before it was opened; on a phone
it is as wide as the screen and breaks no word of the tree."""

import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from browser import Browser  # noqa: E402
from farblock import Config, Farblockd, Process, Scratch, check, eventually, free_port, run  # noqa: E402

INITIATOR = "iqn.2025-01.org.example:browser"
NOBODY = "iqn.2025-01.org.example:without-secret"
AWAY = "192.0.2.77"  # TEST-NET-1: no machine has it

# Rows of the tree with a word on two lines, or with a line left of their name.
BROKEN_ROWS = """[...document.querySelectorAll("#tree b")].filter(name => {
    const left = name.getBoundingClientRect().left, summary = name.nextElementSibling?.nextElementSibling;
    const isBroken = part => {
        const walk = document.createTreeWalker(part, NodeFilter.SHOW_TEXT), r = document.createRange();
        while (walk.nextNode())
            for (const m of walk.currentNode.data.matchAll(/[A-Za-z0-9]+/g)) {
                r.setStart(walk.currentNode, m.index);
                r.setEnd(walk.currentNode, m.index + m[0].length);
                const boxes = [...r.getClientRects()];
                if (boxes.some(b => b.top !== boxes[0].top || b.left < left - 4)) return true;
            }
        return false;
    };
    return isBroken(name) || summary && isBroken(summary);
}).map(name => name.textContent)"""
WIDER_THAN_SCREEN = """[...document.querySelectorAll("body *")].filter(e =>
    e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + " " + e.textContent.slice(0, 40))"""


def text(browser, where):
    return browser.ask(f"document.querySelector('{where}')?.textContent ?? ''")


def show(browser, daemon, width):
    browser.open(f"http://{daemon.metrics}/", width, 844)
    browser.until("the first drawing", "/^live/.test(document.getElementById('state').textContent)")


def names_are_text(browser, target):
    check(INITIATOR in text(browser, "#session-table") and target.iqn in text(browser, "#tree"),
          "no session, or no tree")
    check("ramdisk/<b>bold" in text(browser, "#disk-table"), "the disk's name is not there as text")
    check("<b>bold" not in browser.ask("document.body.innerHTML"), "a name has become markup")


def a_phone_shows_it_whole(browser):
    width = browser.ask("[document.documentElement.scrollWidth, innerWidth]")
    check(width[0] <= width[1] == 390, f"{width[0]} of {width[1]} pixels")
    wide = browser.ask(WIDER_THAN_SCREEN)
    check(not wide, f"wider than the screen: {wide[:5]}")
    rows = browser.ask(BROKEN_ROWS)
    check(not rows, f"rows of the tree in pieces: {rows[:5]}")
    heads = browser.ask("[...document.querySelectorAll('td')].map(e => e.dataset.head)")
    check({"initiator", "p99", "errors"} <= set(heads), f"values without what they are: {heads}")


def health_tells_what_is_not_served(browser):
    check(text(browser, "h1") == socket.gethostname(), "no host name")
    title, rows = text(browser, "#health-title"), text(browser, "#health-list")
    for part in ("1 disk needs attention", "2 portals waiting", "1 ACL without credentials",
                 "1 initiator refused in the last 10 minutes"):
        check(part in title, f"{part}: not in {title!r}")
    for part in ("fileio/gone", "No such file", f"{AWAY}:3260", NOBODY, f"{AWAY}:3261", "SRP target", "disabled", INITIATOR + "x"):
        check(part in rows, f"{part}: not in {rows!r}")
    disks = text(browser, "#disk-table")
    check("fileio/gone" in disks and "No such file" in disks, f"a waiting disk is not in {disks!r}")


def broken_config(scratch):
    config = Config()
    target = config.target([config.ramdisk("<b>bold", 16 << 20)])
    config.fileio("gone", scratch.file("gone.img"), 8 << 20)
    os.unlink(scratch.file("gone.img"))
    closed = config.target([], attributes={"authentication": 1, "generate_node_acls": 0})
    group = config.targets[1]["tpgs"][0]
    group["portals"].append({"ip_address": AWAY, "port": 3260, "iser": False, "offload": False})
    group["node_acls"].append({"node_wwn": NOBODY, "attributes": {}, "mapped_luns": []})
    for enable, digit in ((True, "1"), (False, "2")):
        config.targets.append({"fabric": "srpt", "wwn": "ib." + 32 * digit, "tpgs": [
            {"tag": 1, "enable": enable, "srp_portals": [{"ip_address": AWAY, "port": 3261}]}]})
    return config, target, closed


def shows_a_daemon_in_trouble(scratch, browser):
    config, target, closed = broken_config(scratch)
    daemon = Farblockd(scratch, config)
    daemon.metrics = f"127.0.0.1:{free_port()}"
    with daemon:
        load = Process(scratch, "load")
        load.spawn(["farblock-initiator", "bench", target.url(), "--initiator-name", INITIATOR,
                    "--time", "600", "--depth", "1"])
        try:
            eventually("a session", lambda: daemon.rpc("session.list"))
            run(["farblock-initiator", "luns", closed.url(), "--initiator-name", INITIATOR + "x"],
                check=False)
            show(browser, daemon, 1280)
            names_are_text(browser, target)
            health_tells_what_is_not_served(browser)
            show(browser, daemon, 390)
            a_phone_shows_it_whole(browser)
        finally:
            load.kill()


def the_graph_begins_before_the_page(scratch, browser):
    """All is read before anybody looks; the page alone would never see it."""
    config = Config()
    target = config.target([config.ramdisk("rd0", 16 << 20)])
    daemon = Farblockd(scratch, config, "second")
    daemon.metrics = f"127.0.0.1:{free_port()}"
    with daemon:
        run(["farblock-initiator", "bench", target.url(), "--time", "1"])
        check(daemon.moved("/backstores/ramdisk/rd0")[1] > 0, "nothing was read")
        show(browser, daemon, 1280)
        check(text(browser, "#health-title") == "All services available", text(browser, "#health-title"))
        path = "document.querySelector('#throughput path.a')?.getAttribute('d') ?? ''"
        browser.until("what was read before", f"/ (?!99)[0-9.]+[Lh]/.test({path})")


def main():
    with Scratch() as scratch, Browser(scratch) as browser:
        shows_a_daemon_in_trouble(scratch, browser)
        the_graph_begins_before_the_page(scratch, browser)


if __name__ == "__main__":
    farblock.main(main)
