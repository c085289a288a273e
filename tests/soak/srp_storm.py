# SPDX-License-Identifier: BSD-2-Clause
"""The storms of SRP (storm.py of tests/protocol), each for ten minutes."""

import glob
import os
import subprocess
import sys

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "protocol")
SECONDS = "600"


def main():
    failed = []
    for test in sorted(glob.glob(os.path.join(FOLDER, "srp_*storm*.py"))):
        done = subprocess.run([sys.executable, test], env={**os.environ, "STORM_SECONDS": SECONDS})
        print(os.path.basename(test), "exit status", done.returncode, flush=True)
        failed += [test] if done.returncode else []
    return 1 if failed else 0


sys.exit(main())
