#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run.sh BUILD_DIR [SCENARIO... [--outages TIME...]]: whole machines that boot from LUNs of BUILD_DIR's
# farblockd, each scenario a line with passed or failed. Other tests in place of a scenario: golden
# [OPTION...], dhcp, vlan [SCENARIO...], multipath [initrd|dracut], and ten-commands with the packages of what is
# committed. Exit status 0 all passed, 1 not, 77 with a reason where the machine cannot make or run them.
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
if [ "${1:-}" = dhcp ]; then
	shift
	"$here/prepare.sh" "$FARBLOCK_BUILD" initrd-6.12
	exec python3 "$here/dhcp.py" "$@"
fi
if [ "${1:-}" = vlan ]; then
	shift
	"$here/prepare.sh" "$FARBLOCK_BUILD" initrd-6.12 dracut-6.12
	exec python3 "$here/vlan.py" "$@"
fi
if [ "${1:-}" = multipath ]; then # another image: its packages look for the paths of every disk
	FARBLOCK_BOOT=${FARBLOCK_BOOT:-${XDG_CACHE_HOME:-$HOME/.cache}/farblock-boot}-multipath
	FARBLOCK_BOOT_PACKAGES=multipath-tools-boot
	export FARBLOCK_BOOT FARBLOCK_BOOT_PACKAGES
	shift
	"$here/prepare.sh" "$FARBLOCK_BUILD" initrd-6.12 dracut-6.12
	exec python3 "$here/multipath.py" "$@"
fi
if [ "${1:-}" = ten-commands ]; then
	"$here/prepare.sh" "$FARBLOCK_BUILD" initrd-6.12
	"$here/../../etc/deb.sh" "$FARBLOCK_BUILD/deb"
	exec python3 "$here/ten_commands.py" "$FARBLOCK_BUILD/deb"
fi
# shellcheck disable=SC2046
"$here/prepare.sh" "$FARBLOCK_BUILD" $(python3 "$here/boot.py" "$@" --needs)
exec python3 "$here/boot.py" "$@"
