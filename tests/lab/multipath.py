# SPDX-License-Identifier: BSD-2-Clause
"""multipathd of a guest, with the udevd that tells it of disks: maps and the state of their
paths."""

from typing import NamedTuple

from kernel import wait_until

# Paths are tried every second. What finds no path waits for one.
CONFIG = """defaults {{
    find_multipaths greedy
    user_friendly_names no
    polling_interval 1
    max_polling_interval 1
    {more}
}}
overrides {{
    path_checker tur
    prio alua
    path_grouping_policy group_by_prio
    failback immediate
    no_path_retry queue
}}
"""


class Path(NamedTuple):
    disk: str  # "sda"
    priority: int
    state: str  # of the device mapper: active, failed, undef
    checked: str  # ready, ghost (standby), faulty ...


class Multipath:
    """Runs within a with block that begins before the logins and ends before the logouts. The maps
    have to be unused then. more: settings."""

    def __init__(self, guest, more=""):
        self.guest, self.config = guest, CONFIG.format(more=more)

    def __enter__(self):
        self.guest.run(f"""
            modprobe -a dm_multipath dm_service_time scsi_dh_alua
            cat >/etc/multipath.conf <<'EOF'\n{self.config}EOF
            /usr/lib/systemd/systemd-udevd --daemon >/dev/null 2>&1 </dev/null
            multipathd >/dev/null 2>&1 </dev/null""")
        wait_until(lambda: self.asked("show daemon").startswith("pid"), "multipathd is there")
        return self

    def __exit__(self, kind, why, trace):
        if kind:
            return
        wait_until(self.is_flushed, "multipath gives up its maps")
        self.guest.run("""
            multipathd shutdown >/dev/null; udevadm control --exit; rm /etc/multipath.conf""")
        wait_until(lambda: self.guest.ask("[ -e /run/multipathd.pid ]")[0], "multipathd ends")

    def is_flushed(self):
        return not self.guest.ask("multipath -F >/dev/null 2>&1; dmsetup ls --target multipath"
                                  " | grep -v '^No devices'")[1].strip()

    def asked(self, words):
        """What multipathd answers."""
        return self.guest.ask(f"multipathd {words}")[1]

    def maps(self):
        """The names of its maps, which are the identities of their disks."""
        return self.asked("show maps raw format '%n'").split()

    def device(self, paths):
        """The one map, as soon as it has that many paths that work."""
        wait_until(lambda: len(self.maps()) == 1 and len(self.working()) == paths,
                   f"one map with {paths} paths")
        return f"/dev/mapper/{self.maps()[0]}"

    def paths(self):
        """The paths of the one map."""
        found = []
        for line in self.asked("show paths raw format '%d %p %t %T %m'").splitlines():
            words = line.split()
            if len(words) >= 5 and words[4] != "[orphan]":
                found.append(Path(words[0], int(words[1]), words[2], words[3]))
        return found

    def working(self):
        """The disks of the paths that are in use."""
        return {path.disk for path in self.paths()
                if path.state == "active" and path.checked in ("ready", "ghost")}

    def priorities(self):
        """{disk: priority}"""
        return {path.disk: path.priority for path in self.paths()}
