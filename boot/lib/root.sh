# SPDX-License-Identifier: BSD-2-Clause
# Logs in to the root disk, again and again until it is there or the time is over. The caller has
# fb_network (addresses by ip=, for what is not in the firmware's table) and fb_give_up.

fb_here=${fb_here:-/usr/lib/farblock/boot}
for f in words chap ibft network rdma kernel_iscsi multipath kernel_srp user; do
	. "$fb_here/$f.sh"
done

# The target's address, for the choice of an interface.
fb_target_address() {
	case $fb_kind:${fb_specs%% *} in
	*:ibft) fb_ibft_get "$fb_ibft_at/ip-addr" ;;
	srp:*) fb_srp_address "${fb_specs%% *}" ;;
	user:*)
		a=${fb_specs%% *}
		a=${a#*://}
		a=${a%%/*}
		a=${a##*@}
		case $a in
		\[*) a=${a#[} && echo "${a%%]*}" ;;
		*) echo "${a%%:*}" ;;
		esac
		;;
	*) echo "$address" ;;
	esac
}

fb_prepare() {
	case $fb_specs in
	ibft)
		fb_ibft_load && fb_ibft_target && fb_ibft_network
		;;
	*)
		case $fb_kind in
		iscsi | iser)
			fb_iscsi_parse "$fb_specs" || {
				fb_is_wrong=yes
				fb_cause "farblock.root=$fb_kind:...: must be $fb_kind:ADDRESS:[6]:[PORT]:[LUN]:IQN, IPv6 in brackets, CHAP in /etc/iscsi/iscsid.conf"
				return 1
			}
			;;
		srp | user) ;;
		*)
			fb_is_wrong=yes
			fb_cause "farblock.root= is missing or wrong: it must be $fb_forms"
			return 1
			;;
		esac
		fb_wait_link && fb_network
		;;
	esac
}

fb_attempt() {
	fb_prepare && fb_rdma_device "$(fb_target_address)" || return 1
	case $fb_kind in
	iscsi | iser) fb_attempt_iscsi ;;
	*) "fb_attempt_$fb_kind" ;;
	esac
}

# What only another command line mends is not tried again.
fb_goes_on() {
	[ -z "$fb_is_wrong" ] && fb_has_time
}

# Why it does not go on.
fb_end() {
	if [ -n "$fb_is_wrong" ]; then
		echo "no root disk: ${fb_last_cause:-unknown cause}"
	else
		echo "no root disk after $fb_timeout s: ${fb_last_cause:-unknown cause}"
	fi
}

# After the rescue shell the login is tried again, for the same time.
fb_root() {
	mkdir -p "$fb_run"
	fb_start_clock
	until fb_attempt; do
		if fb_goes_on; then
			sleep 2
			continue
		fi
		fb_give_up "$(fb_end)"
		[ -z "$fb_is_wrong" ] || return 1
		fb_start_clock
	done
}

# For a caller that reads this file and the words again at each attempt: a script that restores what one
# attempt has to know of those before.
fb_save_state() {
	for v in fb_until fb_last_cause fb_was_unlinked fb_has_network fb_has_rdma fb_srp_up fb_name fb_ibft_at; do
		eval "value=\$$v"
		printf "%s='%s'\n" "$v" "$(printf '%s\n' "$value" | sed "s/'/'\\\\''/g")"
	done
}
