#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tgtd's LUN as a local disk: ext4, xfs and btrfs on it, the target restarted and each of two paths cut
under fio, which verifies every block. Needs root."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import main  # noqa: E402
from foreign import is_attached  # noqa: E402
from peers import Tgtd  # noqa: E402

Tgtd.has_digests = True
Tgtd.is_write_back = False


main(lambda: is_attached(Tgtd))
