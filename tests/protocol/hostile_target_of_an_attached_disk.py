#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator attach against a disk that lies in what it says of itself: what no disk says
is refused in words, and a path whose state is not reported is attached as such."""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Failure, Scratch, check, main, run  # noqa: E402
from hostile_target import (CAPACITY_10, CAPACITY_16, CRASHES, INQUIRY, MODE_SENSE_6,  # noqa: E402
                            PORT_GROUPS, RETRIES, WRITE_10, WRITE_16, Target, both, refuses,
                            refuses_page, says, to)
import iscsi_raw as raw  # noqa: E402

STANDARD = bytes((0, 0, 6, 2, 31, 0x10, 0, 2)) + b"EXAMPLE HOSTILE TARGET  1   "
GROUP_7 = (b"\0\x83\0\x14\1\3\0\x08" + bytes((0x60, 1, 2, 3, 4, 5, 6, 7))
           + b"\1\x15\0\4\0\0\0\7")


def groups(data):
    """The port belongs to group 7."""
    return both(says(INQUIRY, STANDARD), says(INQUIRY, GROUP_7, 0x83), says(PORT_GROUPS, data))


def group(state, number=7, ports=1, length=12):
    return groups(struct.pack(">IBBHBBBBI", length, state, 0, number, 0, 0, 0, ports, 1))


def page(code, length, body):
    return says(INQUIRY, struct.pack(">BBH", 0, code, length) + body, code)


def good(*opcodes):
    return to(opcodes, lambda itt: raw.Pdu(raw.RESPONSE, itt=itt))


# What the lie is, the lie, words of the refusal or None, access state of the path.
LIES = [
    ("nothing", None, None, ""),
    # INQUIRY and READ CAPACITY
    ("INQUIRY without data", good(INQUIRY), "INQUIRY: short answer: less than 32 bytes", ""),
    ("31 bytes of INQUIRY", says(INQUIRY, bytes(31)), "INQUIRY: short answer", ""),
    ("no such unit", says(INQUIRY, b"\x7f" + STANDARD[1:]), "LUN 0: no such LUN", ""),
    ("a tape drive", says(INQUIRY, b"\1" + STANDARD[1:]), "not a disk (device type 0x01)", ""),
    ("blocks of 520 bytes", says(CAPACITY_16, struct.pack(">QI20x", 7, 520)),
     "READ CAPACITY: unsupported block size: 520 bytes", ""),
    ("2^64 blocks", says(CAPACITY_16, struct.pack(">QI20x", (1 << 64) - 1, 512)),
     "READ CAPACITY: no number of blocks", ""),
    ("2^56 blocks", says(CAPACITY_16, struct.pack(">QI20x", (1 << 56) - 1, 512)),
     "READ CAPACITY: invalid number of blocks: 72057594037927936", ""),
    ("no READ CAPACITY(16), which (10) refers to",
     both(says(CAPACITY_10, struct.pack(">II", 0xffffffff, 512)), refuses(CAPACITY_16)),
     "READ CAPACITY: no number of blocks", ""),
    ("no capacity", good(CAPACITY_10, CAPACITY_16),
     "READ CAPACITY: unsupported block size: 0 bytes", ""),
    # Pages
    ("designators beyond their page", page(0x83, 0xffff, b"\1\3\0\xff\1\2\3\4"), None, ""),
    ("limits of all ones", page(0xb0, 60, b"\xff" * 60), None, ""),
    ("provisioning of all ones", page(0xb2, 0xffff, b"\xff" * 8), None, ""),
    ("pages of another code",
     both(*[says(INQUIRY, b"\0\x99\xff\xff" + bytes(56), code)
            for code in (0x80, 0x83, 0x86, 0xb0, 0xb1, 0xb2)]), None, ""),
    ("no page of provisioning, and no sense", refuses_page(0xb2), None, ""),
    ("mode data of all ones", says(MODE_SENSE_6, b"\xff" * 192), None, ""),
    ("mode data of 3 bytes", says(MODE_SENSE_6, b"\xff\0\0"), None, ""),
    # REPORT TARGET PORT GROUPS
    ("an honest group", group(1), None, "active/non-optimized"),
    ("no groups", groups(b""), None, "state not reported"),
    ("groups refused", both(groups(b""), refuses(PORT_GROUPS)), None, "state not reported"),
    ("a group that is missing", group(0, number=8), None, "state not reported"),
    ("a list of 4 GiB", group(1, length=0xffffffff), None, "active/non-optimized"),
    ("a list of 7 bytes", group(1, length=7), None, "state not reported"),
    ("255 ports", group(1, number=8, ports=255), None, "state not reported"),
    ("state 9", group(9), "access state: unknown state", ""),
    ("offline", group(14), "access state: offline", ""),
]


def fault_of(attachments, target, name, words, state):
    text = attachments.attach(target.url("read"), "--via", "socket", "--name", name,
                              "--no-path-retry", "fail", *RETRIES, status=None if words else 0)
    if words:
        is_attached = name in [one["name"] for one in attachments.list()]
        return None if words in text and not is_attached else f"not in these words: {words}: {text}"
    path = attachments.one(name)["paths"][0]
    attachments.detach(name)
    if any(word in attachments.log(name) for word in CRASHES):
        return f"a crash: {attachments.log(name)}"
    return None if (path["state"], path["alua"]) == ("up", state) else f"{path}"


def fault(attachments, number, row):
    what, lie, words, state = row
    target = Target(lie)
    try:
        why = fault_of(attachments, target, f"disk{number}", words, state)
    except Failure as failure:
        why = str(failure)
    finally:
        target.close()
    if not why and lie and not target.told:
        why = "the lie was never told"
    return why and f"{what}: {why}"


def a_write_that_was_never_asked_for_is_an_error(attachments):
    target = Target(good(WRITE_10, WRITE_16))
    url = attachments.attach(target.url("read"), "--via", "socket", "--name", "w", *RETRIES)
    done = run(["qemu-io", "-f", "raw", "-c", "write 0 4096", url], check=False)
    attachments.detach("w")
    target.close()
    check("Input/output error" in done.stdout, done.stdout)


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        # One after the other: their identity is the same, so that only one may be attached.
        found = [fault(attachments, number, row) for number, row in enumerate(LIES)]
        faults = [one for one in found if one]
        if faults:
            raise Failure(f"{len(faults)} of {len(LIES)} lies:\n" + "\n".join(faults))
        a_write_that_was_never_asked_for_is_an_error(attachments)


if __name__ == "__main__":
    main(test)
