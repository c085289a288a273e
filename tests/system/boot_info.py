#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""boot-info: a machine boots by the iPXE script that it prints, dnsmasq takes its lines,
farblock-initiator its URLs, and what would keep a machine from booting is a warning. Runs in a
network namespace of its own, with an address that a virtual machine reaches, too."""

import concurrent.futures
import json
import os
import secrets
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import farblock  # noqa: E402
import ipxe_boot  # noqa: E402
import mbr  # noqa: E402
from farblock import Config, Farblockd, Scratch, Shell, Skip, check, eventually, run  # noqa: E402

ADDRESS = "192.0.2.10"  # not 127.0.0.1, which is another machine for the guest
HOST, TARGET = "iqn.2025-03.net.example:machine", "iqn.2025-03.net.example:roots"
SECRET, OTHER = "correct-horse-1", "correct-horse-2"
INSIDE = "FARBLOCK_TEST_NAMESPACE"


def in_namespace():
    """Starts itself again, with a loopback of its own that has ADDRESS."""
    if not os.environ.get(INSIDE):
        if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode:
            raise Skip("no network namespace")
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "-rn", sys.executable, *sys.argv])
    for words in (["link", "set", "lo", "up"], ["address", "add", f"{ADDRESS}/24", "dev", "lo"]):
        run(["ip", *words])


def info(shell, *words):
    return json.loads(shell("--json", "boot-info", *words))


def ways(shell, *words):
    """By transport."""
    return {way["transport"]: way for way in info(shell, *words)["ways"]}


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
    for lines in sections:
        path = scratch.file("dnsmasq.conf", content="\n".join(lines) + "\n")
        done = subprocess.run([program, "--test", "-C", path], capture_output=True, text=True)
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


def a_section_is_printed_alone(shell, group):
    lun = f"{group}/luns/lun0"
    lines = ways(shell, group)["TCP"]["dnsmasq"]
    check(shell("boot-info", lun, "section=dnsmasq").splitlines() == lines, lines)
    shell("boot-info", lun, "section=nonsense", status=3, text="no section 'nonsense'")


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
    way = ways(shell, f"{target.path}/luns/lun0")["SRP"]
    told = info(shell, f"{target.path}/luns/lun0")["warnings"]
    check([w for w in told if "blocks have 4096 bytes" in w], told)
    attach = port["attach"][0]
    words = way["farblock"][0].split()
    check(words[0].startswith(f"farblock.root=srp:{attach['add_target']},initiator_ext="), words)
    check(way["farblock_initiator"][0].split()[0] == f"farblock.root=user:{attach['url']}", way)


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
        with Farblockd(scratch, config) as daemon:
            shell = Shell(daemon)
            group = make(shell)
            a_section_is_printed_alone(shell, group)
            a_lun_is_found_by_each_of_its_paths(shell, group)
            kernel_words_are_those_of_the_transport(shell, group)
            farblock_initiator_takes_the_urls(scratch, shell, group)
            what_prevents_a_boot_is_a_warning(shell, group)
            luns_are_hexadecimal_to_firmware_and_decimal_to_linux(shell, group)
            dnsmasq_takes_the_lines(scratch, shell, group)
            srp_lines_are_those_of_its_portals(shell, config)
            export_prints_it_too(scratch, shell)
            a_machine_boots_by_the_printed_script(scratch, shell, group)
    return 0


if __name__ == "__main__":
    farblock.main(main)
