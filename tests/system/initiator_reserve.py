#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator reserve: registrations and reservations last over its runs, keep others out,
and are reported as they are, over iSCSI and SRP."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import (SRP_INITIATOR, Config, Farblockd, Scratch, check,  # noqa: E402
                      main, program)

OTHER = ("--initiator-name", "iqn.2025-01.org.farblock:other")


def tool(*words, status=0):
    done = subprocess.run([program("farblock-initiator"), *words], timeout=120, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    check(done.returncode == status, f"{words}: exit status {done.returncode}: {done.stderr}")
    return done.stderr if status else done.stdout


def reserve(url, action, *words, status=0):
    return tool("reserve", url, action, *words, status=status)


def report(url):
    return json.loads(reserve(url, "report", "--json"))


def says(text, *parts):
    for part in parts:
        check(part in text, f"no '{part}' in: {text}")


def a_reservation_is_made_and_released(url):
    says(reserve(url, "register", "--service-key", "0x11"), "Registrations: 1, before: 0")
    says(reserve(url, "reserve", "--key", "0x11", "--type", "wero"),
         "Reservation: write-exclusive-registrants-only, key 0x11, before: none")
    got = report(url)
    check(got["keys"] == ["0x11"], f"{got}")
    check(got["reservation"] == {"key": "0x11", "type": "write-exclusive-registrants-only"},
          f"{got}")
    check(len(got["registrations"]) == 1 and got["registrations"][0]["holder"], f"{got}")
    check("exclusive-access" in got["capabilities"]["types"], f"{got}")
    says(reserve(url, "release", "--key", "17", "--type", "5"), "Reservation: none, before: ")
    reserve(url, "register", "--key", "0x11", "--service-key", "0")
    check(report(url)["keys"] == [], "the key is still registered")


def a_wrong_key_is_refused_in_words(url):
    told = reserve(url, "reserve", "--key", "5", "--type", "1", status=1)
    says(told, "reserve: ", "RESERVATION CONFLICT", "(this initiator port has not registered that key")


def usage_is_checked_first(url):
    says(reserve(url, "seize", status=2), "must be report, register,")
    says(reserve(url, "reserve", "--key", "1", status=2), "missing --type TYPE")
    says(reserve(url, "clear", "--key", "1", "--type", "1", status=2), "--type has no effect")
    says(reserve(url, "reserve", "--key", "1", "--type", "2", status=2), "--type '2'")
    says(reserve(url, "report", "--isid", "xyz", status=2), "--isid 'xyz': must be 12 hex digits")


def another_initiator_is_kept_out_until_it_preempts(url):
    reserve(url, "register", "--service-key", "0x11")
    reserve(url, "reserve", "--key", "0x11", "--type", "write-exclusive")
    says(tool("verify", url, "--pattern", "1", *OTHER, status=1), "RESERVATION CONFLICT")
    reserve(url, "register-ignore", "--service-key", "0x22", *OTHER)
    says(reserve(url, "preempt", "--key", "0x22", "--service-key", "0x11", "--type", "we", *OTHER),
         "Registrations: 1, before: 2", "Reservation: write-exclusive, key 0x22, before: ")
    check(report(url)["registrations"][0]["initiator"].startswith(OTHER[1]), "not the other's")
    says(reserve(url, "clear", "--key", "0x22", *OTHER), "Registrations: 0, before: 1")


def with_its_isid_a_write_is_the_holders(url):
    isid = ("--isid", "80aabbccddee")
    reserve(url, "register", "--service-key", "3", *isid)
    reserve(url, "reserve", "--key", "3", "--type", "we", *isid)
    tool("verify", url, "--pattern", "1", "--length", "64k", *isid)
    says(tool("verify", url, "--pattern", "1", "--length", "64k", status=1), "CONFLICT")
    check("80aabbccddee" in report(url)["registrations"][0]["initiator"], "another ISID")
    reserve(url, "clear", "--key", "3", *isid)


def own_isid(url):
    """That of the commands that change something."""
    reserve(url, "register", "--service-key", "9")
    port = report(url)["registrations"][0]["initiator"]
    reserve(url, "clear", "--key", "9")
    return port[-12:]


def a_report_ends_no_session(url, attachments):
    """Not even one that has the same ISID as register. What was lost has logged in again before it
    reads."""
    isid = own_isid(url)
    attachments.attach(url, "--via", "socket", "--name", "disk", "--isid", isid)
    report(url)
    said = attachments.client("disk").communicate(b"read 0 4k\nquit\n")[0]
    check(b"read 4096/4096" in said, f"{said}")
    path = attachments.one("disk")["paths"][0]
    check((path["session"]["isid"], path["reconnects"]) == (isid, 0), f"{path}")
    attachments.detach("disk")


def over_srp_the_port_is_the_same_too(target):
    port = ("--initiator-port", f"{SRP_INITIATOR[3:19]}:{SRP_INITIATOR[19:]}", "--provider",
            "iwarp")
    reserve(target.url(), "register", "--service-key", "7", *port)
    says(reserve(target.url(), "clear", "--key", "7", *port), "Registrations: 0, before: 1")


def test():
    with Scratch() as scratch:
        config = Config()
        disk = config.ramdisk("rd0", 1 << 20)
        target, srp = config.target([disk]), config.srp_target([disk])
        with Farblockd(scratch, config):
            for case in (usage_is_checked_first, a_wrong_key_is_refused_in_words,
                         a_reservation_is_made_and_released,
                         another_initiator_is_kept_out_until_it_preempts,
                         with_its_isid_a_write_is_the_holders):
                case(target.url())
            over_srp_the_port_is_the_same_too(srp)
            with Attachments(scratch) as attachments:
                a_report_ends_no_session(target.url(), attachments)


main(test)
