#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""doctor, on machines that are prepared folders: a fabric that is well, each illness alone with
the words that name it and its cure, and files of unexpected content; and against a daemon:
the self-test, and a portal as a remote one."""

import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402

HCA = "/sys/class/infiniband/mlx4_0"
PORT = f"{HCA}/ports/1"
ROCE = "/sys/class/infiniband/mlx5_1/ports/1"
WELL = {
    f"{HCA}/hca_type": "MT26428", f"{HCA}/fw_ver": "2.9.1000", f"{HCA}/board_id": "MT_0D81110009",
    f"{HCA}/node_desc": "san7 HCA-1",
    f"{HCA}/device/current_link_speed": "5.0 GT/s PCIe",
    f"{HCA}/device/max_link_speed": "5.0 GT/s PCIe",
    f"{HCA}/device/current_link_width": "8", f"{HCA}/device/max_link_width": "8",
    f"{PORT}/state": "4: ACTIVE", f"{PORT}/phys_state": "5: LinkUp",
    f"{PORT}/link_layer": "InfiniBand", f"{PORT}/lid": "0x2", f"{PORT}/sm_lid": "0x1",
    f"{PORT}/cap_mask": "0x025b4868", "/sys/module/ib_srp/parameters/use_imm_data": "Y",
    f"{PORT}/rate": "40 Gb/sec (4X QDR)", f"{PORT}/pkeys/0": "0xffff", f"{PORT}/pkeys/1": "0x0000",
    f"{PORT}/gids/0": "fe80:0000:0000:0000:0002:c903:000a:1b2d",
    f"{PORT}/counters/symbol_error": "0",
    "/sys/class/infiniband_verbs/uverbs0/ibdev": "mlx4_0",
    "/sys/class/infiniband_verbs/uverbs1/ibdev": "mlx5_1",
    "/dev/infiniband/uverbs0": "", "/dev/infiniband/uverbs1": "", "/dev/infiniband/rdma_cm": "",
    "/sys/class/infiniband/mlx5_1/fw_ver": "16.35", f"{ROCE}/state": "4: ACTIVE",
    "/sys/class/infiniband/mlx5_1/node_desc": "san7 mlx5_1",
    f"{ROCE}/phys_state": "5: LinkUp", f"{ROCE}/link_layer": "Ethernet",
    f"{ROCE}/rate": "100 Gb/sec (4X EDR)", f"{ROCE}/gid_attrs/ndevs/0": "eth2",
    f"{ROCE}/gid_attrs/types/0": "IB/RoCE v1", f"{ROCE}/gid_attrs/types/1": "RoCE v2",
    "/sys/class/net/eth2/mtu": "9000", "/sys/class/net/eth2/type": "1",
    "/sys/class/net/ib0/type": "32", "/sys/class/net/ib0/mode": "connected",
    "/sys/class/net/ib0/mtu": "65520", "/sys/class/net/ib0/operstate": "up",
    "/proc/net/route": "Iface\tDestination\nib0\t00007F0A\t00000000\n",
    "/proc/net/if_inet6": "fd00 03 40 00 80     eth2\n", "/etc/hosts": "127.0.1.1 san7\n",
    "/sys/class/net/ib0/device/infiniband/mlx4_0/x": "", "/sys/class/net/ib0/dev_port": "0",
    "/sys/class/net/ib0/pkey": "0xffff",
    "/sys/bus/pci/devices/0000:01:00.0/class": "0x020700",
    "/sys/bus/pci/devices/0000:01:00.0/infiniband/mlx4_0/x": "",
    "/sys/kernel/config/rdma_cm/mlx5_1/ports/1/default_roce_mode": "RoCE v2",
    "/dev/infiniband/umad0": "", f"{PORT}/counters/port_xmit_wait": "4711",
    "/sys/class/infiniband_mad/umad0/ibdev": "mlx4_0", "/sys/class/infiniband_mad/umad0/port": "1",
    "/sys/devices/system/cpu/cpu0/cpuidle/state0/latency": "2",
    "/proc/net/tcp": "  sl  local_address rem_address   st\n",
    "/proc/sys/kernel/hostname": "san7", "/proc/sys/kernel/osrelease": "6.12.1",
    "/proc/self/status": "Name:\tx\nCapEff:\t0000000000000000\n",
    "/proc/self/limits": "Max locked memory         unlimited            unlimited    bytes\n",
    "/lib/modules/6.12.1/modules.dep": "kernel/drivers/block/ublk_drv.ko.xz:\n",
    "/sys/module/ib_core/parameters/netns_mode": "Y",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance",
    "/etc/iscsi/initiatorname.iscsi": "InitiatorName=iqn.2025-03.org.example:san7\n",
}
# What is different on a machine, the check and verdict that tell, and a word of text or cure.
ILL = [
    ({f"{PORT}/state": "1: DOWN"}, "state", "fail", "no link"),
    ({f"{PORT}/state": "2: INIT", f"{PORT}/sm_lid": "0x0"}, "state", "fail", "opensm"),
    ({f"{PORT}/sm_lid": "0x0"}, "subnet", "fail", "opensm"),
    ({f"{PORT}/phys_state": "2: Polling"}, "cable", "fail", "cable"),
    ({f"{PORT}/phys_state": "1: Sleep"}, "cable", "fail", "ibportstate -C mlx4_0 -P 1 -D 0 1 enable"),
    ({f"{PORT}/phys_state": "3: Disabled"}, "cable", "fail", "ibportstate -C mlx4_0 -P 1 -D 0 1 enable"),
    ({f"{ROCE}/phys_state": "2: Polling"}, "link", "warn", "mlxconfig -d mlx5_1 set LINK_TYPE_P1=1"),
    ({f"{PORT}/phys_state": "2: Polling", f"{HCA}/device/mlx4_port1": "ib"}, "link", "warn",
     "echo eth > /sys/class/infiniband/mlx4_0/device/mlx4_port1"),
    ({f"{PORT}/phys_state": "4: PortConfigurationTraining"}, "cable", "warn", "cable"),
    ({f"{PORT}/phys_state": "6: LinkErrorRecovery"}, "cable", "warn", "cable"),
    ({f"{PORT}/rate": "10 Gb/sec (1X QDR)"}, "rate", "warn", "one of four lanes"),
    ({f"{PORT}/pkeys/0": "0x7fff"}, "pkey", "warn", "limited members"),
    ({f"{PORT}/counters/symbol_error": "17"}, "counters", "warn", "symbol_error 17"),
    ({f"{ROCE}/gid_attrs/types/1": None}, "gid", "warn", "RoCE v2"),
    ({"/sys/kernel/config/rdma_cm/mlx5_1/ports/1/default_roce_mode": "IB/RoCE v1"}, "gid", "warn",
     "echo 'RoCE v2' > /sys/kernel/config/rdma_cm/mlx5_1/ports/1/default_roce_mode"),
    ({"/proc/net/if_inet6": None}, "gid", "warn", "ip address add 192.0.2.1/24 dev eth2"),
    ({"/sys/class/net/eth2/mtu": "1500"}, "mtu", "warn", "1024 bytes"),
    ({"/sys/class/net/eth2/mtu": "1500", f"{ROCE}/gid_attrs/ndevs/0": None,
      f"{ROCE}/gid_attrs/ndevs/3": "eth2"}, "mtu", "warn", "ip link set dev eth2 mtu 9000"),
    ({"/sys/class/net/ib0/operstate": "down"}, "ipoib", "warn", "ip link set"),
    ({"/proc/net/route": ""}, "ipoib", "warn", "ip address add"),
    ({"/sys/class/net/ib0/mode": "datagram"}, "ipoib", "warn", "lost"),
    ({"/sys/class/net/ib0/mode": "datagram", "/sys/class/net/ib0/mtu": "2044"}, "ipoib", "warn", "mtu=5"),
    ({"/sys/class/net/ib0/pkey": "0x8001"}, "ipoib", "fail", "not a member"),
    ({"/sys/class/net/ib1/type": "32", "/sys/class/net/ib1/mode": "datagram",
      "/sys/class/net/ib1/mtu": "4092", "/sys/class/net/ib1/operstate": "up",
      "/proc/net/route": "ib0 1\nib1 1\n"}, "ipoib", "warn", "stall"),
    ({"/sys/module/target_core_mod/initstate": "live"}, "conflicts", "warn", "targetcli"),
    ({"/proc/net/tcp": "  sl\n   0: 00000000:0CBC 00000000:0000 0A 0\n"}, "conflicts", "warn", "tgtd"),
    ({"/sys/module/ib_srpt/initstate": "live"}, "conflicts", "warn", "modprobe -r ib_srpt"),
    ({f"{PORT}/cap_mask": "0x02534868"}, "srp", "warn", "farblock /srpt/TARGET info"),
    ({"/sys/class/infiniband_mad/umad0/port": "2"}, "srp", "warn", "modprobe ib_umad"),
    ({"/sys/module/ib_srp/parameters/use_imm_data": "N"}, "srp", "warn", "use_imm_data=Y"),
    ({"/sys/module/ib_srp/parameters/reconnect_delay": "off"}, "srp", "warn", "reconnect_delay=10"),
    ({"/sys/module/ib_srp/parameters/fast_io_fail_tmo": "off"}, "srp", "warn", "fast_io_fail_tmo"),
    ({"/sys/module/ib_isert/initstate": "live",
      "/proc/net/tcp": "  sl\n   0: 00000000:0CBC 00000000:0000 0A 0\n"}, "conflicts", "warn", "ss -ltnp"),
    ({"/proc/self/limits": "Max locked memory         8388608      8388608     bytes\n"},
     "memlock", "warn", "LimitMEMLOCK"),
    ({"/proc/sys/kernel/io_uring_disabled": "2"}, "modules", "fail", "sysctl"),
    ({f"{HCA}/device/current_link_width": "4"}, "pcie", "warn", "slot"),
    ({f"{HCA}/node_desc": "localhost"}, "firmware", "warn", "rdma-ndd"),
    ({"/sys/module/ib_core/parameters/netns_mode": "N"}, "netns", "warn", "container"),
    ({"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave"}, "power", "warn", "cpupower"),
    ({"/sys/devices/system/cpu/cpu0/cpuidle/state3/latency": "133"}, "power", "warn", "133 us"),
    ({"/sys/devices/system/node/node1/cpulist": "8-15", f"{HCA}/device/numa_node": "1"}, "pcie", "ok",
     "farblockd --cpus 8-15"),
    ({"/dev/infiniband/umad0": None}, "access", "skip", "ib_umad"),
    ({"/etc/hosts": "127.0.0.1 localhost san71\n"}, "names", "warn", "/etc/hosts"),
    ({"/sys/module/nf_tables/initstate": "live"}, "names", "ok", "4791"),
    ({"/sys/bus/pci/devices/0000:01:00.0/infiniband/mlx4_0/x": None,
      "/sys/bus/pci/drivers/mlx4_core/0000:01:00.0": ""}, "device", "fail", "modprobe mlx4_ib,"),
    ({"/dev/infiniband/rdma_cm": None}, "access", "fail", "rdma_ucm"),
    ({"/dev/infiniband/uverbs0": None}, "access", "fail", "ib_uverbs"),
    ({"/etc/iscsi/initiatorname.iscsi": "# nothing\n"}, "names", "warn", "iscsi-iname"),
    ({"/proc/sys/kernel/hostname": "localhost"}, "names", "warn", "hostnamectl"),
    ({"/sys/class/infiniband/mlx4_1/ports/1/link_layer": "InfiniBand",
      "/sys/class/infiniband/mlx4_1/ports/1/gids/0": "fe80:0000:0000:0000:0002:c903:000a:1b2e"},
     "prefix", "warn", "mlx4_0/1"),
    ("no device", "device", "skip", "rdma link add"),
    ("a card", "device", "fail", "modprobe mlx5_ib"),
]
HOSTILE = ["", "x" * 100000, "\0\0\0\0", "4", ":", "%s%n", "-1", "0x" + "f" * 40, "\xff\xfe"]


def machine(scratch, name, files):
    root = scratch.file(name)
    for path, content in files.items():
        if content is None:
            continue
        os.makedirs(os.path.dirname(root + path), exist_ok=True)
        with open(root + path, "w", encoding="latin-1") as out:
            out.write(content)
    return root


def doctor(root, check):
    """The findings, and the exit status."""
    done = subprocess.run([farblock.program("farblock"), "--json", "--socket", "/nonexistent/s",
                           "doctor", check, f"root={root}", "interval=0"], capture_output=True, text=True, timeout=60)
    if done.returncode not in (0, 1):
        raise farblock.Failure(f"doctor: status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout), done.returncode


def advises(f):
    """What is bad says why and what to do, of this machine and of no DEVICE."""
    fix = f.get("fix", "see cable" if "see cable" in f.get("why", "") else "")
    if f["verdict"] in ("warn", "fail") and not (f["what"] and f.get("why") and fix) or \
            any(word in fix for word in ("DEVICE", "NETDEV", "PORT ")):
        raise farblock.Failure(f"no advice: {f}")


def well(scratch):
    found, status = doctor(machine(scratch, "well", WELL), "all")
    bad = [f for f in found if f["verdict"] in ("warn", "fail")]
    if bad or status:
        raise farblock.Failure(f"a machine that is well: status {status}, {bad}")
    rate = [f["what"] for f in found if f["check"] == "rate" and f["object"] == "mlx4_0/1"]
    if rate != ["40 Gb/sec (4X QDR): at most 4.00 GB/s of data"]:
        raise farblock.Failure(f"rate: {rate}")
    print(len(found), "findings where all is well, none bad")


def ill(scratch):
    for number, (change, check, verdict, word) in enumerate(ILL):
        files = {**WELL, **change} if isinstance(change, dict) else {}
        if change == "a card":
            files = {"/sys/bus/pci/devices/0000:01:00.0/class": "0x020700",
                     "/sys/bus/pci/devices/0000:01:00.0/vendor": "0x15b3"}
        found, status = doctor(machine(scratch, f"ill{number}", files), check)
        told = [f for f in found if f["verdict"] == verdict and
                word in " ".join(f.get(k, "") for k in ("what", "why", "fix"))]
        for f in found:
            advises(f)
        if not told or status != (verdict == "fail"):
            raise farblock.Failure(f"{change}: {check}: status {status}, {found}")
    print(len(ILL), "illnesses found")


def rates(scratch):
    done = subprocess.run([farblock.program("farblock"), "--json", "doctor", "rates"],
                          capture_output=True, text=True, check=False, timeout=30)
    links = {row["link"]: row for row in json.loads(done.stdout)}
    if links["QDR"]["data_gbit_s"] != 32 or links["NDR"]["gbyte_s"] != 50:
        raise farblock.Failure(f"rates: {links}")


def hostile(scratch):
    for number, text in enumerate(HOSTILE):
        doctor(machine(scratch, f"hostile{number}", {path: text for path in WELL}), "all")
    print(len(HOSTILE), "machines of nonsense survived")


def odd_things(scratch):
    """Directories, loops, and pipes without a writer in the place of files; more ports than exist."""
    def loop(path):
        os.symlink(os.path.basename(path), path)
    makers = (os.mkdir, os.mkfifo, loop, lambda path: os.symlink("/dev/zero", path))
    for number, make in enumerate(makers):
        root = machine(scratch, f"odd{number}", WELL)
        for path in WELL:
            os.unlink(root + path)
            make(root + path)
        doctor(root, "all")
    ports = {PORT.replace("/1", f"/{i}") + "/state": "4: ACTIVE" for i in range(1, 400)}
    found, _ = doctor(machine(scratch, "many", ports), "all")
    if not 30 < len([f for f in found if f["check"] == "state"]) <= 128:
        raise farblock.Failure(f"{len(found)} findings of 399 ports")
    print("odd things survived")


def every_generation_has_a_rate(scratch):
    """The table of links has every generation, and a port is told what its own may give."""
    shown = subprocess.run([farblock.program("farblock"), "doctor", "rates"], capture_output=True,
                           text=True, timeout=60).stdout
    for text, most in (("10 Gb/sec (4X SDR)", "1.00"), ("20 Gb/sec (4X DDR)", "2.00"),
                       ("40 Gb/sec (4X QDR)", "4.00"), ("40 Gb/sec (4X FDR10)", "5.00"),
                       ("56 Gb/sec (4X FDR)", "6.82"), ("100 Gb/sec (4X EDR)", "12.50"),
                       ("100 Gb/sec (2X HDR)", "12.50"), ("200 Gb/sec (4X HDR)", "25.00"),
                       ("200 Gb/sec (2X NDR)", "25.00"), ("400 Gb/sec (4X NDR)", "50.00")):
        root = machine(scratch, text.replace("/", ""), {**WELL, f"{ROCE}/rate": text})
        told = [f["what"] for f in doctor(root, "rate")[0] if f["object"] == "mlx5_1/1"]
        line = [line for line in shown.splitlines() if text in line]
        if told != [f"{text}: at most {most} GB/s of data"] or f" {most} " not in line[0]:
            raise farblock.Failure(f"{text}: {told}, {line}")
    print("rates from SDR to NDR")


def disks(scratch):
    """What may not fit where it lies."""
    config = farblock.Config()
    room = os.statvfs(scratch.path)
    size = room.f_bavail * room.f_frsize + (1 << 40)
    config.fileio("large", scratch.file("large.img"), size)
    config.fileio("small", scratch.file("small.img"), 1 << 20)
    with farblock.Farblockd(scratch, config, "disks") as daemon:
        done = subprocess.run([farblock.program("farblock"), "--json", "--socket", daemon.socket_path,
                               "doctor", "disks"], capture_output=True, text=True, timeout=60)
        found = {f["object"]: f["verdict"] for f in json.loads(done.stdout)}
        if found != {"/backstores/fileio/large": "warn", "/backstores/fileio/small": "ok"}:
            raise farblock.Failure(f"disks: {done.stdout}")
        limits = subprocess.run([farblock.program("farblock"), "--socket", daemon.socket_path,
                                 "doctor", "memlock"], capture_output=True, text=True, timeout=60)
        if "RLIMIT_MEMLOCK of farblockd" not in limits.stdout:
            raise farblock.Failure(f"memlock: {limits.stdout}")
    print("a file that may outgrow its filesystem is told")


def live(scratch):
    """The self-test leaves nothing behind; a portal elsewhere is one of ours."""
    config = farblock.Config()
    disk = config.ramdisk("disk", 16 << 20)
    target, srp = config.target([disk]), config.srp_target([disk], acls=["127.0.0.1"])
    with farblock.Farblockd(scratch, config) as daemon:
        def ask(*words):
            done = subprocess.run([farblock.program("farblock"), "--json", "--socket",
                                   daemon.socket_path, "doctor", *words], capture_output=True,
                                  text=True, timeout=100)
            return [(f["verdict"], f["object"], f["what"]) for f in json.loads(done.stdout)], \
                done.returncode
        found, _ = ask("all", f"root={scratch.file('well')}", "interval=0")
        told = [what for _, _, what in found if what.startswith("RLIMIT_MEMLOCK of this process")]
        if not told or any(str(target.port) in object for _, object, _ in found):
            raise farblock.Failure(f"another machine's files with this one's daemon: {found}")
        done = subprocess.run([farblock.program("farblock"), "--socket", daemon.socket_path, "doctor",
                               "selftest", "root=/"], capture_output=True, text=True, timeout=100)
        if done.returncode != 8 or "without root=" not in done.stderr:
            raise farblock.Failure(f"selftest root=/: status {done.returncode}: {done.stderr}")
        before = daemon.rpc("tree.ls")
        found, status = ask("selftest")
        portal = f"127.0.0.1:{target.port}"
        srp_portal = f"127.0.0.1:{srp.port}"
        ways = [f"{portal} over TCP", f"{portal} over iSER", f"{srp_portal} over SRP"]
        if [(v, o) for v, o, _ in found] != [("ok", way) for way in ways] \
                or status or not all("reads/s" in what for _, _, what in found):
            raise farblock.Failure(f"selftest: status {status}, {found}")
        with open(daemon.config_path, encoding="utf-8") as saved:
            is_left = "selftest" in saved.read()
        if daemon.rpc("tree.ls") != before or is_left:
            raise farblock.Failure("the self-test has left something behind")
        found, status = ask("--remote", portal)
        told = [what for verdict, _, what in found if verdict == "ok" and target.iqn in what]
        if status or len(told) != 2:
            raise farblock.Failure(f"remote: status {status}, {found}")
        found, status = ask("--remote", f"srp://{srp_portal}")
        if status or [(v, o) for v, o, _ in found] != [("ok", ways[2])] * 2 \
                or srp.iqn not in found[1][2]:
            raise farblock.Failure(f"remote over SRP: status {status}, {found}")
    # The default port of SRP may be another daemon's.
    for where, ways in ((portal, ways[:2]), (f"srp://{srp_portal}", ways[2:])):
        found, status = ask("--remote", where)
        told = {object: verdict for verdict, object, _ in found}
        if status != 1 or any(told[way] != "fail" for way in ways):
            raise farblock.Failure(f"nobody there: status {status}, {found}")


def generations(daemon):
    folder = os.path.join(os.path.dirname(daemon.config_path), "backup")
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def killed(scratch):
    """The self-test takes away what it made whichever signal ends it, and what an earlier one has
    left; undo knows nothing of all that."""
    config = farblock.Config()
    config.target([config.ramdisk("disk", 16 << 20)])
    with farblock.Farblockd(scratch, config, "killed") as daemon:
        command = [farblock.program("farblock"), "--socket", daemon.socket_path]
        farblock.run([*command, "/backstores/ramdisk", "create", "last", "1M"])
        tree, kept = daemon.rpc("tree.ls"), generations(daemon)

        def secret():
            """That of the target which is there for a self-test, and committed; another each time."""
            with open(daemon.config_path, encoding="utf-8") as saved:
                found = [t["tpgs"][0]["chap_password"] for t in json.load(saved)["targets"]
                         if t["wwn"].endswith(":selftest")]
            return found[0] if found else None
        left = None
        for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with subprocess.Popen([*command, "doctor", "selftest"], start_new_session=True,
                                  stdout=subprocess.DEVNULL) as test:
                before = left
                farblock.eventually("a self-test", lambda: secret() not in (None, before))
                test.send_signal(number)
                status = test.wait(60)
            left = secret()
            if status != -number or bool(left) != (number == signal.SIGKILL):
                raise farblock.Failure(f"{number.name}: status {status}, left: {left}")
        farblock.run([*command, "doctor", "selftest"], check=False)
        if daemon.rpc("tree.ls") != tree or generations(daemon) != kept:
            raise farblock.Failure(f"generations {kept} are {generations(daemon)} now")
        farblock.run([*command, "undo"])
        if "last" in [n["name"] for n in ramdisks(daemon)]:
            raise farblock.Failure("undo does not take back the last change before the self-tests")


def ramdisks(daemon):
    return daemon.rpc("tree.ls", path="/backstores/ramdisk")["children"]


def main():
    with farblock.Scratch() as scratch:
        killed(scratch)
        well(scratch)
        ill(scratch)
        rates(scratch)
        hostile(scratch)
        odd_things(scratch)
        every_generation_has_a_rate(scratch)
        disks(scratch)
        live(scratch)
    return 0


if __name__ == "__main__":
    farblock.main(main)
