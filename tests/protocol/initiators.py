# SPDX-License-Identifier: BSD-2-Clause
"""Initiators of the world as scripts: what open-iscsi, libiscsi and iPXE say at login, in their
order, and what each of them cannot bear."""

from protocol import NONE, Peer, check


class Iscsid(Peer):
    """open-iscsi's iscsid with the kernel's iscsi_tcp."""

    initiator, isid = "iqn.2016-04.com.open-iscsi:4a6d11e9bd5", bytes.fromhex("00023d000000")
    alias = "host"
    # usr/login.c: any key beyond these in an answer ends the login.
    KNOWN = {"TargetPortalGroupTag", "TargetAlias", "TargetAddress", "AuthMethod", "HeaderDigest",
             "DataDigest", "DefaultTime2Wait", "DefaultTime2Retain", "IFMarker", "OFMarker",
             "ErrorRecoveryLevel", "InitialR2T", "ImmediateData", "MaxBurstLength",
             "FirstBurstLength", "MaxOutstandingR2T", "MaxConnections", "DataPDUInOrder",
             "DataSequenceInOrder", "MaxRecvDataSegmentLength", "CHAP_A", "CHAP_I", "CHAP_C",
             "CHAP_N", "CHAP_R", "X-com.cisco.protocol", "X-com.cisco.PingTimeout",
             "X-com.cisco.sendAsyncText"}
    OPERATIONAL = {
        "HeaderDigest": "None", "DataDigest": "None", "DefaultTime2Wait": "2",
        "DefaultTime2Retain": "0", "IFMarker": "No", "OFMarker": "No", "ErrorRecoveryLevel": "0",
        "InitialR2T": "No", "ImmediateData": "Yes", "MaxBurstLength": "16776192",
        "FirstBurstLength": "262144", "MaxOutstandingR2T": "1", "MaxConnections": "1",
        "DataPDUInOrder": "Yes", "DataSequenceInOrder": "Yes",
        "MaxRecvDataSegmentLength": "262144"}
    DISCOVERY = {
        "HeaderDigest": "None", "DataDigest": "None", "DefaultTime2Wait": "0",
        "DefaultTime2Retain": "0", "IFMarker": "No", "OFMarker": "No", "ErrorRecoveryLevel": "0",
        "MaxRecvDataSegmentLength": "32768"}

    def names(self, discovery=False):
        keys = {"InitiatorName": self.initiator, "InitiatorAlias": self.alias}
        if not discovery:
            keys["TargetName"] = self.target
        return {**keys, "SessionType": "Discovery" if discovery else "Normal"}

    def login_request(self, keys, stage=1, **options):
        rsp = super().login_request(keys, stage=stage, **options)
        if rsp.login_status:
            return rsp
        unknown = set(rsp.keys) - self.KNOWN
        check(not unknown, f"keys iscsid does not know: {unknown}")
        check(rsp.flags >> 2 & 3 == stage, "the response is in another stage")
        check(rsp.bhs[2] == rsp.bhs[3] == 0, "versions are not 0")
        return rsp

    def login(self, keys=None, discovery=False):
        names = self.names(discovery)
        self.login_step({**names, "AuthMethod": "None"}, stage=0, next_stage=1)
        operational = self.DISCOVERY if discovery else self.OPERATIONAL
        rsp = self.login_step({**operational, **(keys or {})})
        check(rsp.flags & 0x83 == 0x83, "iscsid was not let into full feature phase")
        check(self.agreed.get("MaxConnections", "1") == "1", "MaxConnections is not 1")
        check(self.agreed["ErrorRecoveryLevel"] == "0", "ErrorRecoveryLevel is not 0")
        return self


class Libiscsi(Peer):
    """libiscsi, and QEMU, which is libiscsi with pings."""

    initiator, isid = "iqn.2007-10.com.github:sahlberg:libiscsi", bytes.fromhex("80a1b2c30000")
    OPERATIONAL = {
        "HeaderDigest": "None,CRC32C", "DataDigest": "None", "InitialR2T": "No",
        "ImmediateData": "Yes", "MaxBurstLength": "262144", "FirstBurstLength": "262144",
        "MaxRecvDataSegmentLength": "262144", "DefaultTime2Wait": "2", "DefaultTime2Retain": "0",
        "IFMarker": "No", "OFMarker": "No", "MaxConnections": "1", "MaxOutstandingR2T": "1",
        "ErrorRecoveryLevel": "0", "DataPDUInOrder": "Yes", "DataSequenceInOrder": "Yes"}

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.cmd_sn, self.itt = 0xfffffff0, 0x7123f00d  # random there

    def everything(self, discovery=False):
        """The one text it has."""
        return {"InitiatorName": self.initiator, "InitiatorAlias": "libiscsi",
                **({} if discovery else {"TargetName": self.target}),
                "SessionType": "Discovery" if discovery else "Normal", **self.OPERATIONAL}

    def login(self, keys=None, discovery=False):
        for _ in range(10):  # all of it again until T is granted
            rsp = self.login_step({**self.everything(discovery), **(keys or {})})
            if rsp.flags & 0x80:
                break
        check("HeaderDigest" in self.agreed, "HeaderDigest is not answered: libiscsi keeps its own")
        return self

    def ping(self, data=b""):
        """Not immediate, with a CmdSN of its own."""
        pdu = self.send(self.request(0, data=data, ttt=NONE))
        return self.expect(0x20, itt=pdu.itt, ttt=NONE)


class Ipxe(Peer):
    """iPXE: one command at a time, with numbers copied from the last PDU it met."""

    initiator = "iqn.2010-04.org.ipxe:564d0a10-0000"
    isid = bytes.fromhex("80001234abcd")
    OPERATIONAL = {
        "HeaderDigest": "None", "DataDigest": "None", "MaxConnections": "1", "InitialR2T": "Yes",
        "ImmediateData": "No", "MaxRecvDataSegmentLength": "8192", "MaxBurstLength": "262144",
        "FirstBurstLength": "65536", "DefaultTime2Wait": "0", "DefaultTime2Retain": "0",
        "MaxOutstandingR2T": "1", "DataPDUInOrder": "Yes", "DataSequenceInOrder": "Yes",
        "ErrorRecoveryLevel": "0"}
    last = 0  # StatSN field of the last PDU

    def recv(self):
        pdu = super().recv()
        check(pdu.opcode not in (0x32, 0x3f), "an Async or Reject: iPXE aborts")
        self.cmd_sn, self.last = pdu.exp_cmd_sn, pdu.stat_sn
        return pdu

    @property
    def told_stat_sn(self):
        return (self.last + 1) & NONE

    def next_cmd_sn(self):
        return self.cmd_sn

    def login(self, keys=None, discovery=False):
        self.login_step({**self.names(), "AuthMethod": "CHAP,None"}, stage=0, next_stage=1)
        return self.login_operational(keys)

    def login_operational(self, keys=None):
        rsp = self.login_step({**self.OPERATIONAL, **(keys or {})})
        check("Reject" not in rsp.keys.values(), "a Reject value: iPXE gives up")
        check(rsp.flags & 0x83 == 0x83, "iPXE answers no proposals")
        return self

    def unsolicited(self, data):
        return 0, 0

    def solicited(self, r2t, data, **options):
        return super().solicited(r2t, data, size=512)
