#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""boot-info: a machine boots by the iPXE script that it prints, dnsmasq takes its lines,
farblock-initiator its URLs, and what would keep a machine from booting is a warning. Runs in a
network namespace of its own, with an address that a virtual machine reaches, too."""

import concurrent.futures
import json
import os
import re
import secrets
import socket
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import farblock  # noqa: E402
import ipxe_boot  # noqa: E402
import mbr  # noqa: E402
from farblock import (Config, Failure, Farblockd, Process, Scratch, Shell, Skip, check,  # noqa: E402
                      eventually, run)

ADDRESS = "192.0.2.10"  # not 127.0.0.1, which is another machine for the guest
ADDRESS_6 = "2001:db8::10"
MISSING = "10.99.0.9"  # an address that this machine does not have; its portals are the first
MISSING_6 = "2001:db8:1111:2222:3333:4444:5555:6666"
PORT = "ib.0002c903000a00010002c903000a0002"
HOST, TARGET = "iqn.2025-03.net.example:machine", "iqn.2025-03.net.example:roots"
SECRET, OTHER = "correct-horse-1", "correct-horse-2"
INSIDE = "FARBLOCK_TEST_NAMESPACE"
DOCUMENT = os.path.join(HERE, "../../docs/boot.md")
INFINITE = b"\xff" * 4


def in_namespace():
    """Starts itself again, with a loopback of its own that has ADDRESS."""
    if not os.environ.get(INSIDE):
        if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode:
            raise Skip("no network namespace")
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "-rn", sys.executable, *sys.argv])
    for words in (["link", "set", "lo", "up"], ["address", "add", f"{ADDRESS}/24", "dev", "lo"],
                  ["address", "add", f"{ADDRESS_6}/64", "dev", "lo"]):
        run(["ip", *words])


def info(shell, *words):
    return json.loads(shell("--json", "boot-info", *words))


def ways(shell, *words):
    """By transport."""
    return {way["transport"]: way for way in info(shell, *words)["ways"]}


def section(shell, *words):
    """boot-info of one section, with its two outputs apart."""
    return subprocess.run([farblock.program("farblock"), "--socket", shell.daemon.socket_path,
                           "boot-info", *words], capture_output=True, text=True, timeout=30,
                          check=False)


def make(shell, disk="root", address=ADDRESS, port="3260"):
    """A target with a disk for HOST, with mutual CHAP; its portal group's path."""
    group = f"/iscsi/{TARGET}/tpg1"
    shell("/backstores/ramdisk", "create", disk, "8M")
    shell("/iscsi", "create", TARGET)
    shell(f"{group}/luns", "create", f"/backstores/ramdisk/{disk}")
    shell(f"{group}/portals", "delete", "0.0.0.0", "3260")
    shell(f"{group}/portals", "create", address, port)
    shell(f"{group}/acls", "create", HOST)
    shell(f"{group}/acls/{HOST}", "set", "auth", "userid=machine", f"password={SECRET}")
    return group


def a_machine_boots_by_the_printed_script(scratch, shell, group):
    """By CHAP: the secret is put where the script says SECRET, and is nowhere else."""
    text = shell("boot-info", f"{group}/luns/lun0")
    check(SECRET not in text and "SECRET" in text, text)
    script = "\n".join(ways(shell, f"{group}/luns/lun0")["TCP"]["ipxe"]) + "\n"
    message = f"booted by boot-info {secrets.token_hex(8)}"
    disk = scratch.file("disk.img", content=(mbr.build() + (message + "\r\n").encode()).ljust(1536, b"\0"))
    secret = scratch.file("secret", content=SECRET)
    os.chmod(secret, 0o600)
    url = f"iscsi://machine@{ADDRESS}/{TARGET}/0"
    run(["farblock-initiator", "write", url, "-i", disk, "--initiator-name", HOST,
         "--chap-secret-file", secret])
    with concurrent.futures.ThreadPoolExecutor() as pool:
        guest = pool.submit(ipxe_boot.boot_script, scratch, script.replace("SECRET", SECRET))
        makers = set()
        eventually("the machine has ended", lambda: makers.update(
            s["isid_of"] for s in shell.daemon.rpc("session.list") if s["initiator"] == HOST)
            or guest.done())
        status, printed = guest.result()
    check(makers == {"iPXE"}, f"sessions of {makers}: {printed[-3000:]}")
    check(status == 2 * mbr.GOOD + 1 and message in printed,
          f"status {status}, serial port:\n{printed[-3000:]}")
    print("a machine has booted by the printed script")


