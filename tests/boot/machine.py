# SPDX-License-Identifier: BSD-2-Clause
"""A machine that boots from a LUN: QEMU without a disk, its console and what is seen on it."""

import glob
import json
import os
import re
import socket
import subprocess
import threading
import time

import farblock_path  # noqa: F401
from farblock import Failure, check, eventually, program

BOOT = os.environ.get("FARBLOCK_BOOT") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "farblock-boot")
INITIATOR = "iqn.2025-01.org.farblock:diskless"
# This machine's loopback, as QEMU's user network shows it.
HOST, HOST_6 = "10.0.2.2", "[fec0::2]"
# Seconds. What takes so long hangs: no verdict depends on it.
HANG = float(os.environ.get("FARBLOCK_BOOT_HANG", "900"))
# An emulated CPU translates code again for each address that it is run at, and takes many seconds to
# forget all that when its page is used for something else.
FIXED = "nokaslr norandmaps"
# No end of line follows. "login: " alone is also in messages.
PROMPT = re.compile(rb"(^|[\s;m])[a-z]+ login: $|\(initramfs\) ")
STATUS = re.compile(r"COMMAND-STATUS (\d+)")
ESCAPES = re.compile(r"\x1b[\[(][0-9;?]*[A-Za-z]|[\r\0]")


def clean(raw):
    return ESCAPES.sub("", raw.decode(errors="replace")).rstrip()


def root_image():
    return os.path.join(BOOT, "root.img")


