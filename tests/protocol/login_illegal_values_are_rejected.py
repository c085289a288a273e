# SPDX-License-Identifier: BSD-2-Clause
"""A number out of its range or no number at all is answered Reject, and the standard value
holds."""

from protocol import *


def test(daemon):
    for key, value in (("MaxBurstLength", "511"), ("MaxBurstLength", "16777216"),
                       ("FirstBurstLength", "many"), ("MaxOutstandingR2T", "0"),
                       ("InitialR2T", "yes"), ("ErrorRecoveryLevel", "3"),
                       ("HeaderDigest", "MD5"), ("DefaultTime2Wait", "3601")):
        peer = daemon.connect()
        rsp = peer.login_request({**peer.names(), key: value})
        good = rsp.login_status == 0 and rsp.keys.get(key) == "Reject"
        check(good or rsp.login_status == 0x0200, f"{key}={value}: {rsp.login_status:04x} "
                                                  f"{rsp.keys.get(key)}")
        peer.close()


main(test)
