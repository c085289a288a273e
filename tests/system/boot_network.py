#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator boot -N: the network of the iBFT, in a network namespace with an interface
whose other end is in that of the target."""

import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from attachment import Attachments  # noqa: E402
from farblock import (LIBC, Config, Farblockd, Scratch, Skip, check, main, program, run)  # noqa: E402
from initiator import end  # noqa: E402

CLONE_NEWNET = 0x40000000
MAC = "52:54:00:12:34:56"
PORT = 3260
NEAR, FAR, VLAN = "192.0.2.10", "192.0.2.1", "198.51.100.1"
FAR6, NEAR6 = "2001:db8::1", "2001:db8::10"
MAC2, FAR2, NEAR2 = "52:54:00:12:34:57", "203.0.113.1", "203.0.113.10"


class Machine:
    """A network namespace for the initiator; the test's own is the target's."""

    def __init__(self):
        if os.geteuid() or LIBC.unshare(CLONE_NEWNET):
            raise Skip("no right to make network namespaces")
        self.holder = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec cat"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.holder.stdout.readline()
        self.inside = ["nsenter", "-t", str(self.holder.pid), "-n"]

    def __enter__(self):
        run(["ip", "link", "set", "lo", "up"])
        return self

    def __exit__(self, *_):
        self.holder.stdin.close()
        self.holder.wait()

    def plug(self, mac=MAC):
        """A cable: far here, near there; near is down and has no address."""
        self.unplug()
        run(["ip", "link", "add", "far", "type", "veth", "peer", "name", "near", "address", mac,
             "netns", str(self.holder.pid)])
        for words in (f"addr add {FAR}/24 dev far", f"addr add {FAR6}/64 dev far nodad",
                      "link set far up"):
            run(["ip", *words.split()])

    def plug_vlan(self):
        """False: this kernel has no VLANs."""
        self.plug()
        if run("ip link add far.5 link far type vlan id 5".split(), check=False).returncode:
            return False
        for words in (f"addr add {VLAN}/24 dev far.5", "link set far.5 up"):
            run(["ip", *words.split()])
        return True

    def plug_second(self, is_up=True):
        """Another cable: far2 here, near2 there."""
        run(["ip", "link", "add", "far2", "type", "veth", "peer", "name", "near2", "address", MAC2,
             "netns", str(self.holder.pid)])
        run(["ip", "addr", "add", f"{FAR2}/24", "dev", "far2"])
        run(["ip", "link", "set", "far2", "up" if is_up else "down"])

    def unplug(self):
        for name in ("far", "far2"):
            run(["ip", "link", "del", name], check=False)

    def ip(self, *words):
        return json.loads(run([*self.inside, "ip", "-j", *words]).stdout or "[]")

    def addresses(self, name):
        return [f"{a['local']}/{a['prefixlen']}" for link in self.ip("addr", "show", "dev", name)
                for a in link["addr_info"] if a["scope"] == "global"]

    def routes(self, *words):
        return [(r["dst"], r.get("gateway"), r["dev"]) for r in self.ip(*words, "route")]

    def command(self, *words):
        return [*self.inside, program("farblock-initiator"), "boot", *words]

    def boot(self, *words, status=0, text=""):
        done = run(self.command(*words), check=False)
        check(done.returncode == status and text in done.stdout,
              f"{words}: {done.returncode}, not {status}: {done.stdout}")
        return done.stdout

    def start(self, *words):
        return subprocess.Popen(self.command(*words), text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Ibft:
    def __init__(self, scratch, iqn):
        self.path, self.iqn = scratch.file("ibft"), iqn

    def __call__(self, host=FAR, **nic):
        """A table with these attributes of its NIC."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.put("initiator", flags=3, initiator_name="iqn.2025-01.org.farblock:me")
        self.put("ethernet0", **{"flags": 3, "index": 0, "ip_addr": NEAR, "prefix_len": 24,
                                 "origin": 1, "vlan": 0, "mac": MAC, **nic})
        self.put("target0", index=0, flags=3, ip_addr=host, port=PORT, nic_assoc=0,
                 target_name=self.iqn, chap_type=0, lun="00000000")
        return ("--ibft", self.path)

    def further(self, **nic):
        """Before the target of the table, which the firmware has booted from, one at another NIC."""
        os.rename(f"{self.path}/target0", f"{self.path}/target1")
        self.put("target1", index=1)
        self.put("ethernet1", **{"flags": 3, "index": 1, "ip_addr": NEAR2, "prefix_len": 24,
                                 "origin": 1, "vlan": 0, "mac": MAC2, **nic})
        self.put("target0", index=0, flags=1, ip_addr=FAR2, port=PORT, nic_assoc=1,
                 target_name=self.iqn, chap_type=0, lun="00000000")

    def put(self, where, **attributes):
        os.makedirs(f"{self.path}/{where}", exist_ok=True)
        for name, value in attributes.items():
            with open(f"{self.path}/{where}/{name.replace('_', '-')}", "w", encoding="utf-8") as f:
                f.write(f"{value}\n")


