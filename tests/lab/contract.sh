#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# contract.sh BUILD_DIR [rxe|siw]...: the contract of RDMA providers over devices of a guest's
# kernel, with BUILD_DIR's rdma_contract. Exit status 0 all passed, 1 not, 77 with a reason where
# the machine cannot run a guest.
set -eu
here=$(dirname "$0")
FARBLOCK_BUILD=$(cd "${1:?usage: contract.sh BUILD_DIR [rxe|siw]...}" && pwd)
export FARBLOCK_BUILD
shift
"$here/prepare.sh"
exec python3 "$here/contract.py" "$@"
