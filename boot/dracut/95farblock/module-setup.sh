#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# dracut: a root disk over iSCSI, iSER or SRP by farblock.root=.
# shellcheck disable=SC2154  # variables of dracut

check() {
	require_binaries farblock-initiator ip || return 1
	# In an initramfs for this machine only if its root is such a disk.
	[[ $hostonly ]] || return 0
	[[ $kernel_cmdline == *farblock.root=* ]] && return 0
	grep -q 'farblock\.root=' /proc/cmdline && return 0
	return 255
}

# multipath, where it is installed: a disk of several paths by the kernel's SRP initiator.
# systemd-networkd, which dracut takes where it is installed, takes its addresses along when it ends.
depends() {
	if [[ " $omit_dracutmodules " != *" multipath "* ]] && type -P multipath kpartx dmsetup >/dev/null; then
		echo multipath
	fi
	if [[ -e $dracutbasedir/modules.d/35network-legacy/module-setup.sh ]] && type -P dhclient >/dev/null; then
		echo network-legacy
	else
		echo network
	fi
}

installkernel() {
	. /usr/lib/farblock/boot/files.sh
	# shellcheck disable=SC2086
	hostonly='' instmods $fb_modules
	# shellcheck disable=SC2086
	! dracut_module_included multipath || hostonly='' instmods $fb_multipath_modules
}

# Debian has the udev rules and checkers at places that dracut's module does not know. The logins make the map:
# multipathd would have silent paths give their requests back, and end with the initramfs, before the system's
# could bring one back.
install_multipath() {
	inst_rules 56-dm-mpath.rules 56-dm-parts.rules 60-multipath.rules 60-kpartx.rules
	inst_multiple -o "$udevdir/kpartx_id" /lib/multipath/*.so
	# shellcheck disable=SC2086
	inst_multiple $fb_multipath_programs
	for unit in multipathd.service multipathd.socket; do
		inst_simple "$moddir/multipathd.conf" "$systemdsystemunitdir/$unit.d/farblock.conf"
	done
}

install() {
	. /usr/lib/farblock/boot/files.sh
	. /usr/lib/farblock/boot/chap.sh
	# shellcheck disable=SC2086
	inst_multiple -o $fb_programs sed grep cat cp tail tr head sleep mkdir ls dmesg mount sh
	# shellcheck disable=SC2086
	inst_multiple -o $fb_plugins $fb_configuration
	inst_multiple /usr/lib/farblock/boot/*.sh
	mkdir -p "$initdir/etc/iscsi"
	fb_chap_into "$initdir/etc/iscsi/iscsid.conf" || :
	# shellcheck disable=SC2086
	inst_rules $fb_rules
	local iscsid
	iscsid=$(type -P iscsid) && ln -sf "$iscsid" "$initdir/usr/sbin/@iscsid"
	! dracut_module_included multipath || install_multipath
	inst_hook cmdline 85 "$moddir/farblock-cmdline.sh"
	inst_hook initqueue/settled 50 "$moddir/farblock-settled.sh"
	inst_hook initqueue/finished 50 "$moddir/farblock-finished.sh"
}