def dnsmasq_takes_the_lines(scratch, shell, group):
    try:
        program = farblock.program("dnsmasq")
    except Skip:
        print("no dnsmasq: its lines are not tried")
        return
    shell(f"{group}/portals", "create", "::1")
    shell(f"{group}/acls/{HOST}", "set", "auth", "mutual_userid=target", f"mutual_password={OTHER}")
    sections = [way["dnsmasq"] for way in info(shell, group)["ways"] if "dnsmasq" in way]
    check(len(sections) == 4 and all("SECRET" in line for line in sections[0] if ",191," in line),
          sections)
    sections += [way["dnsmasq"] for way in info(shell, group, "mac=52:54:00:12:34:56")["ways"]
                 if "dnsmasq" in way]
    check(len(sections) == 8 and len(sections[7]) == len(sections[0]) + 1, sections)
    for lines in sections:
        path = scratch.file("dnsmasq.conf", content="\n".join(lines) + "\n")
        done = subprocess.run([program, "--test", f"--conf-file={path}"], capture_output=True, text=True)
        check(not done.returncode, f"{lines}: {done.stderr}")
    broken = scratch.file("broken.conf", content="dhcp-option=tag:ipxe,encap:175,190\n" + "dhcp-opt\n")
    check(subprocess.run([program, "--test", "-C", broken], capture_output=True).returncode, "--test")
    shell(f"{group}/acls/{HOST}", "set", "auth", "mutual_userid=", "mutual_password=")
    shell(f"{group}/portals", "delete", "::1", "3260")
    print("dnsmasq takes its lines")


def farblock_initiator_takes_the_urls(scratch, shell, group):
    secret = scratch.file("secret2", content=SECRET)
    os.chmod(secret, 0o600)
    for transport, way in ways(shell, group).items():
        words = dict(word.split("=", 1) for word in way["farblock_initiator"][0].split())
        done = run(["farblock-initiator", "capacity", words["farblock.root"].replace("user:", "", 1),
                    "--initiator-name", words["farblock.initiator"], "--chap-secret-file", secret],
                   check=False)
        check(not done.returncode, f"{transport}: {words}: {done.stdout}")
    print("farblock-initiator takes the URLs")


def kernel_words_are_those_of_the_transport(shell, group):
    all_ways = ways(shell, group)
    tcp, iser = all_ways["TCP"], all_ways["iSER"]
    at = f"{ADDRESS}:6:3260:0:{TARGET}"
    check(tcp["farblock_ibft"] == ["farblock.root=ibft"], tcp)
    check(tcp["farblock"] == [f"farblock.root=iscsi:{at} farblock.initiator={HOST}"
                              " ip=dhcp"], tcp)
    check(tcp["grub"] == ['GRUB_CMDLINE_LINUX="farblock.root=ibft"'], tcp)
    check(tcp["dracut"] == [f"ip=dhcp rd.neednet=1 rd.iscsi.initiator={HOST} rd.iscsi.username=machine "
                            f"rd.iscsi.password=SECRET netroot=iscsi:{ADDRESS}::3260:0:{TARGET}"], tcp)
    siw = " farblock.rdma=siw"  # a new network namespace has no RDMA device
    check(iser["farblock_ibft"] == [f"farblock.root=iser:ibft{siw}"], iser)
    check(iser["farblock"] == [f"farblock.root=iser:{at} farblock.initiator={HOST}"
                               f"{siw} ip=dhcp"], iser)
    warned(shell, group, "iSER by software iWARP alone")
    check("rd.iscsi.param=iface.transport_name=iser" in iser["dracut"][0], iser)


def lines_of_ipv6_have_its_words(shell, group):
    """DHCP and the firmware's table are of IPv4."""
    shell(f"{group}/portals", "create", ADDRESS_6)
    portal = f"portal={ADDRESS_6}"
    found = ways(shell, group, portal)
    tables = ("farblock_ibft", "initramfs_tools_ibft", "dracut_ibft", "farblock_initiator_ibft")
    for transport, scheme in (("TCP", "iscsi"), ("iSER", "iser")):
        way = found[transport]
        check(not any(name in way for name in (*tables, "initramfs_tools")), way)
        check(way["farblock"][0].startswith(f"farblock.root={scheme}:[{ADDRESS_6}]:6:3260:0:{TARGET} ")
              and way["farblock"][0].endswith(" ip=off"), way)
        check(way["farblock_initiator"][0].endswith(" ip=off"), way)
        check(way["grub"] == [f'GRUB_CMDLINE_LINUX="{way["farblock"][0]}"'], way)
        check(way["dracut"][0].startswith("ip=auto6 rd.neednet=1 "), way)
        check("ifconf -c ipv6" in way["ipxe"] and not [w for w in way["ipxe"] if "dhcp" in w], way)
    warned(shell, group, "that of dracut is ip=auto6", portal)
    both = ways(shell, group)["several paths"]
    check(both["farblock_initiator"][0].endswith(" ip=dhcp"), both)
    check("isset ${ip} || dhcp" in both["ipxe"] and "ifconf -c ipv6" not in both["ipxe"], both)
    shell(f"{group}/portals", "delete", ADDRESS_6, "3260")
    check(not [w for w in info(shell, group)["warnings"] if "ip=auto6" in w], "IPv4 alone")


