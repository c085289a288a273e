#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator discovers tgtd's target and logs in, with each digest and with CHAP both ways;
a secret that is wrong ends the login, in words."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import main  # noqa: E402
from foreign import logs_in  # noqa: E402
from peers import Tgtd  # noqa: E402

Tgtd.has_digests = True


main(lambda: logs_in(Tgtd))
