# SPDX-License-Identifier: BSD-2-Clause
# The kernel's SRP initiator. It reconnects by itself, for as long as dev_loss_tmo says.

# The last words of ib_srp, once if they are the same.
fb_srp_why() {
	dmesg | sed -n 's/^\[[^]]*\] *//; s/^scsi host[0-9]*: *//; /ib_srp: Connection\|REJ\|Already connected/p' | tail -n 2 |
		sed '$!N; s/^\(.*\)\n\1$/\1/' | tr '\n' ' '
}

# The reason of a refusal is a number of SRP, or over iWARP an errno: 0xffffff98 is a connection that
# the target closed, 0xffffff91 one that nobody listens for.
fb_srp_hint() {
	case $1 in
	*0xffffff91* | *0xffffff92* | *0xffffff8f*) echo "does the target run, is the address right?" ;;
	*"Already connected"*) echo "each path of a port of an adapter needs an initiator_ext= of its own" ;;
	*REJ*) echo "the target refuses this machine's port: create an ACL for it (the target's log names it), check id_ext and ioc_guid" ;;
	*) echo "does the target run, is the address right?" ;;
	esac
}

# Commands have to wait for the target: they are held for fast_io_fail_tmo, 600 s at most. Without it
# ("off") ib_srp fails them as soon as it cannot reconnect. Of several paths, one that is silent has to
# give its commands back, but not before the system's multipathd runs, which alone brings back a path that
# has failed: see multipathd.service.conf.
fb_srp_timeouts() {
	for p in /sys/class/srp_remote_ports/*; do
		[ -e "$p" ] || continue
		echo off >"$p/dev_loss_tmo"
		echo 600 >"$p/fast_io_fail_tmo"
	done
}

fb_srp_login() {
	for t in /sys/class/infiniband_srp/srp-*/add_target; do
		[ -e "$t" ] && printf '%s\n' "$1" 2>/dev/null >"$t" && return 0
	done
	why=$(fb_srp_why)
	fb_cause "SRP login $1: ${why:-failed }($(fb_srp_hint "$why"))"
	return 1
}

# Of a login by the connection manager; one by InfiniBand's identities has no address.
fb_srp_address() {
	case ,$1 in
	*,dest=*) ;;
	*) return 1 ;;
	esac
	a=${1##*dest=}
	a=${a%%,*}
	a=${a%:*}
	a=${a#[}
	echo "${a%]}"
}

# The disks of each login, a line for one that has any.
fb_srp_disks() {
	for h in /sys/class/scsi_host/host*; do
		[ -e "$h/ioc_guid" ] || continue # not ib_srp's
		disks=
		for b in "$h"/device/target*/*/block/*; do
			[ ! -e "$b" ] || disks="$disks ${b##*/}"
		done
		[ -z "$disks" ] || echo "$disks"
	done
}

# Up to 10 s, until $1 logins have disks.
fb_srp_wait_disks() {
	for i in 1 2 3 4 5 6 7 8 9 10; do
		[ "$(fb_srp_disks | grep -c .)" -lt "$1" ] || return 0
		sleep 1
	done
	[ -n "$(fb_srp_disks)" ]
}

# For a LUN that is mapped after the login.
fb_srp_scan() {
	for h in /sys/class/scsi_host/host*; do
		[ ! -e "$h/ioc_guid" ] || echo '- - -' >"$h/scan"
	done
}

fb_attempt_srp() {
	modprobe -a ib_srp rdma_cm || {
		fb_cause "module ib_srp: this kernel or initramfs does not have it (add it and make the initramfs again)"
		return 1
	}
	fb_has_rdma_device || return 1
	count=0 up=0
	set -f
	set -- $fb_specs
	set +f
	for s; do
		count=$((count + 1))
		case " $fb_srp_up " in
		*" $s "*) up=$((up + 1)) ;;
		*) fb_srp_login "$s" && up=$((up + 1)) && fb_srp_up="$fb_srp_up $s" ;;
		esac
	done
	[ $up -gt 0 ] || return 1
	fb_srp_timeouts
	fb_srp_wait_disks $up || {
		fb_cause "SRP login succeeded, no LUN for this machine's port: map it in its ACL"
		fb_srp_scan
		return 1
	}
	[ $count = 1 ] || fb_multipath $(fb_srp_disks)
	fb_say "SRP: $up of $count paths are up"
}
