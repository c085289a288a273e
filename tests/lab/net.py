# SPDX-License-Identifier: BSD-2-Clause
"""The network between the daemon and the guest: a tap device in a network namespace that the
run has for itself, so that the addresses and ports here do not collide with others and SendTargets
tells the guest the very addresses it can reach."""

import os

import farblock

TAP = "lab0"
HOSTS = ("10.77.0.1", "10.77.1.1")  # two addresses for two paths, over the one device
HOST6 = "fd00:fa::1"
GUESTS = ("10.77.0.2", "10.77.1.2")  # where the guest is the target too
GUEST6 = "fd00:fa::2"
PORT = 3260


class Tap:
    """The guest's side."""

    guest, gateway = f"{GUESTS[0]}/24", HOSTS[0]

    @staticmethod
    def options():
        return ["-netdev", f"tap,id=net0,ifname={TAP},script=no,downscript=no",
                "-device", "virtio-net-pci,netdev=net0"]


def enter(arguments):
    """Runs this program again in a network namespace of its own."""
    if not os.path.exists("/dev/net/tun"):
        raise farblock.Skip("there is no /dev/net/tun (modprobe tun)")
    unshare = [farblock.program("unshare"), "--net"]
    if os.geteuid():
        unshare += ["--user", "--map-root-user"]
    done = farblock.run([*unshare, "true"], check=False)
    if done.returncode:
        raise farblock.Skip(f"no network namespace can be made: {done.stdout.strip()}")
    os.environ["FARBLOCK_LAB_INSIDE"] = "1"
    os.execv(unshare[0], [*unshare, *arguments])


def ip(*words):
    return farblock.run(["ip", *words])


def up():
    ip("link", "set", "lo", "up")
    done = farblock.run(["ip", "tuntap", "add", "dev", TAP, "mode", "tap"], check=False)
    if done.returncode:
        raise farblock.Skip(f"no tap device can be made: {done.stdout.strip()}")
    for host in HOSTS:
        ip("addr", "add", f"{host}/24", "dev", TAP)
    ip("-6", "addr", "add", f"{HOST6}/64", "dev", TAP, "nodad")
    ip("link", "set", TAP, "up")


def cut_address(host, is_cut):
    """One of the addresses of this side, taken away without a word and given back."""
    ip("addr", "del" if is_cut else "add", f"{host}/24", "dev", TAP)


def cut(is_cut):
    """The cable between the two, pulled or plugged in."""
    ip("link", "set", TAP, "down" if is_cut else "up")
    if not is_cut:  # the kernel drops IPv6 addresses with the link
        farblock.run(["ip", "-6", "addr", "replace", f"{HOST6}/64", "dev", TAP, "nodad"])
