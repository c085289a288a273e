# SPDX-License-Identifier: BSD-2-Clause
"""Starts and stops farblockd, and any other program a test needs, in a folder of its own.

Everything a test starts dies with the test: by the context managers here, and, should the
test itself be killed, by the kernel (PR_SET_PDEATHSIG). Only processes started here are ever
signalled.

    with Scratch() as scratch:
        config = Config()
        disk = config.ramdisk("rd0", 64 << 20)
        target = config.target(luns=[disk])
        with Farblockd(scratch, config) as daemon:
            run(["iscsi-ls", "-s", f"iscsi://127.0.0.1:{target.port}"])
"""

import ctypes
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("FARBLOCK_BUILD", os.path.join(SOURCE, "build"))
IQN = "iqn.2025-01.org.farblock.test"
SRP_PORT = "ib.fe80000000000000020c29fffe3a1101"
SRP_INITIATOR = "ib.0002c903000a00010002c903000a0002"
PR_SET_PDEATHSIG = 1
HANG = 600  # seconds; no verdict depends on it
LIBC = ctypes.CDLL(None, use_errno=True)
os.environ["XDG_CONFIG_HOME"] = "/dev/null/none"  # no preferences there, and root cannot create it
os.environ["FARBLOCK_COMPLETE_MS"] = "60000"  # completion waits for a daemon that is slow


class Failure(Exception):
    """What was being tested did not hold; the text says what and why."""


class Skip(Exception):
    """The machine lacks something the test needs; the text says what."""


def check(holds, what):
    """Fails the test with what it says."""
    if not holds:
        raise Failure(what)


def main(function):
    """Runs a test's main function: exit status 0 passed, 1 failed, 77 skipped."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    # A shell that starts us in the background has the one ignored, nohup the other; what we start
    # would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        sys.exit(function())
    except Skip as why:
        print(f"skipped: {why}")
        sys.exit(77)
    except Failure as why:
        print(f"FAILED: {why}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


def program(name):
    """The path of an installed program, or of one of ours in the build folder."""
    for folder in ("", "tests/bench", "tests/system"):
        path = os.path.join(BUILD, folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        raise Skip(f"{name} is neither built nor installed")
    return path


def run(command, timeout=HANG, check=True, **options):
    """Runs a program to its end and returns it with its output as text."""
    done = subprocess.run([program(command[0]), *command[1:]], text=True, timeout=timeout,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, **options)
    if check and done.returncode:
        raise Failure(f"{' '.join(command)}: exit status {done.returncode}: {done.stdout.strip()}")
    return done


def eventually(what, condition, timeout=120):
    """Returns as soon as condition() is true; fails with what was waited for."""
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"{what}: not within {timeout} s")
        time.sleep(0.01)


class Scratch:
    """A temporary folder, 0700, removed at the end; in memory when in_memory, else in parent or
    where temporary files are."""

    def __init__(self, in_memory=False, keep=False, parent=None):
        self.keep = keep
        if in_memory and os.access("/dev/shm", os.W_OK):
            parent = "/dev/shm"
        self.path = tempfile.mkdtemp(prefix="farblock-test.", dir=parent)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.keep:
            print(f"kept: {self.path}", file=sys.stderr)
        else:
            shutil.rmtree(self.path, ignore_errors=True)

    def file(self, name, size=None, content=None):
        """The path of a file in the folder, made with this size or content if given."""
        path = os.path.join(self.path, name)
        if content is not None:
            with open(path, "wb") as out:
                out.write(content.encode() if isinstance(content, str) else content)
        elif size is not None:
            with open(path, "wb") as out:
                out.truncate(size)
        return path


# Below the ports the kernel hands out by itself, so that no outgoing connection takes one.
PORTS = range(20000, 32000)
_held = {}  # port: the socket that keeps it ours until this process ends


def _reserve(port):
    """Takes a name that tests running beside this one would take for the same port."""
    lock = socket.socket(socket.AF_UNIX)
    try:
        lock.bind(f"\0farblock-test-port-{port}")
    except OSError:
        lock.close()
        return False
    _held[port] = lock
    return True


def free_port(host="127.0.0.1"):
    """A free TCP port, which no other test gets while this one runs."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    first = random.SystemRandom().randrange(len(PORTS))
    for i in range(len(PORTS)):
        port = PORTS[(first + i) % len(PORTS)]
        if port in _held or not _reserve(port):
            continue
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
                return port
            except OSError:
                _held.pop(port).close()
    raise Failure(f"{host}: no port in {PORTS.start}..{PORTS.stop - 1} is free")


def _child(cpus, files):
    def prepare():
        if files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if cpus:
            os.sched_setaffinity(0, cpus)
    return prepare


