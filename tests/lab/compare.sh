#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# compare.sh BUILD_DIR [OPTION...]: BUILD_DIR's farblockd beside LIO and tgtd in a guest, by iSER and
# SRP; see compare.py. Exit status 77 with a reason where the machine cannot.
set -eu
here=$(dirname "$0")
FARBLOCK_BUILD=$(cd "${1:?usage: compare.sh BUILD_DIR [OPTION...]}" && pwd)
FARBLOCK_LAB_CPUS=${FARBLOCK_LAB_CPUS:-2}
export FARBLOCK_BUILD FARBLOCK_LAB_CPUS
shift
"$here/prepare.sh"
exec python3 "$here/compare.py" "$@"
