# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: how open-iscsi finds the target and agrees with it."""

import itertools

import net
from farblock import Failure
from open_iscsi import NAME

MIB = 1 << 20
USER, SECRET = "lab-user", "sixteen-chars-in"
BACK_USER, BACK_SECRET = "lab-target", "sixteen-chars-out"
ALGORITHMS = ("MD5", "SHA1", "SHA256", "SHA3-256")
ISCSID_AUTH_FAILED = 24


def ramdisk(config, _scratch, name="rd0", size=64 * MIB):
    return config.ramdisk(name, size)


def same(got, wanted, what):
    if got != wanted:
        raise Failure(f"{what}: {got!r}, not {wanted!r}")


def discovery(lab):
    """SendTargets over IPv4 and IPv6 shows every target with every portal, and its answers work
    as they are."""
    hosts, host6 = lab.place.hosts, lab.place.host6
    portals = [(host, net.PORT) for host in (*hosts, host6)]
    _, target, initiator = lab.serve(ramdisk, portals=portals)
    wanted = sorted(f"{f'[{host}]' if ':' in host else host}:{port},1 {target.iqn}"
                    for host, port in portals)
    for host in (hosts[0], f"[{host6}]"):
        same(sorted(initiator.discover(f"{host}:{net.PORT}")), wanted, f"asked at {host}")
    lab.guest.run("iscsiadm -m node -l")
    disks = initiator.disk(count=len(portals))
    names = lab.guest.run("cat " + " ".join(d.replace("/dev/", "/sys/block/") + "/device/wwid"
                                            for d in disks)).split("\n")[:-1]
    same(len(set(names)), 1, "identities of one disk over three portals")


def discovery_wildcard(lab):
    """A portal on the wildcard answers with the address it was asked at."""
    _, target, initiator = lab.serve(ramdisk, portals=[("0.0.0.0", net.PORT)])
    for host in lab.place.hosts:
        wanted = f"{host}:{net.PORT},1 {target.iqn}"
        found = initiator.discover(f"{host}:{net.PORT}")
        if wanted not in found:
            raise Failure(f"asked at {host}: {found}, without {wanted}")
        if any(line.startswith("0.0.0.0") for line in found):
            raise Failure(f"asked at {host}: {found}")


def discovery_long(lab):
    """A SendTargets answer of several PDUs: 200 targets with long names."""
    def many(config, _scratch):
        for i in range(199):
            config.target([], iqn=f"iqn.2025-01.org.farblock.test:{'a-long-name-' * 12}{i}",
                          portals=[(lab.place.hosts[0], net.PORT)])
        return config.ramdisk("rd0", MIB)
    _, _, initiator = lab.serve(many)
    same(len(set(initiator.discover())), 200, "targets found")


def acl(**chap):
    return {"node_wwn": NAME, "attributes": {}, **chap,
            "mapped_luns": [{"index": 0, "tpg_lun": 0, "write_protect": False, "alias": "a"}]}


def auth(secret=SECRET, back_secret=None, algorithm=None):
    settings = {"authmethod": "CHAP", "username": USER, "password": secret}
    if back_secret:
        settings.update(username_in=BACK_USER, password_in=back_secret)
    if algorithm:
        settings["chap_algs"] = algorithm
    return {f"node.session.auth.{k}": v for k, v in settings.items()}


def serve_chap(lab, **more):
    return lab.serve(ramdisk, attributes={"authentication": 1, "generate_node_acls": 0},
                     node_acls=[acl(chap_userid=USER, chap_password=SECRET, **more)])


def can_log_in(initiator, target, update):
    where = initiator.login(target, update=update)
    initiator.disk()
    initiator.logout(where)


def is_refused(initiator, target, update, what):
    where = initiator.record(target, update=update)
    status, output = initiator.admin(f"-m node {where} -l")
    same(status, ISCSID_AUTH_FAILED, f"{what}: iscsiadm's status ({output.strip()})")
    initiator.admin(f"-m node {where} -o delete")


def chap(lab):
    """One-way CHAP with each algorithm; no CHAP and a wrong secret are refused."""
    daemon, target, initiator = serve_chap(lab)
    for algorithm in ALGORITHMS:
        can_log_in(initiator, target, auth(algorithm=algorithm))
    is_refused(initiator, target, {}, "without CHAP")
    is_refused(initiator, target, auth("not-the-right-one"), "wrong secret")
    same(sum(entry["count"] for entry in daemon.rpc("login.refusals")
             if "CHAP" in entry["reason"]), 2, "refusals on record")


def chap_mutual(lab):
    """Mutual CHAP with each algorithm; the initiator sees through a target that does not know
    its secret."""
    _, target, initiator = serve_chap(lab, chap_mutual_userid=BACK_USER,
                                      chap_mutual_password=BACK_SECRET)
    for algorithm in ALGORITHMS:
        can_log_in(initiator, target, auth(back_secret=BACK_SECRET, algorithm=algorithm))
    where = initiator.record(target, update=auth(back_secret="another-secret-x"))
    if initiator.admin(f"-m node {where} -l")[0] == 0:
        raise Failure("logged in although the target's secret is another")
    initiator.admin(f"-m node {where} -o delete")