def a_section_is_printed_alone(shell, group):
    lun = f"{group}/luns/lun0"
    lines = ways(shell, group)["TCP"]["dnsmasq"]
    done = section(shell, lun, "section=dnsmasq")
    check(not done.returncode and done.stdout.splitlines() == lines, done)
    told = [line for line in done.stderr.splitlines() if line.startswith("Warning: ")]
    check(len(told) == len(info(shell, lun)["warnings"]) and "every iPXE machine" in done.stderr, done)
    check("every iPXE machine" not in section(shell, lun, "section=grub").stderr, "another section")
    shell("boot-info", lun, "section=nonsense", status=3, text="no section 'nonsense'")


def a_section_without_a_name_is_refused(shell, group):
    lun, acl = f"{group}/luns/lun0", f"{group}/acls/{HOST}"
    shell(acl, "delete", "0")
    for name in ("dnsmasq", "ipxe", "farblock"):
        done = section(shell, lun, f"section={name}")
        check(done.returncode and not done.stdout and "(initiator=NAME)" in done.stderr, done)
    check("Warning: no ACL maps this LUN" in done.stderr, done)
    check(section(shell, lun, "section=grub").stdout, "a section without a name in it")
    check(f'"{HOST}"' in section(shell, lun, "section=dnsmasq", f"initiator={HOST}").stdout, "named")
    shell(acl, "create", "0", "0")


def what_dnsmasq_cannot_carry_is_left_out(shell, group):
    acl, lun = f"{group}/acls/{HOST}", f"{group}/luns/lun0"
    for user in ('a"b', "a\\b"):
        shell(acl, "set", "auth", f"userid={user}")
        done = section(shell, lun, "section=dnsmasq")
        check(done.returncode and not done.stdout and "no lines for dnsmasq" in done.stderr, done)
        check("dnsmasq" not in ways(shell, lun)["TCP"], user)
        warned(shell, group, "no lines for dnsmasq")
    shell(acl, "set", "auth", "userid=machine")
    odd = 'iqn.2025-03.net.example:a"b'
    check("dnsmasq" not in ways(shell, lun, f"initiator={odd}")["TCP"], odd)


def what_exceeds_an_option_of_dhcp_is_left_out(shell, group):
    """An option has 255 bytes, one in an encapsulation 253."""
    acl, lun = f"{group}/acls/{HOST}", f"{group}/luns/lun0"
    for key, other in (("userid", "machine"), ("mutual_userid", "")):
        secret = [] if other else [f"mutual_password={OTHER}"]
        for size in (253, 254, 255):
            shell(acl, "set", "auth", f"{key}={'u' * size}", *secret)
            way = ways(shell, lun)["TCP"]
            check(("dnsmasq" in way) == (size == 253) and "ipxe" in way, f"{key} of {size} bytes: {way}")
            if size > 253:
                warned(shell, group, "bytes, must be at most 253")
        check("no lines for dnsmasq" in section(shell, lun, "section=dnsmasq").stderr, key)
        shell(acl, "set", "auth", f"{key}={other}", *(["mutual_password="] if secret else []))
    for size in (200, 201):
        target = "iqn.2025-03.net.example:".ljust(size, "x")
        shell("/iscsi", "create", target)
        shell(f"/iscsi/{target}/tpg1/luns", "create", "/backstores/ramdisk/root")
        shell(f"/iscsi/{target}/tpg1/portals", "create", MISSING_6)
        told = info(shell, f"/iscsi/{target}/tpg1/luns/lun0", f"portal={MISSING_6}")
        way = told["ways"][0]
        check(len(way["root_path"][0]) == size + 55 and ("dnsmasq" in way) == (size == 200), way)
        check(bool([w for w in told["warnings"] if "the root path" in w]) == (size == 201), told)
        shell("/iscsi", "delete", target)


def dnsmasq_has_this_limit(scratch):
    try:
        program = farblock.program("dnsmasq")
    except Skip:
        return
    for option, most in (("17", 255), ("encap:175,190", 253)):
        for size in (most, most + 1):
            path = scratch.file("long.conf", content=f'dhcp-option=tag:ipxe,{option},"{"x" * size}"\n')
            done = subprocess.run([program, "--test", "-C", path], capture_output=True, text=True, check=False)
            check((not done.returncode) == (size == most), f"{option}, {size} bytes: {done.stderr}")


def a_line_for_grub_runs_no_command(shell, group):
    lun, portal = f"{group}/luns/lun0", f"portal={ADDRESS_6}"
    shell(f"{group}/portals", "create", ADDRESS_6)
    for end in ("$(id>&2)", "`id`", "\\x", "'x", ";x"):
        words = [lun, portal, f"initiator={HOST}{end}"]
        done = section(shell, *words, "section=grub")
        check(done.returncode and not done.stdout and "no line for GRUB" in done.stderr, done)
        check("no line for GRUB" not in section(shell, *words, "section=root_path").stderr, "another section")
        warned(shell, group, "no line for GRUB", *words[1:])
    quote = section(shell, lun, portal, f'initiator={HOST}"x', "section=grub")
    check(quote.returncode and not quote.stdout, quote)
    check(section(shell, lun, portal, "section=grub").stdout, "an ordinary name")
    shell(f"{group}/portals", "delete", ADDRESS_6, "3260")


