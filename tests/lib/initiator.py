# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator as a program: started, and run to its end."""

import subprocess

from farblock import Failure, program

# Of commands; and what each size writes, at least three of them.
SIZES = (("512", "2M"), ("1k", "2M"), ("4k", "2M"), ("8k", "2M"), ("8704", "2176k"), ("64k", "8M"),
         ("128k", "16M"), ("1m", "48M"), ("4m", "48M"), ("16m", "48M"))


def start(*arguments, **options):
    """options: those of subprocess.Popen."""
    return subprocess.Popen([program("farblock-initiator"), *arguments], text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **options)


def end(process, status=0, timeout=240):
    """Waits for its end with this exit status; returns what it printed, if that is not 0 on
    standard error."""
    command = " ".join(process.args[1:])
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise Failure(f"{command}: no end after {timeout} s: {err}") from None
    if process.returncode != status:
        raise Failure(f"farblock-initiator {command}: exit status {process.returncode}, not "
                      f"{status}: {err.strip() or out.strip()}")
    return err if status else out


def verify_all_sizes(where, *more):
    """Writes with commands of each size, and reads it all back."""
    for i, (size, length) in enumerate(SIZES):
        common = ("verify", where, "--pattern", str(i), "--length", length, *more)
        end(start(*common, "--bs", size))
        end(start(*common, "--check-only"))
    print(f"{where} {more}: commands of {SIZES[0][0]} to {SIZES[-1][0]}: every byte equal", flush=True)
