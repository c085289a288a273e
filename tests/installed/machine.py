# SPDX-License-Identifier: BSD-2-Clause
"""A Debian with the packages installed, under its own systemd: systemd-nspawn, with /dev/fuse, loop
devices and a network of its own. $FARBLOCK_INSTALLED (default ~/.cache/farblock-installed) keeps the
Debian; $FARBLOCK_PACKAGES is a folder of packages to test instead of this build's."""

import fcntl
import glob
import os
import shutil
import signal
import subprocess
import sys
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "tests", "lib"))
import farblock  # noqa: E402
from farblock import BUILD, Failure, Skip, check, eventually, run  # noqa: E402

CACHE = os.environ.get("FARBLOCK_INSTALLED") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "farblock-installed")
TOOLS = ("mmdebstrap", "systemd-nspawn", "dpkg-deb", "dh", "fakeroot", "nsenter")
DEBIAN = ("systemd-sysv,udev,dbus,kmod,iproute2,procps,e2fsprogs,util-linux,libuuid1,libblkid1,libisal2,"
          "libjson-c5,libssl3,liburing2,libibverbs1,librdmacm1,libibumad3,libfuse3-3,libmnl0,libedit2,"
          "libmicrohttpd12,libsgutils2-1.46-2,libsystemd0")
SOURCES = ("/etc/apt/sources.list", "/etc/apt/sources.list.d/debian.sources")
# The programs of the build; everything else is done as debian/rules has it.
RULES = f"""
override_dh_auto_configure-arch override_dh_auto_build-arch:
\t@true

override_dh_auto_install-arch:
\tDESTDIR=$(CURDIR)/debian/tmp cmake --install {BUILD} --prefix /usr >/dev/null
\tsed -i s,/usr/local/,/usr/, debian/tmp/usr/lib/systemd/system/*farblock* \\
\t\tdebian/tmp/usr/lib/udev/rules.d/* debian/tmp/usr/lib/farblock/unmount-disk
"""
TARGET = "iqn.2025-01.org.example:installed"
SERVE = f"""/backstores/fileio create data /var/lib/farblock/data.img 64M
set global auto_add_default_portal=false
/iscsi create {TARGET}
/iscsi/{TARGET}/tpg1/portals create 127.0.0.1 3260
/iscsi/{TARGET}/tpg1/luns create /backstores/fileio/data
/iscsi/{TARGET}/tpg1 set attribute authentication=0 generate_node_acls=1 demo_mode_write_protect=0
"""
URL = f"iscsi://127.0.0.1:3260/{TARGET}/0"