def what_ipxe_reads_otherwise_is_left_out(shell, group):
    acl, lun = f"{group}/acls/{HOST}", f"{group}/luns/lun0"
    for user in ("a${ip}", "a #1", "a  b", " a", "a ", "a || b", "a && b", "a ; b", "-a"):
        shell(acl, "set", "auth", f"userid={user}")
        done = section(shell, lun, "section=ipxe")
        check(done.returncode and not done.stdout and "no iPXE script" in done.stderr, f"{user}: {done}")
        warned(shell, group, "no iPXE script")
    for user in ("a$b", "a machine", "a#1", "a;b", "a\"b", "a-b"):
        shell(acl, "set", "auth", f"userid={user}")
        check(f"set username {user}" in section(shell, lun, "section=ipxe").stdout.splitlines(), user)
    shell(acl, "set", "auth", "userid=machine")


def kernel_words_have_no_blanks(shell, group):
    lun = f"{group}/luns/lun0"
    with_chap = {"dracut", "initramfs_tools", "farblock_initiator"}
    for user in ("a machine", 'a"machine'):
        shell(f"{group}/acls/{HOST}", "set", "auth", f"userid={user}")
        way = ways(shell, lun)["TCP"]
        check(not with_chap & set(way) and "farblock" in way and "farblock_ibft" in way, way)
        warned(shell, group, "no kernel command lines with this name")
    shell(f"{group}/acls/{HOST}", "set", "auth", "userid=machine")
    check(with_chap < set(ways(shell, lun)["TCP"]), "an ordinary name")
    way = ways(shell, lun, f'initiator={HOST}"x')["TCP"]
    check(not (with_chap | {"farblock"}) & set(way), way)


def a_waiting_portal_has_no_lines_while_another_listens(shell, group):
    lun = f"{group}/luns/lun0"
    shell(f"{group}/portals", "create", MISSING)
    told = info(shell, lun)
    check({way["portal"] for way in told["ways"]} == {f"{ADDRESS}:3260"}, told["ways"])
    warned(shell, group, f"{MISSING}:3260 is waiting")
    check(ADDRESS in section(shell, lun, "section=root_path").stdout, "a section")
    told = info(shell, lun, f"portal={MISSING}")
    check({way["portal"] for way in told["ways"]} == {f"{MISSING}:3260"}, told["ways"])
    shell(f"{group}/portals", "delete", ADDRESS, "3260")
    check(info(shell, lun)["ways"] == told["ways"], "nothing listens")
    shell(f"{group}/portals", "create", ADDRESS)
    shell(f"{group}/portals", "delete", MISSING, "3260")


def several_paths_are_what_attach_takes(shell, group):
    """16 URLs, and a kernel command line of 2047 characters."""
    ports = [str(port) for port in range(4001, 4018)]
    for port in ports:
        shell(f"{group}/portals", "create", ADDRESS, port)
    for user, fewest, most in (("machine", 16, 16), ("m" * 200, 4, 8)):
        shell(f"{group}/acls/{HOST}", "set", "auth", f"userid={user}")
        way = ways(shell, group)["several paths"]
        words = way["farblock_initiator"][0]
        count = words.count("farblock.root=user:iscsi://")
        check(fewest <= count <= most and len(words) < 1600, f"{count} of {len(words)} characters: {words}")
        script = way["ipxe"][-1].split()
        check(script[0] == "sanboot" and len(script) == 1 + count, script)
        warned(shell, group, f"the lines have {count} of 18 paths")
    shell(f"{group}/acls/{HOST}", "set", "auth", "userid=machine")
    for port in ports:
        shell(f"{group}/portals", "delete", ADDRESS, port)
    check("several paths" not in ways(shell, group), "one portal")


