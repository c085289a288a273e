# SPDX-License-Identifier: BSD-2-Clause
"""Importing this makes the modules of tests/lib importable."""

import os
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
