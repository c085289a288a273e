# SPDX-License-Identifier: BSD-2-Clause
# The table that firmware leaves of its own login (iBFT), as the module iscsi_ibft shows it.

fb_ibft_get() {
	cat "$fb_ibft/$1" 2>/dev/null
}

# The target that the firmware has booted from, else the first that is valid, as farblock-initiator boot
# chooses; and its NIC. Bit 0 of the flags: valid, bit 1: booted from.
fb_ibft_choose() {
	for want in 3 1; do
		for d in "$fb_ibft"/target*; do
			fb_ibft_number=$(cat "$d/flags" 2>/dev/null)
			case $fb_ibft_number in
			'' | *[!0-9]* | ????*) continue ;;
			esac
			[ $((fb_ibft_number & want)) != $want ] || {
				fb_ibft_at=${d##*/}
				return 0
			}
		done
	done
	return 1
}

fb_ibft_nic() {
	assoc=$(fb_ibft_get "$fb_ibft_at/nic-assoc")
	for d in "$fb_ibft"/ethernet*; do
		[ "$(cat "$d/index" 2>/dev/null)" != "$assoc" ] || {
			echo "${d##*/}"
			return
		}
	done
	echo ethernet0
}

fb_ibft_load() {
	modprobe -q -a iscsi_boot_sysfs iscsi_ibft
	fb_ibft_choose || {
		fb_cause "the firmware left no iBFT: it has not booted from iSCSI (iPXE: sanboot or sanhook), or farblock.root= has to name the target"
		return 1
	}
}

# LUN 1 is 01000000 and LUN 16 010000000: eight bytes, each in hexadecimal, mostly without padding. The
# last six are zero; the first is 0, or has two digits, 40 to 7f, and LUN 256 is 410000000.
fb_ibft_lun() {
	l=$(fb_ibft_get "$fb_ibft_at/lun")
	case $l in
	*[!0-9a-fA-F]*) return 1 ;;
	0?000000 | 0??000000) l=${l%000000} && echo $((0x${l#0})) ;;
	[4-7]??000000 | [4-7]???000000) l=${l%000000} && echo $(((0x${l%"${l#??}"} & 0x3f) * 256 + 0x${l#??})) ;;
	00??000000000000 | [4-7]???000000000000) l=${l%000000000000} && echo $((0x$l & 0x3fff)) ;;
	*) return 1 ;;
	esac
}

# Sets address, port, lun, iqn and the credentials.
fb_ibft_target() {
	address=$(fb_ibft_get "$fb_ibft_at/ip-addr") port=$(fb_ibft_get "$fb_ibft_at/port")
	[ "$port" != 0 ] || port=
	iqn=$(fb_ibft_get "$fb_ibft_at/target-name")
	fb_is_iscsi_place "$address" "$iqn" || {
		fb_cause "target '$iqn' at '$address' of the firmware's table: must be an address, and the name of an iSCSI target (iqn., eui. or naa.)"
		return 1
	}
	lun=$(fb_ibft_lun) || {
		fb_cause "LUN '$(fb_ibft_get "$fb_ibft_at/lun")' of the firmware's table: must be eight bytes in hexadecimal of a LUN of one level"
		return 1
	}
	user=$(fb_ibft_get "$fb_ibft_at/chap-name") secret=$(fb_ibft_get "$fb_ibft_at/chap-secret")
	user_in=$(fb_ibft_get "$fb_ibft_at/rev-chap-name")
	secret_in=$(fb_ibft_get "$fb_ibft_at/rev-chap-name-secret")
	[ -n "$fb_name" ] || fb_name=$(fb_ibft_get initiator/initiator-name) || fb_name=
}

# That of a NIC, such as ethernet0.
fb_ibft_interface() {
	mac=$(fb_ibft_get "$1/mac")
	[ -n "$mac" ] || return 0
	for d in /sys/class/net/*; do
		[ "$(cat "$d/address" 2>/dev/null)" != "$mac" ] || {
			echo "${d##*/}"
			return
		}
	done
}

# The servers that firmware had from DHCP, as a resolv.conf: the system may link to it.
fb_ibft_resolv_conf() {
	nic=$(fb_ibft_nic)
	for f in primary-dns secondary-dns; do
		a=$(fb_ibft_get "$nic/$f")
		case $a in
		'' | 0.0.0.0 | ::) ;;
		*[!0-9a-fA-F.:]*) ;;
		*) echo "nameserver $a" ;;
		esac
	done
}