class Process:
    """A program in the background whose output goes to a file in the scratch folder."""

    def __init__(self, scratch, name):
        self.scratch, self.name = scratch, name
        self.log_path = scratch.file(name.replace(" ", "-") + ".log")
        self.process = None

    files = None  # how many it may have open

    def spawn(self, command, cpus=None, env=None):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [program(command[0]), *command[1:]], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, preexec_fn=_child(cpus, self.files), env={**os.environ, **(env or {})})

    @property
    def pid(self):
        return self.process.pid

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def log(self):
        with open(self.log_path, errors="replace") as text:
            return text.read()

    def wait_connect(self, address, timeout=120):
        """Returns as soon as something accepts on (host, port) or on a socket's path."""
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        end, pause = time.monotonic() + timeout, 0.001
        while True:
            with socket.socket(family) as probe:
                if probe.connect_ex(address) == 0:
                    return
            if not self.is_running():
                raise Failure(f"{self.name}: ended at start: {self.log()[-2000:].strip()}")
            if time.monotonic() > end:
                raise Failure(f"{self.name}: nothing accepts on {address} after {timeout} s: "
                              f"{self.log()[-2000:].strip()}")
            time.sleep(pause)
            pause = min(2 * pause, 0.05)

    def signal(self, number):
        if self.is_running():
            os.kill(self.pid, number)

    def pause(self):
        self.signal(signal.SIGSTOP)

    def resume(self):
        self.signal(signal.SIGCONT)

    def kill(self):
        """SIGKILL, and waits for the end."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def stop(self, timeout=120):
        """SIGTERM; returns the exit status. Not ending in time is a failure."""
        if self.process is None:
            return None
        self.resume()
        self.process.terminate()
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure(f"{self.name}: still there {timeout} s after SIGTERM") from None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *_):
        self.kill()


class Target:
    """A target of a Config: its name and portals, and the URLs of its LUNs."""

    def __init__(self, iqn, portals):
        self.iqn, self.portals = iqn, portals

    @property
    def port(self):
        return self.portals[0][1]

    @property
    def path(self):
        """Of its group, which has luns, acls and portals."""
        return f"/iscsi/{self.iqn}/tpg1"

    def url(self, lun=0, portal=0):
        host, port = self.portals[portal]
        return f"iscsi://{host}:{port}/{self.iqn}/{lun}"


class SrpTarget(Target):
    """The same of SRP, whose name is its port identifier."""

    @property
    def path(self):
        return f"/srpt/{self.iqn}"

    @property
    def port_id(self):
        """In hex digits."""
        return self.iqn.removeprefix("ib.")

    def add_target(self, portal=0):
        """What identifies it in a line for ib_srp."""
        host, port = self.portals[portal]
        return f"id_ext={self.port_id[:16]},ioc_guid={self.port_id[16:]},dest={host}:{port}"

    def url(self, lun=0, portal=0):
        host, port = self.portals[portal]
        return f"srp://{host}:{port}/{self.port_id[:16]}:{self.port_id[16:]}/{lun}"


class Config:
    """A saveconfig.json in rtslib's shape."""

    # What makes a demo target open to any initiator, read and write.
    OPEN = {"authentication": 0, "generate_node_acls": 1, "demo_mode_write_protect": 0}

    def __init__(self):
        self.storage_objects, self.targets = [], []

    def storage(self, plugin, name, attributes=None, **keys):
        """Adds a storage object; returns its path, which is what a LUN refers to."""
        self.storage_objects.append({
            "plugin": plugin, "name": name, "wwn": str(uuid.uuid4()),
            "attributes": attributes or {}, "alua_tpgs": [], **keys})
        return f"/backstores/{plugin}/{name}"

    def ramdisk(self, name, size, attributes=None, **keys):
        return self.storage("ramdisk", name, attributes, size=size, **keys)

    def fileio(self, name, path, size, attributes=None, write_back=False, **keys):
        """As storage(); makes the file, since restoring waits for one that is missing."""
        if not os.path.exists(path):
            with open(path, "wb") as out:
                out.truncate(size)
        return self.storage("fileio", name, attributes, dev=path, size=size,
                            write_back=write_back, aio=False, **keys)

    def target(self, luns, iqn=None, portals=1, attributes=None, write_protect=False,
               portal_keys=None, **tpg_keys):
        """Adds a target with one group: storage paths as LUN 0.. and so many portals on
        free ports of 127.0.0.1, or a list of (address, port), with portal_keys beside."""
        if isinstance(portals, int):
            portals = [("127.0.0.1", free_port()) for _ in range(portals)]
        target = Target(iqn or f"{IQN}:t{len(self.targets)}", portals)
        protect = {"write_protect": True} if write_protect else {}
        self.targets.append({"fabric": "iscsi", "wwn": target.iqn, "tpgs": [{
            "tag": 1, "enable": True, "attributes": {**self.OPEN, **(attributes or {})},
            "parameters": {}, "node_acls": [],
            "luns": [{"index": i, "storage_object": path, **protect}
                     for i, path in enumerate(luns)],
            "portals": [{"ip_address": host, "port": port, "iser": False, "offload": False,
                         **(portal_keys or {})} for host, port in portals], **tpg_keys}]})
        return target

    def srp_target(self, luns, wwn=SRP_PORT, acls=(SRP_INITIATOR,), portals=1, attributes=None,
                   write_protect=False, portal_keys=None, **keys):
        """Adds an SRP target: storage paths as LUN 0.., which each initiator of acls has, and so
        many portals on free ports of 127.0.0.1, or a list of (address, port), with portal_keys
        beside."""
        if isinstance(portals, int):
            portals = [("127.0.0.1", free_port()) for _ in range(portals)]
        target = SrpTarget(wwn, portals)
        self.targets.append({"fabric": "srpt", "wwn": wwn, "tpgs": [{
            "tag": 1, "enable": True, "attributes": attributes or {}, "parameters": {},
            "luns": [{"index": i, "storage_object": path} for i, path in enumerate(luns)],
            "node_acls": [{"node_wwn": name, "attributes": {},
                           "mapped_luns": [{"index": i, "tpg_lun": i, "alias": f"map{i}",
                                            "write_protect": write_protect}
                                           for i in range(len(luns))]} for name in acls],
            "srp_portals": [{"ip_address": host, "port": port, **(portal_keys or {})}
                            for host, port in portals], **keys}]})
        return target

    def text(self):
        return json.dumps({"fabric_modules": [], "storage_objects": self.storage_objects,
                           "targets": self.targets}, indent=2, sort_keys=True) + "\n"