def a_portal_is_chosen(shell, group):
    """On a server with two interfaces."""
    run(["ip", "link", "add", "eth0", "type", "veth", "peer", "name", "other"])
    run(["ip", "link", "add", "eth1", "type", "veth", "peer", "name", "machines"])
    for name, address in (("eth0", "198.51.100.1"), ("eth1", "192.0.2.1")):
        run(["ip", "address", "add", f"{address}/24", "dev", name])
        run(["ip", "link", "set", name, "up"])
    run(["ip", "link", "set", "machines", "up"])
    lun = f"{group}/luns/lun0"
    shell(f"{group}/portals", "delete", ADDRESS, "3260")
    shell(f"{group}/portals", "create", "0.0.0.0", "3260")
    check("198.51.100.1" in section(shell, lun, "section=root_path").stdout, "the first")
    warned(shell, group, "listens on all addresses")
    for portal in ("192.0.2.1", "192.0.2.1:3260"):
        told = info(shell, lun, f"portal={portal}")
        check({way["portal"] for way in told["ways"]} == {"192.0.2.1:3260"}, told["ways"])
        check(not [w for w in told["warnings"] if "listens on all" in w], told["warnings"])
    check(info(shell, lun, "portal=0.0.0.0:3260")["ways"] == info(shell, lun)["ways"], "by its name")
    for portal in ("192.0.2.77", "192.0.2.1:3261"):
        shell("boot-info", lun, f"portal={portal}", status=3,
              text="but at: 198.51.100.1:3260, 192.0.2.1:3260")
    shell("boot-info", lun, "portal=nonsense", status=8, text="portal: ")
    shell(f"{group}/portals", "create", "127.0.0.1", "3300")
    check(not [w for w in info(shell, lun, "portal=192.0.2.1")["warnings"] if "loopback" in w],
          "a warning of another portal")
    shell(f"{group}/portals", "delete", "127.0.0.1", "3300")


def a_mac_is_checked(shell, group):
    lun, mac = f"{group}/luns/lun0", "52:54:00:AB:34:56"
    for wrong in ("", "52:54:00:12:34", "52-54-00-12-34-56", "52:54:00:12:34:5g", "52:54:00:12:34:*",
                  "52:54:00:12:34:56:78", "01:00:5e:00:00:01", "ff:ff:ff:ff:ff:ff",
                  "00:00:00:00:00:00"):
        shell("boot-info", lun, f"mac={wrong}", status=8, text="mac: ")
    done = section(shell, lun, "section=dnsmasq", f"mac={mac}")
    tag = "machine-525400ab3456"
    check(f"dhcp-host={mac.lower()},set:{tag}" in done.stdout.splitlines(), done)
    check("every iPXE machine" not in done.stderr, done)
    options = [line for line in done.stdout.splitlines() if line.startswith("dhcp-option=")]
    check(len(options) == 4 and all(f"=tag:ipxe,tag:{tag}," in line for line in options), options)
    tags = {re.search("set:([^,]*)$", section(shell, lun, "section=dnsmasq", f"initiator={HOST}{end}",
                                              f"mac=52:54:00:12:34:{number}").stdout, re.M)[1]
            for number, end in ((10, ".1"), (11, "-1"))}
    check(len(tags) == 2, f"two machines by {tags}")


class Dnsmasq(Process):
    """The DHCP server of eth1."""

    def __init__(self, scratch, lines):
        super().__init__(scratch, "dnsmasq")
        self.path = scratch.file("running.conf", content="\n".join(lines) + "\n")

    def start(self):
        self.spawn([farblock.program("dnsmasq"), "--no-daemon", "--port=0",
                    "--leasefile-ro", "--no-ping", "--log-facility=-", "--log-dhcp", "--pid-file=",
                    f"--conf-file={self.path}"])
        return self


def options_of(data):
    found, at = {}, 0
    while at < len(data) and data[at] != 255:
        if data[at]:
            found[data[at]] = data[at + 2:at + 2 + data[at + 1]]
            at += data[at + 1] + 1
        at += 1
    return found


def discover(mac):
    """The options that a machine with iPXE is offered at the other end of eth1."""
    hardware = bytes.fromhex(mac.replace(":", ""))
    ask = struct.pack("!BBBBIHH16x16s192x", 1, 1, 6, 0, 77, 0, 0x8000, hardware)
    ask += b"\x63\x82\x53\x63" + b"\x35\x01\x01" + b"\x37\x03\x11\xcb\xaf" + b"\xaf\x03\x15\x01\x01\xff"
    udp = struct.pack("!HHHH", 68, 67, 8 + len(ask), 0) + ask
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes(4), INFINITE)
    total = sum(struct.unpack("!10H", head))
    head = head[:10] + struct.pack("!H", ~(total % 0xffff) & 0xffff) + head[12:]
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x800)) as wire:
        wire.bind(("machines", 0))
        wire.settimeout(1)
        for _ in range(30):
            wire.send(b"\xff" * 6 + hardware + b"\x08\x00" + head + udp)
            try:
                while True:
                    packet = wire.recv(2048)
                    if packet[23] == 17 and packet[34:38] == b"\x00\x43\x00\x44" \
                            and packet[70:76] == hardware:  # not a late offer to another
                        return options_of(packet[42 + 240:])
            except TimeoutError:
                continue
    raise Failure(f"{mac} is offered nothing")


def words_of_the_document():
    """Of its command for dnsmasq: the lines before those of boot-info, and the words of this."""
    with open(DOCUMENT, encoding="utf-8") as file:
        found = re.search(r"^    .*printf '%s\\n' (.*); farblock boot-info \S+ (.*) \| sed", file.read(),
                          re.M)
    return found[1].split(), found[2].split()


