# SPDX-License-Identifier: BSD-2-Clause
"""Importing this makes the modules of tests/lib importable, and those of tests/system."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, "..", "lib"))
sys.path.append(os.path.join(HERE, "..", "system"))