def address_and_routes_are_set(machine, ibft):
    machine.plug()
    words = ("-N", *ibft(gateway="192.0.2.254"))
    machine.boot(*words, text=f"near: {NEAR}/24, gateway 192.0.2.254")
    check(machine.addresses("near") == [f"{NEAR}/24"], f"{machine.addresses('near')}")
    routes = machine.routes()
    for route in (("default", "192.0.2.254", "near"), (FAR, None, "near")):
        check(route in routes, f"{route}: {routes}")
    machine.boot(*words)  # what is there stays
    check(machine.routes() == routes, f"{machine.routes()}")


def a_target_behind_the_gateway_has_its_route(machine, ibft):
    machine.plug()
    machine.boot("-N", *ibft(host="203.0.113.7", gateway="192.0.2.254"))
    check(("203.0.113.7", "192.0.2.254", "near") in machine.routes(), f"{machine.routes()}")


def the_address_of_a_dhcp_server_is_applied(machine, ibft):
    machine.plug()
    machine.boot("-N", *ibft(origin=3, dhcp="192.0.2.67"))
    check(machine.addresses("near") == [f"{NEAR}/24"], f"{machine.addresses('near')}")
    check("iface.net_ifacename = near" in machine.boot("-f", *ibft(origin=3)), "-f")


def a_mask_serves_without_a_prefix(machine, ibft):
    machine.plug()
    machine.boot("-N", *ibft(prefix_len=0, subnet_mask="255.255.254.0"))
    check(machine.addresses("near") == [f"{NEAR}/23"], f"{machine.addresses('near')}")


def the_disk_is_attached(machine, attachments, table):
    """Over the network that the same command has set up."""
    machine.boot("-N", "-b", *table, "--via", "socket", "--run-dir", attachments.run_dir,
                 text="nbd+unix:///")
    disk = attachments.one("boot")
    check(disk["paths"][0]["state"] == "up", f"{disk}")
    attachments.detach("boot")


def a_vlan_is_made(machine, attachments, ibft):
    has_vlans = machine.plug_vlan()
    table = ibft(host=VLAN, ip_addr="198.51.100.10", vlan=5)
    check("iface.net_ifacename = near.5" in machine.boot("-f", *table), "-f")
    if not has_vlans:
        print("no VLAN was made: this kernel has none (8021q)")
        machine.boot("-N", *table, status=1, text="near: VLAN 5: not supported (modprobe 8021q)")
        return
    the_disk_is_attached(machine, attachments, table)
    check(machine.addresses("near.5") == ["198.51.100.10/24"], f"{machine.addresses('near.5')}")
    check(not machine.addresses("near"), f"{machine.addresses('near')}")
    machine.boot("-N", *table)
    check(len(machine.ip("link", "show", "type", "vlan")) == 1, "one VLAN")


def addresses_of_ipv6(machine, attachments, ibft):
    machine.plug()
    full = "2001:0db8:0000:0000:0000:0000:0000:0001"  # as the kernel writes it
    table = ibft(host=full, ip_addr=NEAR6, prefix_len=64, gateway="2001:db8::fe")
    the_disk_is_attached(machine, attachments, table)
    check(machine.addresses("near") == [f"{NEAR6}/64"], f"{machine.addresses('near')}")
    check(("default", "2001:db8::fe", "near") in machine.routes("-6"), f"{machine.routes('-6')}")


def an_interface_without_a_link_is_told(machine, ibft):
    machine.plug()
    run(["ip", "link", "set", "far", "down"])
    said = machine.boot("-N", *ibft(), "--link-timeout", "2", status=4,
                        text="near: no link within 2 s")
    check("near: no link yet" in said, said)
    check(not machine.addresses("near"), "no address without a link")


