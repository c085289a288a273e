# SPDX-License-Identifier: BSD-2-Clause
"""While a session goes without memory, data-out that trickles in puts off dataout_timeout no
longer: it counts from when the data was asked for. Those that take nothing of what they asked for
are ended sooner."""

import select

from protocol import *

SESSIONS = 16
BLOCKS = 1024  # 512 KiB a command


class Hog(Peer):
    """Answers each R2T it has got with a block now and then."""

    def start(self, pdus):
        self.at = {}  # tag of an R2T: the R2T and how many blocks it has got
        self.send(*pdus)
        return self

    def trickle(self):
        try:
            while select.select([self.socket], [], [], 0)[0]:
                got = self.recv()
                if got.opcode == R2T:
                    self.at[got.ttt] = (got, 0)
            for ttt, (r2t, n) in self.at.items():
                self.send(Pdu(DATA_OUT, 0, bytes(512), lun=r2t.lun, itt=r2t.itt, ttt=ttt,
                              exp_stat_sn=self.told_stat_sn, data_sn=n,
                              offset=r2t.offset + 512 * n))
                self.at[ttt] = (r2t, n + 1)
        except (Failure, OSError):
            self.at = {}


def hogs(daemon, make, kind, start):
    found = []
    for i in range(SESSIONS):
        hog = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No"}, kind=Hog,
                             isid=bytes([0x80, 0, 0, 1, kind, i]))
        found.append(hog.start([make(hog) for _ in range(start)]))
    return found


def test(daemon):
    crowd = hogs(daemon, lambda hog: hog.write_task(0, BLOCKS), 0, 16)
    other = daemon.session({"InitialR2T": "Yes", "ImmediateData": "No"})
    pdu = other.send(other.write_task(0, 2048))
    for _ in range(60):
        for hog in crowd:
            hog.trickle()
        if select.select([other.socket], [], [], 0.5)[0]:
            break
    other.expect(R2T, itt=pdu.itt)
    check("out of buffer memory, and requested data-out" in daemon.log(), "nobody was ended for it")
    other.close()
    for hog in crowd:
        hog.close()

    crowd = hogs(daemon, lambda hog: hog.read_task(0, BLOCKS), 1, 60)
    other = daemon.session()
    other.read(0, 2048)
    check("out of buffer memory, and the peer has not read" in daemon.log(), "nobody was ended for it")
    for hog in crowd:
        hog.close()


main(test, arguments=("--pool-mem", "16M"), storage={"delay_read_us": 1},
     attributes={"dataout_timeout": 8, "nopin_timeout": 60})
