#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A READ at which an iSCSI target closes the connection and an SRP target the channel, each time,
ends with an error after eight tries, between which the waits grow; not where requests wait without
end."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import Scratch, check, eventually, main  # noqa: E402
from unsteady_target import Unsteady, UnsteadySrp  # noqa: E402

TRIES = 8


def begin(attachments, target, name, retry="3600"):
    url = attachments.attach(target.url("read"), "--via", "socket", "--name", name, "--read-only",
                             "--no-path-retry", retry, *target.options)
    return subprocess.Popen(["qemu-io", "-r", "-f", "raw", "-c", "read 0 512", url],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def ends(target, client):
    eventually("the end of the read",
               lambda: client.poll() is not None or target.reads > 2 * TRIES)
    client.kill()
    told = client.communicate()[0]
    check("Input/output error" in told, f"{target.reads} tries, and no error: {told}")
    check(target.reads == TRIES, f"{target.reads} tries")


def goes_on(target, client):
    eventually("more tries", lambda: target.reads > TRIES)
    check(client.poll() is None, "the read has ended")
    client.kill()
    client.communicate()


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        targets = [(Unsteady(logouts=False), "iscsi"), (UnsteadySrp(), "srp")]
        clients = [begin(attachments, target, name) for target, name in targets]
        waits = Unsteady(logouts=False)
        client = begin(attachments, waits, "waits", "queue")
        for (target, _), reader in zip(targets, clients):
            ends(target, reader)
            target.close()
        goes_on(waits, client)
        waits.close()


if __name__ == "__main__":
    main(test)
