# SPDX-License-Identifier: BSD-2-Clause
"""The table of a firmware (iBFT) for a machine in QEMU, with what no firmware here writes, such as a
VLAN. Layouts are those of IBM's iSCSI Boot Firmware Table 1.02. QEMU writes the header of ACPI; offsets
count from its begin."""

import ipaddress
import struct

RESERVED = bytes(12)  # after the header of ACPI
CONTROL_AT, REST_AT, ALIGNMENT = 48, 72, 8
CONTROL, INITIATOR, NIC, TARGET = 1, 2, 3, 4
USED = 3  # flags: valid, and booted from
STATIC = 1  # origin of an address
NO_ADDRESS = bytes(16)


def address(text):
    """IPv4, in the form of IPv6."""
    return ipaddress.IPv6Address(f"::ffff:{text}").packed


def section(kind, flags, layout, *values):
    body = struct.pack(f"<{layout}", *values)
    return struct.pack("<BBHBB", kind, 1, 6 + len(body), 0, flags) + body


def initiator_section(name):
    return section(INITIATOR, USED, "16s16s16s16sHH", *[NO_ADDRESS] * 4, *name)


def nic_section(interface, mac, vlan):
    """Without gateway, DNS, DHCP server, place on the PCI bus, host name."""
    mine = ipaddress.ip_interface(interface)
    return section(NIC, USED, "16sBB16s16s16s16sH6sHHH", address(mine.ip), mine.network.prefixlen,
                   STATIC, *[NO_ADDRESS] * 4, vlan, bytes.fromhex(mac.replace(":", "")), 0, 0, 0)


def target_section(portal, name):
    """LUN 0, by the NIC 0, without CHAP."""
    host, port = portal
    return section(TARGET, USED, "16sH8sBBHH16s", address(host), port, bytes(8), 0, 0, *name,
                   bytes(16))


class Heap:
    """Takes parts one after the other."""

    def __init__(self):
        self.bytes = b""

    def put(self, part):
        """Returns its offset."""
        at = REST_AT + len(self.bytes)
        self.bytes += part + bytes(-len(part) % ALIGNMENT)
        return at

    def text(self, text):
        """Returns its length and offset."""
        return len(text), self.put(text.encode() + b"\0")


def table(initiator, interface, mac, vlan, portal, target):
    """interface: ADDRESS/PREFIX; portal: (address, port); both others are names. Texts go first: Linux
    ignores sections that begin in the last 48 bytes."""
    heap = Heap()
    names = heap.text(initiator), heap.text(target)
    target_at = heap.put(target_section(portal, names[1]))
    nic_at = heap.put(nic_section(interface, mac, vlan))
    initiator_at = heap.put(initiator_section(names[0]))
    control = section(CONTROL, 0, "HHHHHH", 0, initiator_at, nic_at, target_at, 0, 0)
    return RESERVED + control.ljust(REST_AT - CONTROL_AT, b"\0") + heap.bytes