def each_machine_is_offered_its_own_disk(scratch, shell, group):
    """By the document's command, and the lines of a second machine."""
    try:
        farblock.program("dnsmasq")
    except Skip:
        print("no dnsmasq: its offers are not tried")
        return
    lun, acl, other = f"{group}/luns/lun0", f"{group}/acls/{HOST}", f"{HOST}-2"
    first, words = words_of_the_document()
    shell(acl, "set", "auth", "userid=a, machine #1")
    lines = first + section(shell, lun, f"initiator={HOST}", *words).stdout.splitlines()
    shell(acl, "set", "auth", "userid=machine")
    lines += section(shell, lun, f"initiator={other}", *[re.sub("34:56$", "34:57", w) for w in words],
                     ).stdout.splitlines()
    with Dnsmasq(scratch, lines) as server:
        try:
            one, two, none = (discover(f"52:54:00:12:34:{end}") for end in (56, 57, 58))
        except Failure as why:
            raise Failure(f"{why}\n{server.log()[-2000:]}") from None
    root = f"iscsi:192.0.2.1::3260:0:{TARGET}".encode()
    check(one[17] == root and one[203] == HOST.encode(), one)
    check(options_of(one[175])[190] == b"a, machine #1", one)
    check(two[17] == root and two[203] == other.encode(), two)
    check(17 not in none and 203 not in none, none)
    check(one[51] == two[51] == INFINITE, "a lease that ends")
    print("each machine is offered its own disk")


def a_lun_is_found_by_each_of_its_paths(shell, group):
    expected = info(shell, f"{group}/luns/lun0")
    check(expected["initiator"] == HOST and expected["user"] == "machine", expected)
    for path in (f"{group}/acls/{HOST}/mapped_lun0", "/backstores/ramdisk/root", group,
                 f"/iscsi/{TARGET}"):
        check(info(shell, path) == expected, path)
    check(json.loads(shell("--json", f"{group}/luns/lun0", "boot-info")) == expected, "as a command")
    check(info(shell, f"{group}/luns/lun0", f"--initiator={HOST.upper()}") == expected, "capitals")
    shell("boot-info", f"{group}/acls", status=8)
    shell("boot-info", f"{group}/luns/lun7", status=3)


def warned(shell, group, text, *words):
    found = [w for w in info(shell, f"{group}/luns/lun0", *words)["warnings"] if text in w]
    check(len(found) == 1, f"{text}: {info(shell, group, *words)['warnings']}")
    return found[0]


def what_prevents_a_boot_is_a_warning(shell, group):
    acl = f"{group}/acls/{HOST}"
    changes = (
        ([acl, "set", "attribute", "dataout_timeout=3", "dataout_timeout_retries=1"],
         [acl, "set", "attribute", "dataout_timeout=3", "dataout_timeout_retries=5"],
         "owes data for 3 s"),
        ([acl, "set", "attribute", "nopin_timeout=5"], [acl, "set", "attribute", "nopin_timeout=15"],
         "stands still for 35 s"),
        ([acl, "set", "auth", "userid="], [acl, "set", "auth", "userid=machine"],
         "CHAP is required and has no name or secret"),
        ([acl, "set", "auth", "userid=a machine"], [acl, "set", "auth", "userid=machine"],
         "the CHAP name 'a machine' has blanks"),
        ([group, "set", "attribute", "chap_algorithms=128"],
         [group, "set", "attribute", "chap_algorithms=480"], "has no MD5"),
        ([group, "set", "attribute", "allowed_addresses=192.0.2.0/24"],
         [group, "set", "attribute", "allowed_addresses="], "only 192.0.2.0/24 may log in"),
        (["/iscsi", "set", "discovery_auth", "userid=a", "password=abcdefghijkl", "enable=1"],
         ["/iscsi", "set", "discovery_auth", "enable=0"], "dracut's netroot="),
        ([group, "disable"], [group, "enable"], "is disabled"),
        ([f"{acl}", "delete", "0"], [f"{acl}", "create", "0", "0"], "does not map this LUN"),
        ([f"{group}/portals/{ADDRESS}:3260", "transport", "iser"],
         [f"{group}/portals/{ADDRESS}:3260", "transport", "all"], "iSER alone"),
        ([f"{group}/portals", "create", "198.51.100.1"],
         [f"{group}/portals", "delete", "198.51.100.1", "3260"], "198.51.100.1:3260 is waiting"),
        ([f"{group}/portals", "create", "127.0.0.1", "3300"],
         [f"{group}/portals", "delete", "127.0.0.1", "3300"], "a loopback address"),
        ([f"{group}/portals", "create", "0.0.0.0", "3300"],
         [f"{group}/portals", "delete", "0.0.0.0", "3300"], "none but loopback"),
    )
    for make_wrong, make_right, text in changes:
        plain = info(shell, group)["warnings"]
        shell(*make_wrong)
        warned(shell, group, text, f"initiator={HOST}")
        shell(*make_right)
        check(info(shell, group)["warnings"] == plain, f"{text}: it stays")
    check(f"({acl} preset boot)" in warned(shell, group, "owes data for 15 s"), "the cure")
    shell(acl, "preset", "boot")
    check(not [w for w in info(shell, group)["warnings"] if "loses its session" in w], "preset boot")
    warned(shell, group, "no ACL admits iqn.2025-03.net.example:other",
           "initiator=iqn.2025-03.net.example:other")
    check("root path cannot" not in shell("boot-info", group), "an ordinary name")
    odd = "iqn.2025-03.net.example:50%25"
    shell(f"{group}/acls", "create", odd)
    warned(shell, group, "firmware may read otherwise", f"initiator={odd}")
    warned(shell, group, "2 ACLs map this LUN")
    shell(f"{group}/acls", "delete", odd)
    print("each warning appears with its cause, and goes with it")


