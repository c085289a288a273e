# SPDX-License-Identifier: BSD-2-Clause
# The kernel's command line, and what is said on the console.
#   farblock.root=ibft|iscsi:ibft|iser:ibft|user:ibft      the firmware's table
#   farblock.root=iscsi:ADDRESS:[6]:[PORT]:[LUN]:IQN     the kernel's initiator, TCP
#   farblock.root=iser:...                                 the same over iSER
#   farblock.root=srp:STRING                               ib_srp's add_target; once for each path
#   farblock.root=user:URL                                 farblock-initiator; once for each path
#   farblock.via=ublk|nbd       for user: (default: ublk if the kernel has it)
#   farblock.rdma=siw|rxe[:INTERFACE]    a software RDMA device to make first
#   farblock.initiator=IQN      (default: that of the table, of /etc/iscsi/initiatorname.iscsi)
#   farblock.timeout=SECONDS|forever     then a rescue shell (default: 180)

# Words end at blanks; no value has any.

fb_run=${fb_run:-/run/farblock-boot}
fb_ibft=${fb_ibft:-/sys/firmware/ibft}
fb_cmdline=${fb_cmdline:-/proc/cmdline}
fb_console=${fb_console:-/dev/console}
fb_forms="ibft, iscsi:, iser: or user:ibft, iscsi:ADDRESS:::LUN:IQN, iser: likewise, srp:STRING or user:URL"

# What targets say is in some texts: nothing of it controls the terminal.
fb_say() {
	printf 'farblock: %s\n' "$*" | tr -c '\n -~' '?' >>"$fb_console"
}

# The text without what a shell expands between double quotes.
fb_plain() {
	printf '%s' "$*" | tr -c ' -~' '?' | tr -d '"$`\\'
}

# Each cause is said once until another one takes its place.
fb_cause() {
	[ "$*" = "$fb_last_cause" ] || fb_say "$*"
	fb_last_cause=$*
}

# Of several words the first says the kind; srp: and user: have several paths.
fb_root_word() {
	kind=${1%%:*} spec=${1#*:}
	if [ -z "$fb_specs" ]; then
		fb_kind=$kind fb_specs=$spec fb_paths=1
		return
	fi
	case $fb_kind:$kind in
	srp:srp | user:user)
		case " $fb_specs  $spec " in
		*" $spec "*" $spec "*) ;;
		*" ibft "*) fb_say "farblock.root=$1: the firmware's table has no second path: ignored" ;;
		*)
			fb_paths=$((fb_paths + 1))
			[ $fb_paths -gt 16 ] && fb_say "farblock.root=$1: more than 16 paths: ignored" || fb_specs="$fb_specs $spec"
			;;
		esac
		;;
	srp:* | user:*) fb_say "farblock.root=$1: all paths are of one kind, the first is $fb_kind: ignored" ;;
	*) [ "$1" = "$fb_kind:$fb_specs" ] || fb_say "farblock.root=$1: $fb_kind has one path, of the first word: ignored" ;;
	esac
}

fb_timeout_word() {
	case $1 in
	forever) fb_timeout=forever ;;
	'' | *[!0-9]* | ?????????*)
		fb_say "farblock.timeout=$1: must be seconds, up to 8 digits, or forever: 180"
		fb_timeout=180
		;;
	*)
		# A number that begins with 0 would be octal.
		fb_timeout=${1#"${1%%[!0]*}"}
		fb_timeout=${fb_timeout:-0}
		;;
	esac
}

fb_word() {
	case $1 in
	farblock.root=ibft) fb_root_word iscsi:ibft ;;
	farblock.root=iscsi:?* | farblock.root=iser:?* | farblock.root=srp:*=* | \
		farblock.root=user:ibft | farblock.root=user:[a-z]*://?*)
		fb_root_word "${1#*=}"
		;;
	farblock.root=*) fb_say "$1: must be $fb_forms: ignored" ;;
	farblock.via=ublk | farblock.via=nbd) fb_via=${1#*=} ;;
	farblock.via=*) fb_say "$1: must be ublk or nbd: ignored" ;;
	farblock.rdma=*) fb_rdma=${1#*=} ;;
	farblock.initiator=*) fb_name=${1#*=} ;;
	farblock.timeout=*) fb_timeout_word "${1#*=}" ;;
	farblock.*) fb_say "$1: no such word: root, via, rdma, initiator and timeout are known" ;;
	esac
}

# Words are split, but not expanded: * and [ may be in addresses and names.
fb_words() {
	fb_kind='' fb_specs='' fb_via='' fb_rdma='' fb_name='' fb_timeout=180
	set -f
	set -- $(cat "$fb_cmdline")
	set +f
	for w; do
		fb_word "$w"
	done
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
