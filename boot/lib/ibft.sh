# SPDX-License-Identifier: BSD-2-Clause
# The table that firmware leaves of its own login (iBFT), as the module iscsi_ibft shows it.

fb_ibft_get() {
	cat "$fb_ibft/$1" 2>/dev/null
}

fb_ibft_load() {
	modprobe -q -a iscsi_boot_sysfs iscsi_ibft
	[ -e "$fb_ibft/target0/target-name" ] || {
		fb_cause "the firmware left no iBFT: it has not booted from iSCSI (iPXE: sanboot or sanhook), or farblock.root= has to name the target"
		return 1
	}
}

# LUN 1 is 01000000 and LUN 16 010000000: eight bytes, each in hexadecimal without padding, of which
# this reads the first two.
fb_ibft_lun() {
	lun=$(fb_ibft_get target0/lun)
	case $lun in
	0*) lun=${lun#0} ;;
	esac
	lun=${lun%000000}
	echo $((0x${lun:-0}))
}

# Sets address, port, lun, iqn and the credentials.
fb_ibft_target() {
	address=$(fb_ibft_get target0/ip-addr) port=$(fb_ibft_get target0/port)
	iqn=$(fb_ibft_get target0/target-name) lun=$(fb_ibft_lun)
	user=$(fb_ibft_get target0/chap-name) secret=$(fb_ibft_get target0/chap-secret)
	user_in=$(fb_ibft_get target0/rev-chap-name)
	secret_in=$(fb_ibft_get target0/rev-chap-name-secret)
	[ -n "$fb_name" ] || fb_name=$(fb_ibft_get initiator/initiator-name)
}

fb_ibft_interface() {
	mac=$(fb_ibft_get ethernet0/mac)
	for d in /sys/class/net/*; do
		[ "$(cat "$d/address" 2>/dev/null)" != "$mac" ] || {
			echo "${d##*/}"
			return
		}
	done
}