# What is asked for, and the kernel's names of it.
DIGESTS = {"None": ("0", "None"), "CRC32C": ("1", "CRC32C")}


def agreed(lab, initiator, r2t, immediate, digest):
    found = initiator.negotiated()
    same((found["initial_r2t"], found["immediate_data"]),
         (str(int(r2t == "Yes")), str(int(immediate == "Yes"))), "InitialR2T, ImmediateData")
    for name in ("header_digest", "data_digest"):
        if lab.carrier == "tcp" and found.get(name) not in DIGESTS[digest]:
            raise Failure(f"{name}: {found.get(name)}, asked for {digest}")


def round_trip(lab, disk, sizes, seed_mib=2):
    """Bytes written in blocks of each size come back, read in blocks of another."""
    lab.guest.run(f"""
        head -c {seed_mib * MIB} /dev/urandom >/tmp/seed
        for bs in {' '.join(sizes)}; do
            dd if=/tmp/seed of={disk} bs=$bs oflag=direct conv=fsync status=none || exit
            dd if={disk} bs=1M count={seed_mib} iflag=direct status=none | cmp - /tmp/seed || exit
        done""")


def negotiation(lab):
    """Every combination of InitialR2T, ImmediateData and digests is agreed on as asked and
    carries data in order."""
    parameters = {"InitialR2T": "No", "ImmediateData": "Yes", "HeaderDigest": "CRC32C,None",
                  "DataDigest": "CRC32C,None", "FirstBurstLength": "65536"}
    _, target, initiator = lab.serve(ramdisk, parameters=parameters,
                                     attributes={"iser_unsolicited_data": 1})
    digests = DIGESTS if lab.carrier == "tcp" else ("None",)
    for r2t, immediate, digest in itertools.product(("Yes", "No"), ("Yes", "No"), digests):
        where = initiator.login(target, update={
            "node.session.iscsi.InitialR2T": r2t, "node.session.iscsi.ImmediateData": immediate,
            "node.conn[0].iscsi.HeaderDigest": digest, "node.conn[0].iscsi.DataDigest": digest})
        agreed(lab, initiator, r2t, immediate, digest)
        round_trip(lab, initiator.disk(), ("16k", "256k"), 1)
        initiator.logout(where)
    no_complaint(initiator)


def small_bursts(lab):
    """The smallest bursts and segments, R2Ts for everything else."""
    _, target, initiator = lab.serve(ramdisk, parameters={"MaxOutstandingR2T": "8",
                                                          "InitialR2T": "No"})
    initiator.login(target, update={
        "node.session.iscsi.FirstBurstLength": "512", "node.session.iscsi.MaxBurstLength": "512",
        "node.conn[0].iscsi.MaxRecvDataSegmentLength": "512",
        "node.session.iscsi.MaxOutstandingR2T": "8"})
    round_trip(lab, initiator.disk(), ("64k",), seed_mib=2)
    no_complaint(initiator)


# Of the kernel's work queues among themselves, when a device's connection is torn down.
OWN_QUEUES = "check_flush_dependency"


def no_complaint(initiator):
    """The kernel saw no connection error, no reject and no bad PDU."""
    words = ("conn error", "eject", "I/O error", "BUG", "WARNING")
    lines = initiator.kernel_log().splitlines()
    for i, line in enumerate(lines):
        if any(word in line for word in words) and OWN_QUEUES not in line:
            raise Failure("the guest's kernel: " + "\n".join(lines[max(i - 2, 0):i + 20]))


def fifty_logins(lab):
    """50 logins and logouts in a row leave nothing behind, neither here nor there."""
    daemon, target, initiator = lab.serve(ramdisk)
    where = initiator.record(target)
    lab.guest.run(f"""
        for i in $(seq 50); do
            iscsiadm -m node {where} -l >/dev/null || exit
            iscsiadm -m node {where} -u >/dev/null || exit
        done""")
    same(daemon.rpc("session.list"), [], "sessions left")
    same(initiator.disks(), {}, "disks left in the guest")


def idle(lab):
    """A session with nothing to do stays: NOPs of the target, then of the initiator, are
    answered."""
    _, target, initiator = lab.serve(ramdisk, attributes={"nopin_timeout": 3,
                                                          "nopin_response_timeout": 15})
    for interval in (0, 1):
        where = initiator.login(target, update={
            "node.conn[0].timeo.noop_out_interval": str(interval)})
        disk = initiator.disk()
        lab.guest.run("sleep 24" if not interval else "sleep 2")
        round_trip(lab, disk, ("64k",))
        initiator.logout(where)
    no_complaint(initiator)


SCENARIOS = [discovery, discovery_wildcard, discovery_long, chap, chap_mutual, negotiation,
             small_bursts, fifty_logins, idle]
