# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator in the scenarios of LIO: on this machine, over software iWARP, or in the guest,
over libibverbs. The guest has this machine's files under /host, read only."""

import os
import shlex
import subprocess

from farblock import Failure, program, run
from guest import HANG
from kernel import wait_until
from place import sha256_of

# SRP ports: two, as a second login of a port ends the first.
INITIATOR_PORTS = ("0000000000000001:fa4b10c600000001", "0000000000000002:fa4b10c600000001")
NAME = "iqn.2025-01.org.farblock.lab:tool"


def named(words, port):
    """words, with the option that names the initiator for the URL among them."""
    is_srp = any(word.startswith("srp://") for word in words)
    option = ("--initiator-port", INITIATOR_PORTS[port]) if is_srp else ("--initiator-name", NAME)
    return [words[0], *option, *words[1:]]


def checked(words, status, wanted, output):
    if status != wanted:
        raise Failure(f"farblock-initiator {' '.join(words)}: exit status {status}, not {wanted}: "
                      f"{output.strip()[-1500:]}")
    return output


class Process:
    """A farblock-initiator that runs on this machine."""

    def __init__(self, words):
        self.words = words
        self.process = subprocess.Popen([program("farblock-initiator"), *words], text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)

    def is_over(self):
        return self.process.poll() is not None

    def abandon(self):
        self.process.kill()
        self.process.communicate()

    def end(self, status=0):
        """Waits for its end; returns what it printed."""
        try:
            output = self.process.communicate(timeout=HANG)[0]
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failure(f"farblock-initiator: no end within {HANG} s: "
                          f"{self.process.communicate()[0][-1000:]}") from None
        return checked(self.words, self.process.returncode, status, output)


class Tool:
    """On this machine."""

    name, provider = "iwarp", "iwarp"

    def __init__(self, lab):
        self.lab = lab
        self.back = lab.scratch.file("back")  # where reads go to

    def words(self, words, port=0):
        return [*named(words, port), "--provider", self.provider]

    def source(self, name):
        """The tool's name of a file in the scratch folder."""
        return self.lab.scratch.file(name)

    def run(self, *words, status=0, secrets=None):
        """farblock-initiator; its exit status has to be this one. Returns what it printed."""
        done = run(["farblock-initiator", *self.words(words)], HANG, check=False,
                   env={**os.environ, **(secrets or {})})
        return checked(words, done.returncode, status, done.stdout)

    def begin(self, *words, port=0):
        return Process(self.words(words, port))

    def sum_back(self, length):
        return sha256_of(self.back, length)

    def shell(self, script):
        """Where the files that were read are; has to succeed."""
        return run(["bash", "-c", f"PATH=$PATH:/usr/sbin:/sbin; {script}"]).stdout


class Background:
    """A farblock-initiator that runs in the guest."""

    def __init__(self, side, words, port):
        self.guest, self.words = side.lab.guest, words
        side.count += 1
        self.at = f"/run/tool{side.count}"
        self.guest.run(f"""
            rm -f {self.at}.status
            ({side.command(words, port=port)} >{self.at}.log 2>&1; echo $? >{self.at}.status) \
                >/dev/null 2>&1 </dev/null &""")

    def is_over(self):
        return self.guest.ask(f"[ -s {self.at}.status ]")[0] == 0

    def abandon(self):
        pass  # it goes with the guest

    def end(self, status=0):
        wait_until(self.is_over, f"farblock-initiator {' '.join(self.words)} ends")
        told, output = self.guest.ask(f"cat {self.at}.log; exit $(cat {self.at}.status)")
        return checked(self.words, told, status, output)


class GuestTool:
    """In the guest, over its kernel's device."""

    provider, back, program = "verbs", "/tmp/back", "/tmp/farblock-initiator"

    def __init__(self, lab):
        self.lab, self.name, self.count = lab, f"{lab.device}0", 0
        # A copy, as a program on the shared files would wait for them now and then.
        path = os.path.realpath(program("farblock-initiator"))
        lab.guest.run(f"[ -e {self.program} ] || cp /host{path} {self.program}")

    def source(self, name):
        return "/host" + self.lab.scratch.file(name)

    def command(self, words, secrets=None, port=0):
        names = [f"{key}={value}" for key, value in (secrets or {}).items()]
        provider = ["--provider", self.provider] if self.lab.device else []
        return shlex.join(["env", *names, self.program, *named(words, port), *provider])

    def run(self, *words, status=0, secrets=None):
        told, output = self.lab.guest.ask(self.command(words, secrets))
        return checked(words, told, status, output)

    def begin(self, *words, port=0):
        return Background(self, words, port)

    def sum_back(self, length):
        return self.shell(f"head -c {length} {self.back} | sha256sum").split()[0]

    def shell(self, script):
        return self.lab.guest.run(script)
