# SPDX-License-Identifier: BSD-2-Clause
"""What the kernel's initiators in a guest have in common: their disks, its log, programs in the
background."""

import time

import farblock
from guest import HANG

COMMAND_TIMEOUT = 600  # seconds until the kernel aborts a command; its own is 30


def wait_until(holds, what, seconds=HANG, every=0.2):
    """Returns what holds() returns once it is true. What takes so long hangs."""
    end = time.monotonic() + seconds
    while True:
        value = holds()
        if value:
            return value
        if time.monotonic() > end:
            raise farblock.Failure(f"not within {seconds} s: {what}")
        time.sleep(every)


class Kernel:
    """An initiator of the guest's kernel."""

    resets = ()  # sg_reset's options for what it can reset

    def __init__(self, guest):
        self.guest = guest

    def disks(self):
        """{LUN: ["sda", ...]} of all its sessions."""
        raise NotImplementedError

    def is_up(self):
        """Whether its one session is logged in."""
        raise NotImplementedError

    def rescan(self):
        """Looks for LUNs, as administrators do."""
        raise NotImplementedError

    def found(self, pattern):
        """As disks(): block devices below SCSI devices."""
        output = self.guest.run(f"""
            for b in {pattern}; do
                [ -e $b ] && d=${{b%/block/*}} && echo ${{d##*:}} ${{b##*/}}
            done; true""")
        found = {}
        for line in output.splitlines():
            lun, name = line.split()
            found.setdefault(int(lun), []).append(name)
        return found

    def disk(self, lun=0, count=1):
        """The device of a LUN, or of its paths, as soon as the kernel has scanned it."""
        def found():
            names = self.disks().get(lun, [])
            return names if len(names) >= count else None

        names = wait_until(found, f"LUN {lun} is a disk in the guest")
        self.guest.run("\n".join(f"echo {COMMAND_TIMEOUT} >/sys/block/{name}/device/timeout || exit"
                                 for name in names))
        paths = [f"/dev/{name}" for name in sorted(names)]
        return paths if count > 1 else paths[0]

    def kernel_log(self):
        return self.guest.run("dmesg -c")

    def in_background(self, name, script):
        """Starts a script; finished() waits for it."""
        self.guest.run(f"""cat >/run/{name}.sh <<'EOF'\n{script}\nEOF
            rm -f /run/{name}.status
            (bash /run/{name}.sh >/run/{name}.log 2>&1; echo $? >/run/{name}.status) \
                >/dev/null 2>&1 </dev/null &""")

    def is_finished(self, name):
        return self.guest.ask(f"[ -s /run/{name}.status ]")[0] == 0

    def finished(self, name):
        """Waits for a script in the background, which has to succeed; returns its output."""
        wait_until(lambda: self.is_finished(name), f"{name} in the guest ends")
        status, output = self.guest.ask(f"cat /run/{name}.log; exit $(cat /run/{name}.status)")
        if status:
            raise farblock.Failure(f"in the guest: {name}: exit status {status}: "
                                   f"{output.strip()[-1500:]}")
        return output
