# SPDX-License-Identifier: BSD-2-Clause
"""What iscsi-test-cu reaches a LUN over: libiscsi's own session over TCP, or a session of farblock's
initiator in its place (libiscsi.c, preloaded), over SRP or iSER by software iWARP."""

import hashlib
import os
import re
import subprocess

import farblock

SESSION = os.path.join(farblock.BUILD, "tests", "conformance", "libconformance_session.so")
NAMES = ("iqn.2007-10.com.github:sahlberg:libiscsi:iscsi-test",
         "iqn.2007-10.com.github:sahlberg:libiscsi:iscsi-test-2")
SRP_TARGET = "ib.fe80000000000000020c29fffe3a11{:02x}"


def srp_guid(name):
    """That of the initiator ports that are derived from a name."""
    digits = hashlib.sha256(name.encode()).hexdigest()
    return ":".join(digits[i:i + 4] for i in range(0, 16, 4))


class SrpConfig(farblock.Config):
    """One whose targets are SRP's, with URLs that libiscsi can parse."""

    def target(self, luns, portals=1, write_protect=False):
        made = self.srp_target(luns, SRP_TARGET.format(len(self.targets)),
                               [srp_guid(name) for name in NAMES], portals,
                               write_protect=write_protect)
        return farblock.Target(made.iqn, made.portals)


class IserTarget(farblock.Target):
    def url(self, lun=0, portal=0):
        return super().url(lun, portal).replace("iscsi://", "iser://")


class IserConfig(farblock.Config):
    """One whose portals refuse TCP, so that nothing passes over another carrier than meant."""

    def target(self, *arguments, **keys):
        made = super().target(*arguments, portal_keys={"transport": "iser"}, **keys)
        return IserTarget(made.iqn, made.portals)


def preload():
    """The environment in which a program has our sessions. A sanitizer that they were built with
    has to be the first library; what the program itself leaks is not ours."""
    if not os.path.exists(SESSION):
        raise farblock.Skip(f"{SESSION} is not built (it needs libiscsi's header files)")
    linked = subprocess.run(["ldd", SESSION], text=True, stdout=subprocess.PIPE, check=True).stdout
    first = re.findall(r"=> (\S*lib[at]san\S*)", linked)
    options = os.environ.get("ASAN_OPTIONS", "")
    return {"LD_PRELOAD": ":".join([*first, SESSION]),
            "ASAN_OPTIONS": f"{options}:detect_leaks=0".lstrip(":")}


class Tcp:
    name = "tcp"
    config = farblock.Config

    @staticmethod
    def environment():
        return {}


class Srp:
    name = "srp"
    config = SrpConfig
    environment = staticmethod(preload)


class SrpChannels:
    """Three channels of a nexus, and descriptors instead of immediate data."""

    name = "srp-channels"
    config = SrpConfig

    @staticmethod
    def environment():
        return {**preload(), "CONFORMANCE_CHANNELS": "3", "CONFORMANCE_IU_LEN": "128"}


class Iser:
    name = "iser"
    config = IserConfig
    environment = staticmethod(preload)


CARRIERS = {carrier.name: carrier for carrier in (Tcp, Srp, SrpChannels, Iser)}
