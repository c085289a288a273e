#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# compare.sh BUILD_DIR [OPTION...]: BUILD_DIR's farblockd beside LIO and tgtd in a guest, by iSER and
# SRP; see compare.py. compare.sh BUILD_DIR attach [OPTION...]: attached disks beside nbd-client; see
# compare_attach.py. Exit status 77 with a reason where the machine cannot.
set -eu
here=$(dirname "$0")
FARBLOCK_BUILD=$(cd "${1:?usage: compare.sh BUILD_DIR [OPTION...]}" && pwd)
FARBLOCK_LAB_CPUS=${FARBLOCK_LAB_CPUS:-2}
export FARBLOCK_BUILD FARBLOCK_LAB_CPUS
shift
program=compare.py
if [ "${1-}" = attach ]; then
	program=compare_attach.py
	shift
fi
"$here/prepare.sh"
exec python3 "$here/$program" "$@"