def a_link_that_comes_up_is_used(machine, ibft):
    machine.plug()
    run(["ip", "link", "set", "far", "down"])
    waiting = machine.start("-N", *ibft(), "--link-timeout", "300")
    line = waiting.stderr.readline()
    check("near: no link yet" in line, line)
    run(["ip", "link", "set", "far", "up"])
    end(waiting)
    check(machine.addresses("near") == [f"{NEAR}/24"], f"{machine.addresses('near')}")


def an_interface_that_appears_is_used(machine, ibft):
    machine.unplug()
    machine.boot("-N", *ibft(), "--link-timeout", "1", status=4,
                 text=f"no interface has the address {MAC} (load its driver)")
    waiting = machine.start("-N", *ibft(), "--link-timeout", "300")
    line = waiting.stderr.readline()
    check(f"no interface has the address {MAC} yet" in line, line)
    machine.plug()
    end(waiting)
    check(machine.addresses("near") == [f"{NEAR}/24"], f"{machine.addresses('near')}")


def what_the_table_lacks_is_told(machine, ibft):
    machine.plug()
    for nic, text in ((dict(prefix_len=0), "no valid prefix-len"),
                      (dict(prefix_len=33), "no valid prefix-len"),
                      (dict(ip_addr="0.0.0.0"), "no ip-addr"),
                      (dict(mac="52:54"), "ethernet0/mac: '52:54'"),
                      (dict(vlan=4095), "ethernet0/vlan: '4095'")):
        machine.boot("-N", *ibft(**nic), status=21, text=text)


# ---- several NICs ----

def all_paths_are_set_up(machine, ibft):
    machine.plug()
    machine.plug_second()
    table = ibft()
    ibft.further()
    said = machine.boot("-N", *table)
    check("warning" not in said, said)
    check(machine.addresses("near") == [f"{NEAR}/24"], f"{machine.addresses('near')}")
    check(machine.addresses("near2") == [f"{NEAR2}/24"], f"{machine.addresses('near2')}")
    check((FAR2, None, "near2") in machine.routes(), f"{machine.routes()}")


def the_default_route_is_that_of_the_booted_path(machine, ibft):
    machine.plug()
    machine.plug_second()
    table = ibft(gateway="192.0.2.254")
    ibft.further(gateway="203.0.113.254")
    machine.boot("-N", *table)
    routes = [r for r in machine.routes() if r[0] == "default"]
    check(routes == [("default", "192.0.2.254", "near")], f"{routes}")


def a_path_without_a_link_is_skipped(machine, ibft):
    """Its link is not waited for: the test would end before."""
    machine.plug()
    machine.plug_second(is_up=False)
    table = ibft()
    ibft.further()
    said = machine.boot("-N", *table, "--link-timeout", "3000",
                        text="warning: skipped: near2: no link (check cable and switch port)")
    check("no link yet" not in said, said)
    check(machine.addresses("near") == [f"{NEAR}/24"], f"{machine.addresses('near')}")


def a_path_without_an_interface_is_skipped(machine, ibft):
    machine.plug()
    table = ibft()
    ibft.further()
    machine.boot("-N", *table, "--link-timeout", "3000",
                 text=f"warning: skipped: ethernet1: no interface has the address {MAC2}")
    check(machine.addresses("near") == [f"{NEAR}/24"], f"{machine.addresses('near')}")


def a_path_without_an_address_is_skipped(machine, ibft):
    """As firmware leaves a NIC whose DHCP has failed."""
    machine.plug()
    machine.plug_second()
    table = ibft()
    ibft.further(ip_addr="0.0.0.0")
    machine.boot("-N", *table, text="warning: skipped: ethernet1: no ip-addr in the iBFT")
    check(machine.addresses("near") == [f"{NEAR}/24"], f"{machine.addresses('near')}")


def a_path_without_a_nic_is_skipped(machine, ibft):
    machine.plug()
    table = ibft()
    ibft.further()
    ibft.put("target0", nic_assoc=7)
    machine.boot("-N", *table, text="warning: skipped: target0/nic-assoc: no NIC has the index 7")
    check(machine.addresses("near") == [f"{NEAR}/24"], f"{machine.addresses('near')}")


def the_booted_path_must_be_set_up(machine, ibft):
    machine.plug()
    machine.plug_second()
    run(["ip", "link", "set", "far", "down"])
    table = ibft()
    ibft.further()
    machine.boot("-N", *table, "--link-timeout", "1", status=4, text="near: no link within 1 s")


