# SPDX-License-Identifier: BSD-2-Clause
"""Attachments of farblock-initiator, in a run directory of the test's."""

import contextlib
import glob
import json
import os
import signal
import subprocess

import farblock


class Attachments:
    """attach, detach and attached; what is left at the end is detached by force. No log of a process
    that held a disk may have a sanitizer's word."""

    def __init__(self, scratch):
        self.run_dir = scratch.file("run")

    def command(self, *words, status=0):
        """Runs a command; returns what it printed, on both streams."""
        place = () if words[0] == "discover" else ("--run-dir", self.run_dir)
        done = farblock.run([farblock.program("farblock-initiator"), *words, *place], check=False)
        farblock.check(status is None or done.returncode == status,
                       f"{words}: {done.returncode}, not {status}: {done.stdout}")
        return done.stdout

    def attach(self, *words, status=0):
        return self.command("attach", *words, status=status).strip()

    def detach(self, *words, status=0):
        return self.command("detach", *words, status=status)

    def list(self):
        return json.loads(self.command("attached", "--json"))

    def one(self, name):
        return next(a for a in self.list() if a["name"] == name)

    def client(self, name):
        """qemu-io, connected to the export of --via socket; it waits for commands."""
        client = subprocess.Popen(["qemu-io", "-f", "raw", self.one(name)["device"]],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
        client.stdout.read(1)  # its prompt
        return client

    @contextlib.contextmanager
    def stopped(self, name):
        """Its process does nothing meanwhile, such as making a file again that is removed."""
        pid = self.one(name)["pid"]
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def log(self, name):
        with open(f"{self.run_dir}/{name}.log", encoding="utf-8") as f:
            return f.read()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        farblock.run([farblock.program("farblock-initiator"), "detach", "--all", "--force",
                      "--run-dir", self.run_dir], check=False)
        for path in glob.glob(f"{self.run_dir}/*.log") if kind is None else ():
            with open(path, encoding="utf-8", errors="replace") as f:
                log = f.read()
            found = farblock.SANITIZER.search(log)
            farblock.check(not found, found and log[found.start():][:8000])


class Portals:
    """Storage objects as LUNs of an iSCSI and an SRP target of config: what attaches one over a
    transport."""

    SCHEMES = {"tcp": "iscsi", "iser": "iser"}

    def __init__(self, config, luns):
        self.iscsi, self.srp = config.target(luns), config.srp_target(luns)

    def url(self, transport, lun=0):
        if transport == "srp":
            return self.srp.url(lun)
        return self.iscsi.url(lun).replace("iscsi://", f"{self.SCHEMES[transport]}://")

    def words(self, *transports, lun=0):
        """URLs for each transport, and the options that they need."""
        port = farblock.SRP_INITIATOR[3:]
        own = ["--initiator-port", f"{port[:16]}:{port[16:]}"] if "srp" in transports else []
        return [*(self.url(transport, lun) for transport in transports), *own]
