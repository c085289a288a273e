# SPDX-License-Identifier: BSD-2-Clause
# dm-multipath over the disks of several paths, where multipath-tools is in the initramfs. Its own scripts
# have looked for paths before the login. The system's multipathd finds the map and keeps it.

fb_has_multipath() {
	command -v multipath >/dev/null 2>&1 && command -v kpartx >/dev/null 2>&1 || return 1
	! grep -Eq '(^| )(nompath|multipath=off)( |$)' "$fb_cmdline"
}

# The map that has taken a disk.
fb_multipath_map() {
	for d in "/sys/block/$1/holders"/dm-*; do
		case $(cat "$d/dm/uuid" 2>/dev/null) in
		mpath-*) cat "$d/dm/name" && return ;;
		esac
	done
	return 1
}

# multipath takes a disk when udev knows its identity. -a: find_multipaths may want it known before. Until
# multipathd runs, -q keeps requests when no path is left.
fb_multipath_make() {
	for i in 1 2 3 4 5 6 7 8 9 10; do
		udevadm settle --timeout=10
		multipath -a "/dev/$1" >>"$fb_run/multipath.log" 2>&1
		multipath -q "/dev/$1" >>"$fb_run/multipath.log" 2>&1
		map=$(fb_multipath_map "$1") && return
		sleep 1
	done
	why=$(tail -n 3 "$fb_run/multipath.log" | tr '\n' ' ')
	fb_say "multipath makes no map of $1: ${why:-does multipath.conf forbid it? }(log in $fb_run/multipath.log)"
	return 1
}

# The partitions of a path have the labels of the map's. Nothing may take one for the other.
fb_multipath_partitions() {
	partx -d --nr 1-1024 "/dev/$1" >>"$fb_run/multipath.log" 2>&1
	kpartx -a -p -part "/dev/mapper/$map" >>"$fb_run/multipath.log" 2>&1
}

# Of the disks that are named.
fb_multipath() {
	fb_has_multipath || return 0
	modprobe -q -a scsi_dh_alua dm_multipath dm_service_time
	for disk; do
		fb_multipath_make "$disk" && fb_multipath_partitions "$disk" && fb_say "$disk is a path of $map"
	done
	udevadm settle --timeout=10
}