def luns_are_hexadecimal_to_firmware_and_decimal_to_linux(shell, group):
    acl = f"{group}/acls/{HOST}"
    shell(acl, "delete", "0")
    shell(acl, "create", "12", "0", "write_protect=true")
    told = info(shell, group)
    way = told["ways"][0]
    check(told["lun"] == 12 and told["read_only"], told)
    check(f":c:{TARGET}" in way["root_path"][0] and f":12:{TARGET}" in way["dracut"][0], way)
    warned(shell, group, "LUN 12 is c to firmware")
    warned(shell, group, "is read-only for")
    shell(acl, "delete", "12")
    shell(acl, "create", "0", "0")


def srp_lines_are_those_of_its_portals(shell, config):
    target = config.srp
    port = shell_json(shell, f"{target.path}/portals/127.0.0.1:{target.port}", "info")
    lun = f"{target.path}/luns/lun0"
    way = ways(shell, lun)["SRP"]
    check(ways(shell, lun, "portal=127.0.0.1")["SRP"] == way, "portal=")
    shell("boot-info", lun, f"portal={ADDRESS}", status=3, text=f"but at: 127.0.0.1:{target.port}")
    shell("boot-info", lun, "mac=52:54:00:12:34:56", status=8, text="no lines for dnsmasq")
    told = info(shell, f"{target.path}/luns/lun0")["warnings"]
    check([w for w in told if "blocks have 4096 bytes" in w], told)
    attach = port["attach"][0]
    words = way["farblock"][0].split()
    check(words[0].startswith(f"farblock.root=srp:{attach['add_target']},initiator_ext="), words)
    check(way["farblock_initiator"][0].split()[0] == f"farblock.root=user:{attach['url']}", way)


def several_srp_paths_have_a_name_each(shell, config):
    """ib_srp logs in to a target once under one name."""
    words = ways(shell, f"{config.paths.path}/luns/lun0")["several paths"]["farblock"][0].split()
    check(len(words) == 3 and words[2] == "ip=dhcp", words)
    check([word[-30:] for word in words[:2]] == [f"initiator_ext={n:016x}" for n in (1, 2)], words)
    for portal in (0, 1):  # in the order of their names
        check(any(word.startswith(f"farblock.root=srp:{config.paths.add_target(portal)},") for word in words),
              words)
    check(not [w for w in info(shell, config.paths.path)["warnings"] if "several paths" in w], "an address")
    acls = f"{config.paths.path}/acls"
    shell(acls, "create", PORT)
    told = info(shell, config.paths.path, f"initiator={PORT}")
    check([w for w in told["warnings"] if w.startswith("several paths need as many ports")], told)


def several_srp_paths_are_what_attach_takes(shell, config):
    told = info(shell, config.many.path)
    way = told["ways"][-1]
    for name, word in (("farblock", "farblock.root=srp:"), ("farblock_initiator", "farblock.root=user:srp://")):
        count = way[name][0].count(word)
        check(2 < count <= 16 and len(way[name][0]) < 1600, f"{name}: {count}: {way[name]}")
        check(way[name][0].endswith(" ip=dhcp"), way)
    count = way["farblock"][0].count("farblock.root=")
    check([w for w in told["warnings"] if f"the lines have {count} of 18 paths" in w], told["warnings"])
    user = ways(shell, config.paths.path)["several paths"]["farblock_initiator"][0].split()
    check(len(user) == 3 and len(set(user)) == 3, user)


def a_waiting_srp_portal_is_no_path(shell, config):
    """Such as one on an address of which 0.0.0.0 has the port."""
    told = info(shell, config.waiting.path)
    check([w for w in told["warnings"] if "is waiting" in w], told["warnings"])
    check([way["transport"] for way in told["ways"]] == ["SRP"], told["ways"])
    port, target = config.everywhere.port, config.everywhere.path
    told = info(shell, target)
    check([w for w in told["warnings"] if f"192.0.2.1:{port} is waiting" in w], told["warnings"])
    words = [way for way in told["ways"] if way["transport"] == "several paths"][0]["farblock"][0].split()
    reached = sorted(re.search(",dest=([^,]*)", word)[1] for word in words if ",dest=" in word)
    check(reached == [f"192.0.2.1:{port}", f"198.51.100.1:{port}"], words)