class Machine:
    """One run. pair: KIND-KERNEL of prepare.sh. how: san (iPXE logs in, GRUB of the LUN loads the
    kernel), ipxe (iPXE logs in for its table and loads the kernel by TFTP), direct (QEMU loads the
    kernel), embedded (the same, with the words in the initramfs: dracut alone reads them there) or local
    (a disk of the machine's own, to compare with).

    is_unplugged: without a cable, until plug().

    firmware: the table that it leaves (ibft.py), for direct.

    events: pairs of a pattern on the console and what to call then, once each, in their order."""

    def __init__(self, scratch, pair="initrd-6.12", how="direct", words="", command=None, ipxe="",
                 disk=None, events=(), network="user,id=n0", is_unplugged=False, firmware=None,
                 name="machine"):
        self.scratch, self.pair, self.how, self.words = scratch, pair, how, words
        self.command, self.ipxe, self.disk = command, ipxe, disk
        self.events, self.network, self.is_unplugged = list(events), network, is_unplugged
        self.firmware, self.name, self.lines, self.begun = firmware, name, [], None
        self.changed, self.qemu, self.reader = threading.Condition(), None, None
        self.echo = os.environ.get("FARBLOCK_BOOT_ECHO") == "1"

    # ---- QEMU's command line ----

    @staticmethod
    def kernel_words(more):
        return f"root=LABEL=farroot ro console=ttyS0 net.ifnames=0 {FIXED} {more}".strip()

    def tftp(self):
        """A folder with iPXE's script and, for ipxe, the kernel."""
        folder = self.scratch.file(f"{self.name}-tftp")
        os.makedirs(folder, exist_ok=True)
        script = "#!ipxe\n" + self.ipxe
        if self.how == "ipxe":
            kernel, kind = f"vmlinuz-{self.pair.split('-')[1]}", self.pair
            for file in (kernel, kind):
                os.symlink(os.path.join(BOOT, file), os.path.join(folder, file))
            script += (f"kernel {kernel} {self.kernel_words(self.words)} initrd={kind}\ninitrd {kind}\n"
                       "boot\n")
        with open(os.path.join(folder, "boot.ipxe"), "w", encoding="ascii") as out:
            out.write(script)
        return folder

    def initramfs_with_words(self):
        """A copy with a file of /etc/cmdline.d: the kernel unpacks all archives of an initramfs."""
        folder = self.scratch.file(f"{self.name}-embedded")
        os.makedirs(f"{folder}/etc/cmdline.d")
        with open(f"{folder}/etc/cmdline.d/90words.conf", "w", encoding="ascii") as out:
            out.write(f"{self.words}\n")
        more = subprocess.run([program("cpio"), "-o", "-H", "newc", "--quiet"], cwd=folder, check=True,
                              input=b"etc/cmdline.d\netc/cmdline.d/90words.conf\n",
                              stdout=subprocess.PIPE).stdout
        with open(os.path.join(BOOT, self.pair), "rb") as made:
            first = made.read()
        return self.scratch.file(f"{self.name}-initramfs", content=first + bytes(-len(first) % 4) + more)

    def boot_options(self):
        network = self.network
        if self.how in ("direct", "embedded"):
            kernel = os.path.join(BOOT, f"vmlinuz-{self.pair.split('-')[1]}")
            is_direct = self.how == "direct"
            options = ["-kernel", kernel, "-initrd",
                       os.path.join(BOOT, self.pair) if is_direct else self.initramfs_with_words(),
                       "-append", self.kernel_words(self.words if is_direct else "")]
            if self.firmware:
                path = self.scratch.file(f"{self.name}-ibft", content=self.firmware)
                options += ["-acpitable", f"sig=iBFT,rev=1,data={path}"]
        else:
            words = f"{FIXED} {self.words}".replace(",", ",,")
            options = ["-smbios", f"type=1,product={self.pair},serial={words}"]
            if self.how == "local":
                options += ["-drive", f"file={self.disk},if=virtio,format=raw,cache=none"]
            else:
                options += ["-boot", "n"]
                if self.ipxe:  # else a DHCP server has what firmware needs
                    network += f",tftp={self.tftp()},bootfile=boot.ipxe"
        return [*options, "-netdev", network]

    def qemu_command(self):
        # One CPU without erms: with two, a guest was seen to crawl in clear_page_erms for 45 s.
        command = [program("qemu-system-x86_64"), "-machine", "pc,graphics=off", "-accel",
                   "tcg,thread=multi", "-cpu", "max,erms=off", "-smp", "1", "-m", "1536M",
                   "-display", "none", "-vga", "none", "-monitor", "none", "-serial", "stdio",
                   "-no-reboot", "-device", "virtio-rng-pci", *self.boot_options(), "-device",
                   "virtio-net-pci,netdev=n0,id=nic0"]
        if self.is_unplugged:  # it waits for plug(False) before its first instruction
            command += ["-S", "-qmp", f"unix:{self.qmp_path()},server=on,wait=off"]
        if self.command:
            path = self.scratch.file(f"{self.name}-command", content=self.command)
            command += ["-fw_cfg", f"name=opt/boot/command,file={path}"]
        return command

    # ---- the cable ----

    def qmp_path(self):
        return self.scratch.file(f"{self.name}.qmp")

    def plug(self, is_up=True):
        """Puts the cable in, or takes it out, of a machine that began without one."""
        with socket.socket(socket.AF_UNIX) as monitor:
            eventually("QEMU's monitor", lambda: not monitor.connect_ex(self.qmp_path()))
            with monitor.makefile("rw") as lines:
                for order in ({"execute": "qmp_capabilities"},
                              {"execute": "set_link", "arguments": {"name": "nic0", "up": is_up}},
                              {"execute": "cont"}):
                    lines.write(json.dumps(order) + "\n")
                    lines.flush()
                    answer = {}
                    while not {"return", "error"} & set(answer):
                        answer = json.loads(lines.readline())
                    check("return" in answer, f"{order}: {answer}")

    # ---- the console ----

    def __enter__(self):
        self.begun = time.monotonic()
        self.qemu = subprocess.Popen(self.qemu_command(), stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        if self.is_unplugged:
            self.plug(False)
        return self

    def __exit__(self, *_):
        if self.qemu.poll() is None:
            self.qemu.kill()
        self.qemu.wait()
        self.reader.join()

    def read(self):
        rest = b""
        while data := os.read(self.qemu.stdout.fileno(), 65536):
            *lines, rest = (rest + data).split(b"\n")
            if PROMPT.search(rest):
                lines.append(rest)
                rest = b""
            for line in lines:
                self.see(clean(line))
        with self.changed:
            self.changed.notify_all()

    def see(self, line):
        if not line:
            return
        if self.echo:
            print(f"{self.name} {time.monotonic() - self.begun:7.1f} {line}", flush=True)
        with self.changed:
            self.lines.append((time.monotonic() - self.begun, line))
            self.changed.notify_all()

    def attend(self):
        """Calls what the events ask for, in the thread that waits: a process that it starts ends
        with that thread."""
        while self.events and self.has(self.events[0][0]):
            _, call = self.events.pop(0)
            call()

    def text(self):
        with self.changed:
            return "\n".join(f"{at:7.1f} {line}" for at, line in self.lines)

    def fail(self, why):
        raise Failure(f"{self.name}: {why}; its console:\n{self.text()[-6000:]}")

    def wait_for(self, pattern, timeout=HANG):
        """Until a line of the console matches; returns its time in seconds since power-on."""
        until, index = time.monotonic() + timeout, 0
        with self.changed:
            while True:
                for at, line in self.lines[index:]:
                    if re.search(pattern, line):
                        return at
                index = len(self.lines)
                if self.qemu.poll() is not None and not self.reader.is_alive():
                    break
                if time.monotonic() > until:
                    break
                self.changed.wait(1)
        return self.fail(f"no {pattern!r} on the console in {timeout:.0f} s")

    def wait_end(self, timeout=HANG):
        """Until the machine has powered itself off."""
        until = time.monotonic() + timeout
        while self.reader.is_alive():
            self.attend()
            with self.changed:
                self.changed.wait(1)
            if time.monotonic() > until:
                self.fail(f"has not powered off after {timeout:.0f} s")
        self.qemu.wait()
        check(not self.events, f"{self.name}: never seen: {[text for text, _ in self.events]}")

    def command_status(self):
        """Of the command that it ran, from the console of a machine that has ended."""
        for _, line in self.lines:
            found = STATUS.search(line)
            if found:
                return int(found[1])
        return self.fail("the command has not ended")

    def has(self, pattern):
        with self.changed:
            return [line for _, line in self.lines if re.search(pattern, line)]


def pairs():
    """The KIND-KERNEL that prepare.sh has made."""
    return sorted(os.path.basename(p).removeprefix("ready-")
                  for p in glob.glob(os.path.join(BOOT, "ready-*")))
