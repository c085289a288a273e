# SPDX-License-Identifier: BSD-2-Clause
# Links, and the addresses of the firmware's table. Addresses by ip= are the caller's.

fb_interfaces() {
	for d in /sys/class/net/*; do
		[ ! -e "$d/device" ] || echo "${d##*/}"
	done
}

# An interface has a carrier: $1, or any.
fb_has_link() {
	for d in ${1:-$(fb_interfaces)}; do
		[ "$(cat "/sys/class/net/$d/carrier" 2>/dev/null)" != 1 ] || return 0
	done
	return 1
}

fb_wait_link() {
	names=${1:-$(fb_interfaces)}
	[ -n "$names" ] || {
		fb_cause "no network interface: the initramfs lacks the adapter's driver (add it and make the initramfs again)"
		return 1
	}
	for d in $names; do
		ip link set "$d" up
	done
	for i in 1 2 3 4 5 6 7 8 9 10; do
		fb_has_link "$1" && return 0
		sleep 1
	done
	fb_was_unlinked=yes
	fb_cause $names": no link (check cable, switch port or the virtual machine's network)"
	return 1
}

# Not of loopback or the link alone. One of IPv6 that is still probed is of no use. ip may be busybox's.
fb_has_address() {
	ip -o addr show up | grep -v 'scope host\|scope link\| tentative' | grep -q inet
}

# Links of further paths come up while that of the booted NIC is waited for; boot -N waits for no other.
fb_ibft_links_up() {
	for nic in "$fb_ibft"/ethernet*; do
		other=$(fb_ibft_interface "${nic##*/}")
		[ -z "$other" ] || ip link set "$other" up
	done
}

# The addresses, VLAN and route of the table. Of what boot -N says the warnings are for the console.
fb_ibft_network() {
	interface=$(fb_ibft_interface "$(fb_ibft_nic)")
	[ -n "$interface" ] || {
		fb_cause "no interface has the address $(fb_ibft_get "$(fb_ibft_nic)/mac") of the firmware's table: the initramfs lacks the adapter's driver (add it and make the initramfs again)"
		return 1
	}
	fb_ibft_links_up
	fb_wait_link "$interface" || return 1
	[ -z "$fb_has_network" ] || return 0
	why=$(farblock-initiator boot -N 2>&1) || {
		fb_cause "addresses of the firmware's table: $why"
		return 1
	}
	printf '%s\n' "$why" | sed -n 's/.*: warning: /warning: /p' | while IFS= read -r line; do
		fb_say "$line"
	done
	fb_ibft_resolv_conf >"$fb_run/resolv.conf"
	fb_has_network=yes
}

# The interface by which this machine reaches the target.
fb_interface_to() {
	ip -o route get "$1" 2>/dev/null | sed -n 's/.* dev \([^ ]*\).*/\1/p'
}
