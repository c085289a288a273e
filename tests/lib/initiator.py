# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator as a program: started, and run to its end."""

import subprocess

from farblock import Failure, program


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
