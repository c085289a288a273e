# SPDX-License-Identifier: BSD-2-Clause
# srp_hold.sh SECONDS: for how long the paths of a map, by the kernel's SRP initiator, hold commands while
# their target is silent, on a machine whose root disk is one of SRP (multipathd.service.conf). A path that
# is in no map holds them for as long as the initramfs has set.
grep -Eq '(^| )farblock\.root=srp:' /proc/cmdline || exit 0
for p in /sys/class/srp_remote_ports/*; do
	! cat "$p"/device/../target*/*/block/*/holders/dm-*/dm/uuid 2>/dev/null | grep -q '^mpath-' ||
		echo "$1" >"$p/fast_io_fail_tmo"
done
