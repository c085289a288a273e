# SPDX-License-Identifier: BSD-2-Clause
"""Sessions that keep buffers and send no data until nothing is left: while a session that holds
nothing waits, those without progress are ended long before dataout_timeout, and it continues."""

from protocol import *

SESSIONS = 150
BLOCKS = 128  # 64 KiB a command


def test(daemon):
    hogs = [daemon.hoard(lambda hog: hog.write_task(0, BLOCKS), bytes([0x80, 0, 0, 1, 0, i]))
            for i in range(SESSIONS)]
    other = daemon.session()
    for i in range(20):
        other.write_and_read_back(256 * i, pattern(131072, seed=i))
    log = daemon.log()
    check("out of buffer memory, and requested data-out" in log, "nobody was ended for it")
    check("no data-out for" not in log, "dataout_timeout was waited for")
    for hog in hogs:
        hog.close()


main(test, arguments=("--pool-mem", "32M"), storage={"delay_read_us": 1},
     attributes={"dataout_timeout": 60, "nopin_timeout": 60})
