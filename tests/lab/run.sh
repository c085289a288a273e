#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run.sh BUILD_DIR [SCENARIO...]: real kernel initiators against BUILD_DIR's farblockd, each
# scenario a line with passed or failed and a total. Exit status 0 all passed, 1 not, 77 with a
# reason where the machine cannot run a guest.
set -eu
here=$(dirname "$0")
FARBLOCK_BUILD=$(cd "${1:?usage: run.sh BUILD_DIR [SCENARIO...]}" && pwd)
export FARBLOCK_BUILD
shift
"$here/prepare.sh"
exec python3 "$here/lab.py" "$@"