# What a sanitizer says first; where it stands in a log, the program is wrong.
SANITIZER = re.compile(r"^.*(?:ERROR: \w+Sanitizer|WARNING: \w+Sanitizer|runtime error:)", re.M)


class Farblockd(Process):
    """The daemon, with everything it touches in the scratch folder. May be started again
    after kill() or stop(): it finds the files it left.

    At the end of a with block that went well it is told to end and has to: with status 0,
    which a leak would change in a sanitized build, and with no word of a sanitizer in its log.
    cpus: one worker on each of these; None: two workers, wherever the scheduler puts them."""

    metrics = "off"  # address of its HTTP server

    def __init__(self, scratch, config, name="farblockd", cpus=None, arguments=()):
        super().__init__(scratch, name)
        self.config_path = scratch.file(f"{name}-saveconfig.json", content=config.text())
        os.chmod(self.config_path, 0o600)
        self.state_path = scratch.file(f"{name}-state")
        os.makedirs(self.state_path, mode=0o700, exist_ok=True)
        self.socket_path = scratch.file(f"{name}.sock")
        self.cpus, self.arguments = cpus, list(arguments)

    environment = None  # variables of its own

    def workers(self):
        if self.cpus is None:
            return ["--workers", "2"]
        cpus = sorted(set(self.cpus) & os.sched_getaffinity(0)) or sorted(os.sched_getaffinity(0))
        return ["--workers", str(len(cpus)), "--cpus", ",".join(map(str, cpus))]

    def start(self):
        self.spawn(["farblockd", "--config", self.config_path, "--state-dir", self.state_path,
                    "--socket", self.socket_path, "--metrics", self.metrics, *self.workers(),
                    *self.arguments], env=self.environment)
        self.wait_connect(self.socket_path)
        return self

    def rpc(self, method, **params):
        """The result of one call over the control socket."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(60)
            control.connect(self.socket_path)
            control.sendall(json.dumps(request).encode() + b"\n")
            with control.makefile("rb") as lines:
                answer = json.loads(lines.readline())
        if "error" in answer:
            raise Failure(f"{method}: {answer['error']}")
        return answer["result"]

    def copied(self):
        """Payload copies and bytes copied so far, all workers together."""
        workers = self.rpc("stats.get")["workers"]
        return tuple(sum(w[key] for w in workers)
                     for key in ("payload_copies", "payload_copy_bytes"))

    def moved(self, path):
        """Bytes written to and read from a storage object so far."""
        disk = self.rpc("stats.get")["storage_objects"][path]
        return tuple(disk[way]["bytes"] for way in ("write", "read"))

    def sanitizer_report(self):
        """What a sanitizer has written into the log so far, or None."""
        log = self.log()
        found = SANITIZER.search(log)
        return log[found.start():][:8000] if found else None

    def __exit__(self, kind, why, trace):
        if kind is None and self.is_running():
            status = self.stop()
            if status and not self.sanitizer_report():
                raise Failure(f"{self.name}: ended with status {status}: {self.log()[-2000:]}")
        self.kill()
        report = self.sanitizer_report()
        if report:
            raise Failure(f"{self.name}: {report}") from why


class Shell:
    """The shell at a daemon: each call is a line of its own and returns what it printed, errors
    too; its exit status has to be the given one, and text a part of that."""

    def __init__(self, daemon):
        self.daemon = daemon

    def __call__(self, *words, status=0, text=""):
        done = run(["farblock", "--socket", self.daemon.socket_path, *words], check=False,
                   timeout=HANG)
        what = f"{words}: exit status {done.returncode}: {done.stdout!r}"
        check(done.returncode == status, f"{what} (not {status})")
        check(text in done.stdout, f"{what} (without {text!r})")
        return done.stdout
