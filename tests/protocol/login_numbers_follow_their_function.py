# SPDX-License-Identifier: BSD-2-Clause
"""Minimum, maximum, AND and OR give what RFC 7143 13 says, whatever the initiator offers."""

from protocol import *


WANTED = [("MaxBurstLength", "512", "512"), ("FirstBurstLength", "512", "512"),
          ("MaxOutstandingR2T", "65535", "8"), ("DefaultTime2Wait", "30", "30"),
          ("DefaultTime2Retain", "3600", "0"), ("InitialR2T", "Yes", "Yes"),
          ("InitialR2T", "No", "No"), ("ImmediateData", "No", "No"),
          ("ImmediateData", "Yes", "Yes"), ("DataPDUInOrder", "No", "Yes"),
          ("DataSequenceInOrder", "No", "Yes"), ("ErrorRecoveryLevel", "2", "0"),
          ("MaxBurstLength", "0x2000", "8192")]


def test(daemon):
    for key, offer, result in WANTED:
        peer = daemon.connect()
        rsp = peer.login_step({**peer.names(), key: offer})
        check(rsp.keys[key] == result, f"{key}={offer} became {rsp.keys[key]}, not {result}")
        peer.close()


main(test)
