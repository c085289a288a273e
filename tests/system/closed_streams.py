#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs whose standard input, output or error is closed, as cron and careless scripts start
them: what they print goes into none of their own files or sockets, and its loss is a failure."""

import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from farblock import check  # noqa: E402

CLOSES = 'exec "$@" <&- >&- 2>&-'


def closed(redirection, command):
    """The exit status of a program with streams closed."""
    return subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", *command],
                          stderr=subprocess.DEVNULL, timeout=60).returncode


def shell_says_nothing_to_the_daemon(daemon):
    shell = [farblock.program("farblock"), "--socket", daemon.socket_path]
    for words in (["ls"], ["--json", "ls"], ["version"], ["get", "global"], ["stats"]):
        status = closed(">&-", [*shell, *words])
        check(status == 1, f"{words}: what it printed was lost, and its exit status is {status}")
    status = closed("<&-", shell)
    check(status == 1, f"a batch that cannot be read ends with {status}")


def initiator_fails_where_nothing_can_be_told(target):
    tool = [farblock.program("farblock-initiator"), "luns",
            f"iscsi://127.0.0.1:{target.port}/{target.iqn}"]
    status = closed(">&-", tool)
    check(status == 1, f"farblock-initiator luns: exit status {status}")


def initiator_is_silent_where_its_reader_has_left(target):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([farblock.program("farblock-initiator"), "luns",
                           f"iscsi://127.0.0.1:{target.port}/{target.iqn}"], stdout=writer,
                          stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(writer)
    check(done.returncode == -signal.SIGPIPE and not done.stderr,
          f"farblock-initiator luns | head -0: exit status {done.returncode}: {done.stderr}")


def daemon_has_no_file_there(scratch, config):
    daemon = farblock.Farblockd(scratch, config, "silent")
    daemon.spawn(["sh", "-c", CLOSES, "sh", farblock.program("farblockd"), "--config",
                  daemon.config_path, "--state-dir", daemon.state_path, "--socket",
                  daemon.socket_path, "--metrics", "off", "--workers", "1"])
    try:
        daemon.wait_connect(daemon.socket_path)
        streams = [os.readlink(f"/proc/{daemon.pid}/fd/{fd}") for fd in range(3)]
        check(streams == ["/dev/null"] * 3, f"its standard streams are {streams}")
    finally:
        daemon.kill()


def main():
    with farblock.Scratch() as scratch:
        config = farblock.Config()
        target = config.target([config.ramdisk("rd0", 4 << 20)])
        with farblock.Farblockd(scratch, config) as daemon:
            shell_says_nothing_to_the_daemon(daemon)
            initiator_fails_where_nothing_can_be_told(target)
            initiator_is_silent_where_its_reader_has_left(target)
        daemon_has_no_file_there(scratch, farblock.Config())
    return 0


if __name__ == "__main__":
    farblock.main(main)
