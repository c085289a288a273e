# SPDX-License-Identifier: BSD-2-Clause
"""One world: three network namespaces (initiator, router, target) with several paths between them, a
farblockd, an attached disk and the load on it. Addresses are the same in every world: path p is
10.p.1.2 at the initiator, 10.p.1.1 and 10.p.2.1 at the router, 10.p.2.2 at the target."""

import hashlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from farblock import Config, Failure, Farblockd, Scratch, eventually  # noqa: E402

INITIATOR = "iqn.2025-01.org.farblock.test:pathloss"
PORTS = {"tcp": 3260, "iser": 3260, "srp": 3261}
SCHEMES = {"tcp": "iscsi", "iser": "iser"}
# 2.480ms is 2.48 s.
TIMER = re.compile(r"timer:\(on,(?:(\d+)min)?(?:(\d+)(?:sec|\.))?(?:(\d+)ms)?,")
DISK = "disk"


def ip(*words, check=True):
    return subprocess.run(["ip", *words], check=check, text=True, capture_output=True).stdout


class Network:
    """The namespaces. silence() drops what a path carries one way or both; restore() ends that."""

    def __init__(self, paths):
        self.paths, self.rules = paths, None
        self.names = {role: f"fbpl{os.getpid()}{role}" for role in "irt"}

    def inside(self, role, *command):
        return ["nsenter", f"--net=/run/netns/{self.names[role]}", *command]

    def run(self, role, *command, check=True, given=None):
        done = subprocess.run(self.inside(role, *command), check=False, text=True, input=given,
                              capture_output=True)
        if check and done.returncode:
            raise Failure(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def __enter__(self):
        for name in self.names.values():
            ip("netns", "add", name)
        try:
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def make(self):
        lines = {role: ["link set lo up"] for role in "irt"}
        for p in range(self.paths):
            for side, role in (("1", "i"), ("2", "t")):
                end, other = f"{role}{p}", self.names[role]
                lines["r"] += [f"link add r{end} type veth peer name {end} netns {other}",
                               f"addr add 10.{p}.{side}.1/24 dev r{end}", f"link set r{end} up"]
                lines[role] += [f"addr add 10.{p}.{side}.2/24 dev {end}", f"link set {end} up",
                                f"route add 10.{p}.{3 - int(side)}.0/24 via 10.{p}.{side}.1"]
        for role in "rit":
            self.run(role, "ip", "-batch", "-", given="\n".join(lines[role]) + "\n")
        self.run("r", "sysctl", "-qw", "net.ipv4.ip_forward=1")
        self.run("r", "nft", "-f", "-", given="""
            table inet f {
                set silent { type ifname; }
                chain forward {
                    type filter hook forward priority 0;
                    iifname @silent drop
                }
            }""")
        self.rules = subprocess.Popen(
            self.inside("r", "nft", "-i"), text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def change(self, verb, name, path, ways):
        """ways: of i (from the initiator) and t. Fast: a retransmission may be about to come."""
        ends = ", ".join(f'"r{way}{path}"' for way in ways)  # rt2 alone is a word of nft's
        self.rules.stdin.write(f"{verb} element inet f {name} {{ {ends} }}\nlist sets inet\n")
        self.rules.stdin.flush()
        while (line := self.rules.stdout.readline()).strip() != "}":
            if not line or "rror" in line:
                raise Failure(f"nft: {line}")

    def silence(self, path, ways):
        self.change("add", "silent", path, ways)

    def restore(self, path, ways):
        self.change("delete", "silent", path, ways)

    def limit_window(self, segments):
        """The initiator sends no more than that unacknowledged, as through a congested network."""
        for p in range(self.paths):
            self.run("i", "ip", "route", "change", f"10.{p}.2.0/24", "via", f"10.{p}.1.1",
                     "cwnd", "lock", str(segments))

    def kill_sockets(self, path):
        self.run("i", "ss", "-K", "dst", f"10.{path}.0.0/16")

    def retransmissions(self, path, role="i"):
        """Seconds to the next retransmission of each socket of the initiator or the target,
        abandoned ones included, that has something to send."""
        out = self.run(role, "ss", "-tnoHa", "src", f"10.{path}.0.0/16")
        found = []
        for line in out.splitlines():
            words, timer = line.split(), TIMER.search(line)
            if timer and words[0] not in ("SYN-SENT", "TIME-WAIT") and int(words[2]):
                minutes, seconds, ms = timer.groups()
                found.append(60 * int(minutes or 0) + int(seconds or 0) + int(ms or 0) / 1000)
        return found

    def __exit__(self, *_):
        if self.rules:
            self.rules.kill()
            self.rules.wait()
        for name in self.names.values():
            ip("netns", "del", name, check=False)


class Daemon(Farblockd):
    """farblockd in the namespace of the target."""

    network = None

    def spawn(self, command, cpus=None, env=None):
        farblockd = os.path.join(os.environ["FARBLOCK_BUILD"], command[0])
        super().spawn(self.network.inside("t", farblockd, *command[1:]), cpus, env)

    def workers(self):
        return ["--workers", "1"]


class Load:
    """pathloss_load on the disk's socket."""

    def __init__(self, program, socket, world):
        self.violations, self.last = [], {}
        self.process = subprocess.Popen(
            [program, socket, str(world.units), str(world.depth), str(world.seed),
             str(int(world.reissues)), str(world.fua)], text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, *lines):
        """Commands; returns the answer to the last one."""
        for line in lines or ("stat",):
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            while True:
                text = self.process.stdout.readline()
                if not text:
                    raise Failure(f"the load ended with {self.process.wait()}")
                answer = json.loads(text)
                if "violation" not in answer:
                    break
                self.violations.append(answer["violation"])
            self.last = answer
        return self.last

    def wait(self, what, condition, timeout):
        """Returns the first answer that condition holds for, or None after timeout seconds."""
        end = time.monotonic() + timeout
        while not condition(answer := self()):
            if time.monotonic() > end:
                return None
            time.sleep(0.1)
        return answer

    def end(self):
        self.process.kill()
        self.process.wait()


class World:
    """plan: carriers (one for each path), groups (same, other), host (of the ACLs, or None), and the
    numbers of the load."""

    def __init__(self, plan):
        self.__dict__.update(plan)
        self.network = Network(len(self.carriers))
        self.build = os.environ["FARBLOCK_BUILD"]
        self.daemon = self.load = self.relay = None

    def address(self, path):
        """What the initiator connects to: the relay's if there is one."""
        return f"10.{path}.1.1" if path == self.relayed else f"10.{path}.2.2"

    def configure(self):
        """Fills config; returns the URLs."""
        config, urls = Config(), []
        disk = config.ramdisk(DISK, self.units * 4096, {"delay_write_us": 0})
        iscsi = [p for p, c in enumerate(self.carriers) if c != "srp"]
        srp = [p for p, c in enumerate(self.carriers) if c == "srp"]
        target = None
        for n, p in enumerate(iscsi):
            portal = (f"10.{p}.2.2", PORTS["tcp"])
            if not target:
                target = config.target([disk], portals=[portal])
                group = config.targets[-1]["tpgs"][0]
            elif self.groups == "same":
                group["portals"].append({**group["portals"][0], "ip_address": portal[0]})
            else:
                config.targets[-1]["tpgs"].append({**group, "tag": n + 1, "portals": [
                    {**group["portals"][0], "ip_address": portal[0]}]})
        # The GUID that all paths of this initiator have (initiator/program/srp_open.c): with ACLs of
        # addresses one path could not remove the nexus of another.
        acls = [hashlib.sha256(INITIATOR.encode()).hexdigest()[:16]]
        names = {}
        for n, p in enumerate(srp):
            if n and self.groups == "same":
                config.targets[-1]["tpgs"][0]["srp_portals"].append(
                    {"ip_address": f"10.{p}.2.2", "port": PORTS["srp"]})
                names[p] = names[srp[0]]
            else:
                names[p] = config.srp_target(
                    [disk], wwn=f"ib.fe80000000000000020c29fffe3a110{n}", acls=acls,
                    portals=[(f"10.{p}.2.2", PORTS["srp"])])
        for p, c in enumerate(self.carriers):
            where = f"{self.address(p)}:{PORTS[c]}"
            urls.append(f"{SCHEMES[c]}://{where}/{target.iqn}/0" if c != "srp" else
                        f"srp://{where}/{names[p].port_id[:16]}:{names[p].port_id[16:]}/0")
        if self.host:
            self.declare_host(config)
        return config, urls

    def declare_host(self, config):
        """Each group has an ACL for this initiator, and no other: all of the same host."""
        for group in (g for t in config.targets for g in t["tpgs"]):
            if not group["node_acls"]:
                group["node_acls"] = [{"node_wwn": INITIATOR, "mapped_luns": [
                    {"index": 0, "tpg_lun": 0, "write_protect": False, "alias": "map0"}]}]
                group["attributes"]["generate_node_acls"] = 0
            for acl in group["node_acls"]:
                acl["attributes"] = {"host": self.host}

    def initiator(self, *words, check=True):
        done = subprocess.run(self.network.inside("i", f"{self.build}/farblock-initiator", *words,
                                                  "--run-dir", self.run_dir),
                              text=True, capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=120, check=False)
        if check and done.returncode:
            raise Failure(f"{words}: {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def attach(self):
        return self.initiator(
            "attach", *self.urls, "--via", "socket", "--name", DISK, "--policy", self.policy,
            "--provider", "iwarp", "--initiator-name", INITIATOR,
            *self.options)

    def status(self):
        found = json.loads(self.initiator("attached", "--json"))
        return next((a for a in found if a["name"] == DISK), None)

    def states(self):
        """Of the paths; none while the process is too busy to answer."""
        return [path["state"] for path in (self.status() or {}).get("paths", ())]

    def kill_holder(self):
        """Returns when it has ended: until then the disk is attached."""
        with open(f"{self.run_dir}/{DISK}.json", encoding="utf-8") as state:
            process = os.pidfd_open(json.load(state)["pid"])
        signal.pidfd_send_signal(process, signal.SIGKILL)
        select.select([process], [], [])
        os.close(process)

    def delay_writes(self, usec):
        self.daemon.rpc("tree.run", path=f"/backstores/ramdisk/{DISK}", command="set",
                        positional=["attribute"], named={"delay_write_us": usec})

    def hold(self, word):
        """Returns how many bytes the relay keeps."""
        self.relay.stdin.write(word + "\n")
        self.relay.stdin.flush()
        return int(self.relay.stdout.readline())

    def start_relay(self):
        p = self.relayed
        self.relay = subprocess.Popen(self.network.inside(
            "r", sys.executable, os.path.join(HERE, "relay.py"), f"10.{p}.1.1", f"10.{p}.2.2",
            str(PORTS[self.carriers[p]])), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.relay.stdout.readline()

    def __enter__(self):
        self.scratch = Scratch(in_memory=True).__enter__()
        self.run_dir = self.scratch.file("run")
        self.network.__enter__()
        try:
            self.begin()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def begin(self):
        config, self.urls = self.configure()
        self.daemon = Daemon(self.scratch, config)
        self.daemon.network = self.network
        self.daemon.start()
        if self.window:
            self.network.limit_window(self.window)
        if self.relayed is not None:
            self.start_relay()
        self.attach()
        eventually("all paths", lambda: self.states() == ["up"] * len(self.carriers))
        self.load = Load(self.program, f"{self.run_dir}/{DISK}.nbd", self)

    def __exit__(self, *_):
        try:
            if self.load:
                self.load.end()
            if os.path.exists(f"{self.run_dir}/{DISK}.json"):
                self.kill_holder()
            if self.relay:
                self.relay.kill()
                self.relay.wait()
            if self.daemon:
                self.daemon.kill()
        finally:
            self.network.__exit__()
            self.scratch.__exit__()
