#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""istgt's LUN as a local disk: ext4, xfs and btrfs on it, the target restarted and each of two paths cut
under fio, which verifies every block. Needs root."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import main  # noqa: E402
from foreign import is_attached  # noqa: E402
from peers import Istgt  # noqa: E402


main(lambda: is_attached(Istgt))
