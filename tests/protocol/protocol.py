# SPDX-License-Identifier: BSD-2-Clause
"""What a protocol test is made of: a daemon of its own and initiators that log in, read and
write by the book. A test is a function that gets the daemon; see main()."""

import hashlib
import json
import os
import struct
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import farblock
from farblock import Config, Failure, Farblockd, Scratch, check, eventually
from iscsi_raw import *  # noqa: F403: tests import everything from here
from iscsi_raw import (CHECK, COMMAND, DATA_IN, DATA_OUT, F, GOOD, LOGIN, LOGIN_RSP, LOGOUT,
                       LOGOUT_RSP, NONE, Pdu, R2T, READ, RESPONSE, SIMPLE, TEXT, TEXT_RSP, Wire,
                       WRITE, lun, text)

BLOCK = 512
INITIATOR = "iqn.2025-01.org.example:peer"
HASHES = {5: hashlib.md5, 6: hashlib.sha1, 7: hashlib.sha256, 8: hashlib.sha3_256}
MIB = 1 << 20


class Configuration(Config):
    """Adds what Config has no word for: authentication of discovery."""

    discovery = None

    def text(self):
        document = json.loads(super().text())
        if self.discovery:
            document["fabric_modules"] = [{"name": "iscsi", "discovery_enable_auth": True,
                                           **self.discovery}]
        return json.dumps(document)


def acl(initiator=INITIATOR, luns=1, attributes=None, **chap):
    """One node ACL of the saved file; chap: chap_userid and so on."""
    return {"node_wwn": initiator, "attributes": attributes or {}, **chap,
            "mapped_luns": [{"index": i, "tpg_lun": i, "write_protect": False,
                             "alias": f"map{i}"} for i in range(luns)]}


class Daemon(Farblockd):
    """farblockd with one target on loopback."""

    target, others = None, ()

    def set(self, path, group, **values):
        return self.rpc("tree.run", command="set", path=path, positional=[group], named=values)

    def tpg_path(self):
        return f"/iscsi/{self.target.iqn}/tpg1"

    def sessions(self):
        found = self.rpc("session.list")
        return found if isinstance(found, list) else found["sessions"]

    def refusals(self):
        self.settle()
        found = self.rpc("login.refusals")
        return found if isinstance(found, list) else found["refusals"]

    def settle(self):
        """Returns when the workers have ended what they were at: a peer sees a connection
        close before the worker has counted and logged it."""
        self.sessions()

    def counter(self, name):
        self.settle()
        return self.rpc("stats.get")["iscsi"][name]

    def copies(self):
        return sum(w["payload_copies"] for w in self.rpc("stats.get")["workers"])

    def memory(self):
        """Bytes in RAM."""
        with open(f"/proc/{self.pid}/status") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
        return 0

    def frees_memory(self, limit):
        """Waits until at most limit bytes are in RAM, as freed memory returns to the system, but for
        that of AddressSanitizer's allocator."""
        with open(f"/proc/{self.pid}/exe", "rb") as program:
            if b"__asan_init" in program.read():
                return
        eventually("freed memory returns to the system", lambda: self.memory() <= limit)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def delete(self, path, **params):
        """Deletes what a node holds, without force."""
        return self.rpc("tree.run", command="delete", path=path, named=params)

    def refuse_delete(self, path, **params):
        """The same, which must be refused as a session uses it."""
        try:
            self.delete(path, **params)
        except Failure as why:
            return check("in use by" in str(why), f"{path} {params}: {why}")
        raise Failure(f"{path} {params}: deleted although a session uses it")

    def connect(self, kind=None, portal=0, **options):
        """A connection that has said nothing yet."""
        return (kind or Peer)(self, self.target.portals[portal], **options)

    def session(self, keys=None, kind=None, **options):
        """A session in full feature phase whose unit attentions are taken."""
        peer = self.connect(kind, **options)
        peer.login(keys)
        peer.ready()
        return peer


    def hoard(self, make, isid):
        """A session with 60 of make's commands in flight that neither sends nor takes data."""
        hog = self.session({"InitialR2T": "Yes", "ImmediateData": "No"}, isid=isid)
        hog.send(*[make(hog) for _ in range(60)])
        return hog


