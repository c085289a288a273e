# SPDX-License-Identifier: BSD-2-Clause
# Software RDMA devices, of farblock.rdma=. Adapters have theirs by their drivers.

fb_rdma_device() {
	[ -n "$fb_rdma" ] && [ -z "$fb_has_rdma" ] || return 0
	kind=${fb_rdma%%:*}
	case $fb_rdma in
	*:*) interface=${fb_rdma#*:} ;;
	*) interface=$(fb_interface_to "$1") ;;
	esac
	case $kind in
	rxe) module=rdma_rxe ;;
	siw) module=siw ;;
	*)
		fb_is_wrong=yes
		fb_cause "farblock.rdma=$fb_rdma: must be siw or rxe"
		return 1
		;;
	esac
	modprobe -q -a libcrc32c crc32c_generic
	modprobe $module || {
		fb_cause "module $module: this kernel or initramfs does not have it (add it and make the initramfs again)"
		return 1
	}
	why=$(rdma link add "${kind}0" type "$kind" netdev "${interface:-eth0}" 2>&1) || {
		fb_cause "rdma link add ${kind}0 on ${interface:-eth0}: $why"
		return 1
	}
	fb_has_rdma=yes
}

fb_has_rdma_device() {
	for d in /sys/class/infiniband/*; do
		[ ! -e "$d" ] || return 0
	done
	fb_cause "no RDMA device: the initramfs lacks the adapter's driver, or farblock.rdma=siw or rxe has to make one"
	return 1
}