def the_disk_is_attached_without_its_dead_path(machine, attachments, ibft):
    machine.plug()
    machine.plug_second(is_up=False)
    table = ibft()
    ibft.further()
    machine.boot("-N", "-b", *table, "--via", "socket", "--run-dir", attachments.run_dir,
                 text="nbd+unix:///")
    disk = attachments.one("boot")
    check(disk["paths"][0]["state"] == "up" and len(disk["paths"]) == 2, f"{disk}")
    attachments.detach("boot")


# ---- gateways ----

def a_default_route_that_nobody_needs_may_fail(machine, ibft):
    machine.plug()
    machine.boot("-N", *ibft(gateway="192.0.2.255"),
                 text="warning: skipped: near: route through the gateway 192.0.2.255: ")
    check((FAR, None, "near") in machine.routes(), f"{machine.routes()}")


def the_route_of_another_target_may_fail(machine, ibft):
    machine.plug()
    table = ibft(gateway="192.0.2.255")
    ibft.further()
    ibft.put("target0", nic_assoc=0)
    machine.boot("-N", *table, text=f"warning: skipped: near: route to {FAR2}: ")
    check((FAR, None, "near") in machine.routes(), f"{machine.routes()}")


def the_route_of_the_booted_target_must_not_fail(machine, ibft):
    machine.plug()
    said = machine.boot("-N", *ibft(host=FAR2, gateway="192.0.2.255"), status=21,
                        text=f"near: route to {FAR2}: ")
    check("warning" not in said, said)


def a_gateway_outside_the_network_is_on_the_link(machine, attachments, ibft):
    machine.plug()
    the_disk_is_attached(machine, attachments, ibft(prefix_len=32, gateway=FAR))
    check(("default", FAR, "near") in machine.routes(), f"{machine.routes()}")


def a_target_is_behind_a_gateway_outside_the_network(machine, attachments, ibft):
    machine.plug()
    run(["ip", "addr", "add", f"{FAR2}/32", "dev", "far"])
    the_disk_is_attached(machine, attachments, ibft(host=FAR2, prefix_len=32, gateway=FAR))
    check((FAR2, FAR, "near") in machine.routes(), f"{machine.routes()}")


def a_gateway_of_ipv6_outside_the_network_is_on_the_link(machine, attachments, ibft):
    machine.plug()
    the_disk_is_attached(machine, attachments,
                         ibft(host=FAR6, ip_addr=NEAR6, prefix_len=128, gateway=FAR6))
    check(("default", FAR6, "near") in machine.routes("-6"), f"{machine.routes('-6')}")


def test():
    with Scratch() as scratch, Machine() as machine, Attachments(scratch) as attachments:
        config = Config()
        target = config.target([config.ramdisk("rd0", 1 << 20)],
                               portals=[("0.0.0.0", PORT), ("::", PORT)])
        ibft = Ibft(scratch, target.iqn)
        address_and_routes_are_set(machine, ibft)
        a_target_behind_the_gateway_has_its_route(machine, ibft)
        the_address_of_a_dhcp_server_is_applied(machine, ibft)
        a_mask_serves_without_a_prefix(machine, ibft)
        with Farblockd(scratch, config):
            machine.plug()
            the_disk_is_attached(machine, attachments, ibft())
            a_vlan_is_made(machine, attachments, ibft)
            addresses_of_ipv6(machine, attachments, ibft)
            the_disk_is_attached_without_its_dead_path(machine, attachments, ibft)
            a_gateway_outside_the_network_is_on_the_link(machine, attachments, ibft)
            a_target_is_behind_a_gateway_outside_the_network(machine, attachments, ibft)
            a_gateway_of_ipv6_outside_the_network_is_on_the_link(machine, attachments, ibft)
        an_interface_without_a_link_is_told(machine, ibft)
        a_link_that_comes_up_is_used(machine, ibft)
        an_interface_that_appears_is_used(machine, ibft)
        what_the_table_lacks_is_told(machine, ibft)
        all_paths_are_set_up(machine, ibft)
        the_default_route_is_that_of_the_booted_path(machine, ibft)
        a_path_without_a_link_is_skipped(machine, ibft)
        a_path_without_an_interface_is_skipped(machine, ibft)
        a_path_without_an_address_is_skipped(machine, ibft)
        a_path_without_a_nic_is_skipped(machine, ibft)
        the_booted_path_must_be_set_up(machine, ibft)
        a_default_route_that_nobody_needs_may_fail(machine, ibft)
        the_route_of_another_target_may_fail(machine, ibft)
        the_route_of_the_booted_target_must_not_fail(machine, ibft)


main(test)
