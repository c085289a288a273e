#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run.sh BUILD_DIR [SCENARIO...]: whole machines that boot from LUNs of BUILD_DIR's farblockd, each
# scenario a line with passed or failed. run.sh BUILD_DIR golden [OPTION...]: golden.py instead. Exit
# status 0 all passed, 1 not, 77 with a reason where the machine cannot make or run them.
set -eu
here=$(dirname "$0")
FARBLOCK_BUILD=$(cd "${1:?usage: run.sh BUILD_DIR [SCENARIO...]}" && pwd)
export FARBLOCK_BUILD
shift
if [ "${1:-}" = golden ]; then
	shift
	"$here/prepare.sh" "$FARBLOCK_BUILD" initrd-6.12
	exec python3 "$here/golden.py" "$@"
fi
# shellcheck disable=SC2046
"$here/prepare.sh" "$FARBLOCK_BUILD" $(python3 "$here/boot.py" --needs "$@")
exec python3 "$here/boot.py" "$@"