def check_needs():
    if os.geteuid():
        raise Skip("run as root: it makes and boots a Debian")
    for tool in TOOLS:
        if not shutil.which(tool, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"):
            raise Skip(f"{tool} is not installed (etc/deps.sh check)")
    if not os.path.exists("/dev/fuse"):
        raise Skip("no /dev/fuse (modprobe fuse)")


def debian():
    """The folder of a Debian 12 without farblock; made once, from this machine's apt sources."""
    os.makedirs(CACHE, exist_ok=True)
    folder, stamp = f"{CACHE}/debian", f"{CACHE}/packages"
    with open(f"{CACHE}/lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(stamp) and open(stamp, encoding="utf-8").read() == DEBIAN:
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        sources = [path for path in SOURCES if os.path.exists(path)]
        made = run(["mmdebstrap", "--quiet", "--variant=minbase", "--format=directory",
                    f"--include={DEBIAN}", "bookworm", folder, *sources], check=False, timeout=1800)
        if made.returncode:
            raise Skip(f"no Debian: {made.stdout.splitlines()[-1:]}")
        with open(stamp, "w", encoding="utf-8") as f:
            f.write(DEBIAN)
    return folder


def packages(scratch):
    """A folder with the packages farblock and farblock-initiator."""
    given = os.environ.get("FARBLOCK_PACKAGES")
    if given:
        return given
    source = scratch.file("build/farblock")
    for name in ("boot", "debian", "etc"):
        shutil.copytree(f"{SOURCE}/{name}", f"{source}/{name}")
    with open(f"{source}/debian/rules", "a", encoding="utf-8") as f:
        f.write(RULES)
    run(["fakeroot", "debian/rules", "binary-arch"], cwd=source,
        env={**os.environ, "DEB_BUILD_OPTIONS": "noautodbgsym"})
    return scratch.file("build")


def package(folder, name):
    found = glob.glob(f"{folder}/{name}_*.deb")
    check(len(found) == 1, f"{folder}: {found}")
    return found[0]


def with_version(deb, version, scratch):
    """The same package, as a later version."""
    root, path = scratch.file(f"root-{version}"), scratch.file(f"later_{version}.deb")
    run(["dpkg-deb", "-R", deb, root])
    run(["sed", "-i", f"s/^Version:.*/Version: {version}/", f"{root}/DEBIAN/control"])
    run(["dpkg-deb", "-b", "--root-owner-group", root, path])
    shutil.rmtree(root)
    return path


class Machine:
    """From power-on, with its own copy of the Debian until its end."""

    def __init__(self, scratch):
        self.root, self.nspawn, self.leader = scratch.file("machine"), None, None
        self.log, self.devices = scratch.file("console"), set()
        for name in ("machine", "upper", "work"):
            os.mkdir(scratch.file(name))
        run(["mount", "-t", "overlay", "overlay", "-o",
             f"lowerdir={debian()},upperdir={scratch.file('upper')},workdir={scratch.file('work')}",
             self.root])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.nspawn and self.nspawn.poll() is None:
            self("farblock-initiator detach --all --force", status=None)
            if self.leader:  # its end is that of all its processes; nspawn's is not
                os.kill(int(self.leader), signal.SIGKILL)
            self.nspawn.wait(120)
        for device in self.devices:  # the kernel's, which outlive the machine
            run(["losetup", "-d", device], check=False)
        eventually("the machine's end", lambda: not run(["umount", self.root], check=False).returncode)

    def boot(self):
        with open(self.log, "ab") as log:
            self.nspawn = subprocess.Popen(
                ["systemd-nspawn", "--quiet", "--boot", "--keep-unit", "--register=no",
                 "--private-network", "--capability=all", "--bind=/dev/fuse", "--console=pipe",
                 "--system-call-filter=io_uring_setup io_uring_enter io_uring_register",
                 "--machine=farblock-installed", "-D", self.root],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        eventually("systemd of the machine", self.is_up)
        self("for i in $(seq 0 63); do mknod -m 660 /dev/loop$i b 7 $i; done\n"
             "mknod -m 660 /dev/loop-control c 10 237", status=None)
        eventually("the machine's start", lambda: self(
            "systemctl is-system-running", status=None) in ("running", "degraded"))

    def is_up(self):
        if self.nspawn.poll() is not None:
            with open(self.log, encoding="utf-8", errors="replace") as log:
                raise Failure(f"systemd-nspawn: {log.read()[-2000:]}")
        path = f"/proc/{self.nspawn.pid}/task/{self.nspawn.pid}/children"
        with open(path, encoding="utf-8") as f:
            children = f.read().split()
        self.leader = children[0] if children else None
        return self.leader and self("systemctl is-system-running", status=None) in (
            "starting", "running", "degraded")

    def __call__(self, script, status=0):
        """Runs a script; returns its output."""
        done = run(["nsenter", "-t", self.leader, "-a", "env", "-i", "LC_ALL=C",
                    "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive",
                    "sh", "-c", script], check=False)
        check(status is None or done.returncode == status,
              f"{script}: {done.returncode}, not {status}: {done.stdout}")
        return done.stdout.strip()

    def power_off(self):
        """In order; returns the seconds that it took."""
        begin = time.monotonic()
        self("systemctl poweroff --no-block")
        self.nspawn.wait(900)
        return time.monotonic() - begin

    def install(self, *debs):
        os.makedirs(f"{self.root}/root/debs", exist_ok=True)
        names = []
        for deb in debs:
            shutil.copy(deb, f"{self.root}/root/debs/")
            names.append(f"/root/debs/{os.path.basename(deb)}")
        return self(f"dpkg -i {' '.join(names)} 2>&1")

    def serve(self):
        self(f"cat >/root/serve <<'END'\n{SERVE}END\nfarblock -c /root/serve")

    def entries(self):
        new = "/etc/farblock-initiator"
        return f"{new if os.path.isdir(self.root + new) else '/etc/farblock'}/attach.d"

    def attach(self):
        """The disk by an entry and fuse, with a file system that is mounted on /mnt; its device."""
        self(f"mkdir -p {self.entries()}\nprintf 'url = {URL}\\nvia = fuse\\n' >{self.entries()}/data.conf\n"
             "systemctl start farblock-attach@data")
        device = self("farblock-initiator attached data | head -n 1").split()[1]
        self.devices.add(device)
        self(f"blkid {device} || mkfs.ext4 -q {device}\nmount {device} /mnt")
        return device
