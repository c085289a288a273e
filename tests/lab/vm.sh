#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# vm.sh FILE | vm.sh -c COMMANDS: runs shell commands in a guest with the lab's kernel; ends with
# their exit status. See guest.py.
exec python3 "$(dirname "$0")/guest.py" "$@"
