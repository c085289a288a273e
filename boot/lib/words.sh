# SPDX-License-Identifier: BSD-2-Clause
# The kernel's command line, and what is said on the console.
#   farblock.root=ibft|iscsi:ibft|iser:ibft|user:ibft      the firmware's table
#   farblock.root=iscsi:[USER:SECRET@]ADDRESS:[6]:[PORT]:[LUN]:IQN     the kernel's initiator, TCP
#   farblock.root=iser:...                                 the same over iSER
#   farblock.root=srp:STRING                               ib_srp's add_target; once for each path
#   farblock.root=user:URL                                 farblock-initiator; once for each path
#   farblock.via=ublk|nbd       for user: (default: ublk if the kernel has it)
#   farblock.rdma=siw|rxe[:INTERFACE]    a software RDMA device to make first
#   farblock.initiator=IQN      (default: that of the table, of /etc/iscsi/initiatorname.iscsi)
#   farblock.timeout=SECONDS|forever     then a rescue shell (default: 180)

fb_run=/run/farblock
fb_ibft=/sys/firmware/ibft

fb_say() {
	echo "farblock: $*" >/dev/console
}

# Each cause is said once until another one takes its place.
fb_cause() {
	[ "$*" = "$fb_last_cause" ] || fb_say "$*"
	fb_last_cause=$*
}

fb_words() {
	fb_kind='' fb_specs='' fb_via='' fb_rdma='' fb_name='' fb_timeout=180
	for w in $(cat /proc/cmdline); do
		case $w in
		farblock.root=ibft) fb_kind=iscsi fb_specs=ibft ;;
		farblock.root=*:*)
			w=${w#farblock.root=}
			if [ -n "$fb_kind" ] && [ "$fb_kind" != "${w%%:*}" ]; then
				fb_say "farblock.root=$w: all paths are of one kind, the first is $fb_kind: ignored"
				continue
			fi
			fb_kind=${w%%:*} fb_specs="$fb_specs ${w#*:}"
			;;
		farblock.root=*) fb_say "$w: must be ibft, iscsi:, iser:, srp: or user:" ;;
		farblock.via=*) fb_via=${w#*=} ;;
		farblock.rdma=*) fb_rdma=${w#*=} ;;
		farblock.initiator=*) fb_name=${w#*=} ;;
		farblock.timeout=forever) fb_timeout=forever ;;
		farblock.timeout=*[!0-9]* | farblock.timeout=) fb_say "$w: must be seconds or forever: 180" ;;
		farblock.timeout=*) fb_timeout=${w#*=} ;;
		farblock.*) fb_say "$w: no such word" ;;
		esac
	done
	fb_specs=${fb_specs# }
}

fb_uptime() {
	read -r fb_now rest </proc/uptime
	echo "${fb_now%%.*}"
}

# True until the time of farblock.timeout is over.
fb_has_time() {
	[ "$fb_timeout" = forever ] || [ "$(fb_uptime)" -lt "$fb_until" ]
}

fb_start_clock() {
	[ "$fb_timeout" = forever ] || fb_until=$(($(fb_uptime) + fb_timeout))
}