def an_srp_address_is_one_path(shell, config):
    """That of two portals, which both wait here since the port is taken."""
    told = info(shell, config.taken.path)
    check(len([w for w in told["warnings"] if "is waiting" in w]) == 2, told["warnings"])
    way = [way for way in told["ways"] if way["transport"] == "several paths"][0]
    for name in ("farblock", "farblock_initiator"):
        words = [word for word in way[name][0].split() if "192.0.2.1:" in word]
        check(len(words) == 1, f"{name}: {way}")


def shell_json(shell, *words):
    return json.loads(shell("--json", *words))


def export_prints_it_too(scratch, shell):
    words = ["export", scratch.file("exported.img"), f"to={HOST}", "size=1M", f"target={TARGET}2",
             f"portal={ADDRESS}:3261"]
    told = json.loads(shell("--json", *words, "--boot"))
    acl = json.loads(shell("--json", f"/iscsi/{TARGET}2/tpg1/acls/{HOST}", "info"))
    check(acl["preset"] == "boot", acl)
    check(told["boot"] == [info(shell, f"/iscsi/{TARGET}2/tpg1/luns/lun0")], told)
    text = shell("export", scratch.file("second.img"), *words[2:], "boot=true")
    secret = told["secret"]
    check("To boot from it:" in text and secret not in text.split("To boot from it:")[1], text)
    check("iPXE script:" not in shell("export", scratch.file("third.img"), *words[2:]), "unasked")


def main():
    in_namespace()
    with Scratch() as scratch:
        config = Config()
        config.srp = config.srp_target([config.ramdisk("srp", 1 << 20, attributes={"block_size": 4096})])
        config.paths = config.srp_target([config.ramdisk("paths", 1 << 20)], acls=("192.0.2.7",), portals=2,
                                         wwn="ib.fe80000000000000020c29fffe3a1102")
        config.many = config.srp_target([config.ramdisk("many", 1 << 20)], acls=("192.0.2.7",), portals=18,
                                        wwn="ib.fe80000000000000020c29fffe3a1103")
        port = farblock.free_port()
        config.waiting = config.srp_target([config.ramdisk("waiting", 1 << 20)],
                                           portals=[("127.0.0.1", port), (MISSING, port)],
                                           wwn="ib.fe80000000000000020c29fffe3a1104")
        port = farblock.free_port()
        config.everywhere = config.srp_target([config.ramdisk("everywhere", 1 << 20)],
                                              portals=[("0.0.0.0", port), ("192.0.2.1", port)],
                                              wwn="ib.fe80000000000000020c29fffe3a1105")
        taken = socket.create_server(("0.0.0.0", 0))
        port = taken.getsockname()[1]
        config.taken = config.srp_target([config.ramdisk("taken", 1 << 20)],
                                         portals=[("0.0.0.0", port), ("192.0.2.1", port)],
                                         wwn="ib.fe80000000000000020c29fffe3a1106")
        with taken, Farblockd(scratch, config) as daemon:
            shell = Shell(daemon)
            group = make(shell)
            a_section_is_printed_alone(shell, group)
            a_section_without_a_name_is_refused(shell, group)
            what_dnsmasq_cannot_carry_is_left_out(shell, group)
            what_exceeds_an_option_of_dhcp_is_left_out(shell, group)
            dnsmasq_has_this_limit(scratch)
            a_line_for_grub_runs_no_command(shell, group)
            what_ipxe_reads_otherwise_is_left_out(shell, group)
            kernel_words_have_no_blanks(shell, group)
            a_waiting_portal_has_no_lines_while_another_listens(shell, group)
            several_paths_are_what_attach_takes(shell, group)
            a_mac_is_checked(shell, group)
            a_lun_is_found_by_each_of_its_paths(shell, group)
            kernel_words_are_those_of_the_transport(shell, group)
            lines_of_ipv6_have_its_words(shell, group)
            farblock_initiator_takes_the_urls(scratch, shell, group)
            what_prevents_a_boot_is_a_warning(shell, group)
            luns_are_hexadecimal_to_firmware_and_decimal_to_linux(shell, group)
            dnsmasq_takes_the_lines(scratch, shell, group)
            srp_lines_are_those_of_its_portals(shell, config)
            several_srp_paths_have_a_name_each(shell, config)
            several_srp_paths_are_what_attach_takes(shell, config)
            export_prints_it_too(scratch, shell)
            a_machine_boots_by_the_printed_script(scratch, shell, group)
            a_portal_is_chosen(shell, group)
            a_waiting_srp_portal_is_no_path(shell, config)
            an_srp_address_is_one_path(shell, config)
            each_machine_is_offered_its_own_disk(scratch, shell, group)
    return 0


if __name__ == "__main__":
    farblock.main(main)