class Peer(Wire):
    """An initiator by the book."""

    initiator, isid = INITIATOR, bytes.fromhex("80aabb000001")
    immediate = True
    OPERATIONAL = {
        "HeaderDigest": "None", "DataDigest": "None", "InitialR2T": "No", "ImmediateData": "Yes",
        "MaxRecvDataSegmentLength": "262144", "MaxBurstLength": "262144",
        "FirstBurstLength": "65536", "MaxOutstandingR2T": "1", "MaxConnections": "1",
        "DefaultTime2Wait": "2", "DefaultTime2Retain": "20", "DataPDUInOrder": "Yes",
        "DataSequenceInOrder": "Yes", "ErrorRecoveryLevel": "0"}

    def __init__(self, daemon, address, initiator=None, isid=None, target=None, cid=0, tsih=0,
                 **options):
        super().__init__(address, **options)
        self.daemon = daemon
        self.initiator = initiator or self.initiator
        self.isid = isid or self.isid
        self.target = target or daemon.target.iqn
        self.cid, self.tsih = cid, tsih
        self.said, self.agreed = {}, {}
        self.lun = lun(0)

    # --- login ---

    def names(self, discovery=False):
        keys = {"InitiatorName": self.initiator,
                "SessionType": "Discovery" if discovery else "Normal"}
        return keys if discovery else {**keys, "TargetName": self.target}

    def login_pdu(self, keys, stage=1, next_stage=3, transit=True, more=False, **fields):
        flags = (0x80 | next_stage if transit else 0) | (0x40 if more else 0) | stage << 2
        values = {"itt": 0x10001, "isid": self.isid, "tsih": self.tsih, "cid": self.cid,
                  "cmd_sn": self.cmd_sn, "exp_stat_sn": self.told_stat_sn, **fields}
        data = keys if isinstance(keys, bytes) else text(keys)
        return Pdu(LOGIN, flags, data, immediate=True, **values)

    def login_request(self, keys, **options):
        """Sends a Login Request; returns the response, whatever its status."""
        self.send(self.login_pdu(keys, **options))
        return self.expect(LOGIN_RSP)

    def login_step(self, keys, **options):
        """The same where it must be accepted; takes the keys of the answer."""
        rsp = self.login_request(keys, **options)
        if rsp.login_status:
            self.fail(f"login refused with status {rsp.login_status:04x}")
        self.agreed.update(rsp.keys)
        if isinstance(keys, dict):
            self.said.update(keys)
        if rsp.flags & 0x83 == 0x83:
            self.enter_full_feature(rsp)
        return rsp

    def enter_full_feature(self, rsp):
        if not rsp.tsih:
            self.fail("no TSIH in the last Login Response")
        self.tsih, self.is_full_feature = rsp.tsih, True
        self.exp_cmd_sn, self.max_cmd_sn = rsp.exp_cmd_sn, rsp.max_cmd_sn
        self.header_digest = self.agreed.get("HeaderDigest") == "CRC32C"
        self.data_digest = self.agreed.get("DataDigest") == "CRC32C"
        self.max_recv = int(self.said.get("MaxRecvDataSegmentLength", 8192))

    def login(self, keys=None, discovery=False):
        """Straight to full feature phase, without authentication."""
        self.login_step({**self.names(discovery), "AuthMethod": "None"}, stage=0, next_stage=1)
        operational = {"MaxRecvDataSegmentLength": "262144"} if discovery else self.OPERATIONAL
        rsp = self.login_step({**operational, **(keys or {})})
        check(rsp.flags & 0x83 == 0x83, "the login did not end in full feature phase")
        return self

    def refused(self, status, keys=None, **options):
        """The Login Request is answered with this status, and the connection closed."""
        rsp = self.login_request(self.names() if keys is None else keys, **options)
        if rsp.login_status != status:
            self.fail(f"login status {rsp.login_status:04x}, not {status:04x}")
        self.expect_closed("after refusing a login")
        return rsp

    # --- CHAP ---

    def chap_start(self, algorithms="5", keys=None):
        """AuthMethod and CHAP_A; returns the response to that, with the challenge."""
        self.login_step({**(keys or self.names()), "AuthMethod": "CHAP"}, stage=0,
                        transit=False)
        return self.login_request({"CHAP_A": algorithms}, stage=0, transit=False)

    @staticmethod
    def chap_hash(algorithm, ident, secret, challenge):
        return HASHES[algorithm](bytes([ident]) + secret.encode() + challenge).digest()

    def chap_response(self, rsp, user, secret):
        """CHAP_N and CHAP_R to a challenge."""
        digest = self.chap_hash(int(rsp.keys["CHAP_A"]), int(rsp.keys["CHAP_I"]), secret,
                                bytes.fromhex(rsp.keys["CHAP_C"][2:]))
        return {"CHAP_N": user, "CHAP_R": "0x" + digest.hex()}

    # --- commands ---

    def task(self, cdb, edtl=0, flags=0, data=b"", final=True, immediate=False, attr=SIMPLE,
             **fields):
        """A SCSI Command PDU. data: immediate data."""
        fields.setdefault("lun", self.lun)
        pdu = self.request(COMMAND, (F if final else 0) | flags | attr, immediate, data=data,
                           edtl=edtl, **fields)
        pdu.bhs[32:32 + len(cdb[:16])] = cdb[:16]
        return pdu

    def test_unit_ready(self, **fields):
        return self.task(bytes(6), **fields)

    def read_task(self, lba, blocks, **fields):
        fields.setdefault("edtl", blocks * BLOCK)
        return self.task(struct.pack(">BBIBHB", 0x28, 0, lba, 0, blocks, 0), flags=READ, **fields)

    def write_task(self, lba, blocks, **fields):
        fields.setdefault("edtl", blocks * BLOCK)
        return self.task(struct.pack(">BBIBHB", 0x2a, 0, lba, 0, blocks, 0), flags=WRITE, **fields)

    def ready(self):
        """Takes the unit attentions of a new nexus."""
        for _ in range(8):
            pdu = self.send(self.test_unit_ready())
            if self.expect(RESPONSE, itt=pdu.itt).status == GOOD:
                return self
        return self.fail("unit attentions without end")

    def good(self, pdu, why=""):
        """Sends a command without data that must end well."""
        self.send(pdu)
        return self.expect(RESPONSE, why, itt=pdu.itt, status=GOOD)

    def collect(self, pdu, size):
        """Data-In until the status; returns data and the PDU with the status."""
        data = bytearray(size)
        while True:
            got = self.recv()
            if got.opcode == DATA_IN and got.itt == pdu.itt:
                check(got.offset + len(got.data) <= size, "Data-In beyond the buffer")
                data[got.offset:got.offset + len(got.data)] = got.data
                if not got.flags & 1:
                    continue
            elif got.opcode != RESPONSE or got.itt != pdu.itt:
                self.fail("neither Data-In nor status of the read")
            return bytes(data), got

    def read(self, lba, blocks):
        pdu = self.send(self.read_task(lba, blocks))
        data, end = self.collect(pdu, blocks * BLOCK)
        check(end.status == GOOD, f"READ ended with status {end.status:#x} {end.sense}")
        return data

    def number(self, key):
        standard = {"MaxRecvDataSegmentLength": 8192, "FirstBurstLength": 65536}
        return int(self.agreed.get(key, standard.get(key, 1)))

    def unsolicited(self, data):
        """How many bytes of a write go as immediate, how many as unsolicited data."""
        first = min(self.number("FirstBurstLength"), len(data))
        now = min(first, self.number("MaxRecvDataSegmentLength")) \
            if self.agreed.get("ImmediateData") == "Yes" else 0
        return now, first - now if self.agreed.get("InitialR2T") == "No" else 0

    def data_out(self, pdu, data, offset, ttt=NONE, size=None, final=True):
        """The Data-Out PDUs of one sequence: data, which belongs at offset."""
        size = size or self.number("MaxRecvDataSegmentLength")
        pieces = range(0, len(data), size)
        return [Pdu(DATA_OUT, F if final and at + size >= len(data) else 0, data[at:at + size],
                    lun=pdu.lun if ttt != NONE else bytes(8), itt=pdu.itt, ttt=ttt,
                    exp_stat_sn=self.told_stat_sn, data_sn=n, offset=offset + at)
                for n, at in enumerate(pieces)]

    def solicited(self, r2t, data, **options):
        """What an R2T asks for."""
        return self.data_out(r2t, data[r2t.offset:r2t.offset + r2t.desired], r2t.offset, r2t.ttt,
                             **options)

    def write(self, lba, data, status=GOOD):
        """A whole write as negotiated; returns the R2Ts it took."""
        now, more = self.unsolicited(data)
        pdu = self.write_task(lba, len(data) // BLOCK, data=data[:now], final=not more)
        self.send(pdu, *self.data_out(pdu, data[now:now + more], now))
        end, r2ts = self.answer_r2ts(pdu, data)
        check(end.status == status, f"WRITE ended with status {end.status:#x} {end.sense}")
        return r2ts

    def answer_r2ts(self, pdu, data):
        """Sends what is asked for until the status; returns the PDU with it, and the R2Ts."""
        r2ts = []
        while True:
            got = self.recv()
            if got.opcode == R2T and got.itt == pdu.itt:
                r2ts.append(got)
                self.send(*self.solicited(got, data))
            elif got.opcode == RESPONSE and got.itt == pdu.itt:
                return got, r2ts
            else:
                self.fail("neither R2T nor status of the write")

    def write_and_read_back(self, lba, data, why=""):
        self.write(lba, data)
        check(self.read(lba, len(data) // BLOCK) == data, f"{why}read back differs")

    def tmf(self, function, ref=None, **fields):
        """A task management request, immediate. ref: the command it concerns."""
        fields.setdefault("immediate", True)
        fields.setdefault("lun", self.lun)
        fields.setdefault("ref_itt", ref.itt if ref else NONE)
        fields.setdefault("ref_cmd_sn", ref.cmd_sn if ref else 0)
        return self.request(TMF, F | function, **fields)

    def texts(self, keys, itt=None, **fields):
        """A Text Request and all of its answer; returns its text and the number of PDUs."""
        out, count, ttt = b"", 0, NONE
        itt = itt or self.next_itt()
        data = text(keys)
        while True:
            self.send(self.request(TEXT, data=data, itt=itt, ttt=ttt, **fields))
            rsp = self.expect(TEXT_RSP, itt=itt)
            out, count, data, ttt = out + rsp.data, count + 1, b"", rsp.ttt
            if rsp.flags & F:
                check(rsp.ttt == NONE, "a final Text Response with a target tag")
                return out, count

    def logout(self, reason=0, **fields):
        """Logs out and sees the target close."""
        pdu = self.send(self.request(LOGOUT, F | reason, **{"immediate": True, **fields}))
        rsp = self.expect(LOGOUT_RSP, itt=pdu.itt, response=0)
        self.expect_closed("after a logout")
        return rsp


def pattern(size, seed=1):
    """Bytes that tell where they belong: every block differs."""
    return b"".join(struct.pack(">QQ", seed, at) * (BLOCK // 16)
                    for at in range(0, size, BLOCK))[:size]


def reinstate_while_it_breaks(daemon):
    """Logins take the place of sessions whose connections break in the same moment, a hundred
    times; the last one is there."""
    old = daemon.session()
    for turn in range(100):
        new = daemon.connect()
        new.login_step(new.names(), stage=1, transit=False)
        new.said = new.OPERATIONAL
        last = new.login_pdu(new.OPERATIONAL)
        daemon.pause()
        if turn % 2:
            old.close()
        new.send(last)
        old.close()
        daemon.resume()
        rsp = new.expect(LOGIN_RSP)
        check(rsp.login_status == 0, f"status {rsp.login_status:04x}")
        new.enter_full_feature(rsp)
        new.ready()
        old = new
    check(len(daemon.sessions()) == 1, "an old session is still there")


def make_config(scratch, luns=1, size=16 * MIB, attributes=None, parameters=None, acls=(),
                discovery=None, storage=None, targets=1, chap=None, adapt=None, **tpg):
    config = Configuration()
    config.discovery = discovery
    attributes = {"nopin_timeout": 60, **(attributes or {})}  # no ping of a peer that is slow
    disks = [config.ramdisk(f"rd{i}", size, storage) for i in range(luns)]
    for i in range(targets):
        config.target(disks, iqn=f"{farblock.IQN}:t{i:04}" if i else None,
                      attributes=attributes, **({"portals": tpg.pop("portals")}
                                                if "portals" in tpg else {}))
        config.targets[-1]["tpgs"][0].update(parameters=parameters or {}, node_acls=list(acls),
                                             **(chap or {}), **tpg)
    if adapt:
        adapt(config, scratch)
    return config


def targets(config):
    """A Target for each saved one."""
    return [farblock.Target(saved["wwn"], [(p["ip_address"], p["port"]) for p in
                                           tpg.get("srp_portals") or tpg["portals"]])
            for saved in config.targets for tpg in saved["tpgs"]]


def main(test, arguments=("--log-level", "info"), cpus=(0,), make=make_config, kind=Daemon, **options):
    """Runs test(daemon) against a fresh daemon; options are those of make; a worker for each of
    cpus. Whatever the test did, the daemon must live on, serve a new session and end cleanly."""
    def run():
        with Scratch(in_memory=True) as scratch:
            config = make(scratch, **options)
            daemon = kind(scratch, config, cpus=cpus, arguments=arguments)
            daemon.target, *daemon.others = targets(config)
            with daemon:
                try:
                    test(daemon)
                    check(daemon.is_running(), "the daemon is gone")
                    check(daemon.stop() == 0, "the daemon did not end with status 0")
                except Exception:
                    print("daemon's log:\n" + daemon.log()[-4000:])
                    raise
    farblock.main(run)
