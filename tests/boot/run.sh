#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run.sh BUILD_DIR [SCENARIO...]: whole machines that boot from LUNs of BUILD_DIR's farblockd, each
# scenario a line with passed or failed. Exit status 0 all passed, 1 not, 77 with a reason where the
# machine cannot make or run them.
set -eu
here=$(dirname "$0")
FARBLOCK_BUILD=$(cd "${1:?usage: run.sh BUILD_DIR [SCENARIO...]}" && pwd)
export FARBLOCK_BUILD
shift
# shellcheck disable=SC2046
"$here/prepare.sh" "$FARBLOCK_BUILD" $(python3 "$here/boot.py" --needs "$@")
exec python3 "$here/boot.py" "$@"
