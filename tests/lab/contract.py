#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The contract of RDMA providers (tests/rdma) over the kernel's software devices, in a guest.

    contract.py [DEVICE...]     rxe and siw, or those named; a line each and what failed

Called by contract.sh. FARBLOCK_LAB_CONNECTIONS: how many the case of many makes (100; the guest is
slow). Exit status 0: all passed, 1: not.
"""

import os
import re
import sys
import time

import farblock_path  # noqa: F401: makes tests/lib importable
import farblock
from guest import HANG, Guest, User

ADDRESS = User.guest.split("/", maxsplit=1)[0]
CONNECTIONS = os.environ.get("FARBLOCK_LAB_CONNECTIONS", "100")
MODULES = {"rxe": "rdma_rxe", "siw": "siw"}
ENVIRONMENT = "ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1"


def commands(device):
    """What makes the device come, its port go down and up, and the device go."""
    return {"find": f"rdma link add {device}0 type {device} netdev eth0",
            "down": "ip link set eth0 down", "up": "ip link set eth0 up",
            # It waits for the last program that uses it.
            "lose": f"rdma link del {device}0 &"}


def options(device, *names):
    return " ".join(f"--{name} '{commands(device)[name]}'" for name in names)


def one(scratch, device, program):
    """Returns whether it passed, and a text."""
    with Guest(scratch, name=f"guest-{device}", memory=2048, shares_host=True) as guest:
        # In this order: removal is told to rdma_cm before uverbs waits for programs to end.
        status, output = guest.ask(f"modprobe -a {MODULES[device]} rdma_ucm")
        if status:
            return False, f"no such device in the guest's kernel: {output.strip()}"
        run = f"{ENVIRONMENT} timeout {HANG} /host{program} verbs {ADDRESS}"
        status, output = guest.ask(f"{run} --connections {CONNECTIONS} "
                                   f"{options(device, 'find', 'lose')}", 2 * HANG)
        guest.run(f"while rdma link show {device}0; do sleep 0.2; done 2>/dev/null >&2")
        guest.run(commands(device)["find"])
        again, more = guest.ask(f"{run} {options(device, 'down', 'up')} 'a_port*'", 2 * HANG)
    status, output = status or again, output + more
    count = len(re.findall(r"^\[ +OK \]", output, re.M))
    skipped = sorted(set(re.findall(r"^\[ +SKIPPED \] ([a-z]\w+)", output, re.M)))
    skipped = [name for name in skipped if f"[       OK ] {name}" not in output]
    text = f"{count} passed, {len(skipped)} not applicable"
    if skipped:
        text += f" ({', '.join(skipped)})"
    if status:
        text += "\n" + "\n".join(line for line in output.splitlines()
                                if not re.match(r"\[ (RUN|      OK)", line))[-3000:]
    return status == 0, text


def main():
    names = sys.argv[1:] or list(MODULES)
    unknown = [name for name in names if name not in MODULES]
    if unknown:
        print(f"contract.py: no device '{unknown[0]}' ({', '.join(MODULES)})", file=sys.stderr)
        return 2
    program = os.path.join(farblock.BUILD, "tests", "rdma", "rdma_contract")
    if not os.path.exists(program):
        print(f"contract.py: {program} is not built", file=sys.stderr)
        return 77
    failed = 0
    with farblock.Scratch() as scratch:
        for name in names:
            start = time.monotonic()
            is_fine, text = one(scratch, name, program)
            failed += not is_fine
            print(f"rdma contract over {name}: {'passed' if is_fine else 'failed'} "
                  f"({time.monotonic() - start:.0f} s): {text}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    farblock.main(main)
