# SPDX-License-Identifier: BSD-2-Clause
# The kernel's iSCSI initiator, over TCP and iSER. Its daemon, iscsid, logs in again when a session is
# lost: it stays from here to the end of the system, as '@iscsid', which systemd spares, with mounts
# of its own. The system's iscsid would have to be read from the disk that it should bring back.

# dracut's module iscsi has systemd listen for an iscsid that would end with the initramfs.
fb_iscsid_alone() {
	! command -v systemctl >/dev/null 2>&1 || systemctl stop iscsid.socket iscsid.service 2>/dev/null
	! grep -q '@ISCSIADM_ABSTRACT_NAMESPACE' /proc/net/unix || {
		fb_cause "another iscsid is running in the initramfs: leave out what starts it (dracut: --omit iscsi)"
		return 1
	}
}

fb_iscsid_runs() {
	[ -e "$fb_run/iscsid.pid" ] || return 1
	read -r pid <"$fb_run/iscsid.pid" && kill -0 "$pid" 2>/dev/null && return 0
	rm -f "$fb_run/iscsid.pid"
	return 1
}

# It has secrets: at no time can others read it. No pings: a machine that is slow to boot would lose a
# session that is well.
fb_iscsid_conf_into() {
	(
		umask 077
		{
			cat <<-CONF
				node.startup = manual
				node.session.timeo.replacement_timeout = 86400
				node.conn[0].timeo.noop_out_interval = 0
				node.conn[0].timeo.noop_out_timeout = 0
				node.conn[0].timeo.login_timeout = 15
				node.session.initial_login_retry_max = 1
			CONF
			fb_chap_settings
		} >"$1"
	)
}

fb_iscsid_files() {
	[ -n "$fb_name" ] || fb_name=$(sed -n 's/^InitiatorName=//p' /etc/iscsi/initiatorname.iscsi /etc/initiatorname.iscsi 2>/dev/null | head -n 1)
	[ -n "$fb_name" ] || {
		fb_cause "no initiator name: farblock.initiator= or /etc/iscsi/initiatorname.iscsi has to give it"
		return 1
	}
	etc=$fb_run/iscsid.etc
	mkdir -p "$etc/iscsi" /run/lock/iscsi /var/lock /etc/iscsi
	# It asks who root is before it obeys iscsiadm, and the /etc of here goes with the initramfs.
	echo "root:x:0:0:root:/root:/bin/sh" >"$etc/passwd"
	printf 'InitiatorName=%s\n' "$fb_name" >"$etc/iscsi/initiatorname.iscsi"
	fb_iscsid_conf_into "$etc/iscsi/iscsid.conf" || {
		fb_cause "$etc/iscsi/iscsid.conf: cannot be written"
		return 1
	}
}

# One that does not open its socket in time ends: the next attempt would take it for another one.
fb_iscsid_start() {
	fb_iscsid_alone || return 1
	etc=$fb_run/iscsid.etc
	unshare --mount --propagation private sh -c 'mount --bind "$1" /etc && exec @iscsid -f' sh "$etc" \
		</dev/null >>"$fb_run/iscsid.log" 2>&1 &
	pid=$!
	for i in 1 2 3 4 5 6 7 8 9 10; do
		kill -0 $pid 2>/dev/null || break
		! grep -q '@ISCSIADM_ABSTRACT_NAMESPACE' /proc/net/unix || {
			echo $pid >"$fb_run/iscsid.pid"
			return 0
		}
		sleep 1
	done
	kill -KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
	fb_cause "iscsid does not start: $(tail -n 1 "$fb_run/iscsid.log")"
	return 1
}

fb_iscsid() {
	! fb_iscsid_runs || return 0
	case $fb_kind in
	iser) modules="ib_iser rdma_ucm" ;;
	*) modules=iscsi_tcp ;;
	esac
	modprobe -q -a libcrc32c crc32c crc32c_generic
	modprobe -a $modules || {
		fb_cause "module ${modules%% *}: this kernel or initramfs does not have it (add it and make the initramfs again)"
		return 1
	}
	fb_iscsid_files || return 1
	cp -p "$etc/iscsi/"* /etc/iscsi/
	fb_iscsid_start
}

fb_is_number() { # text, largest; an empty one means the default
	case $1 in
	*[!0-9]* | ??????*) return 1 ;;
	'' | 0) ;;
	0*) return 1 ;;
	*) [ "$1" -le "$2" ] ;;
	esac
}

# iscsiadm makes files of address and name.
fb_is_iscsi_place() {
	case $1/$2 in
	/* | */*/* | *@*) return 1 ;;
	*/iqn.?* | */eui.?* | */naa.?*) return 0 ;;
	esac
	return 1
}

# ADDRESS:[6]:[PORT]:[LUN]:IQN, the address of IPv6 in brackets, numbers in decimal. CHAP comes from
# the firmware's table or iscsid.conf: every user can read the kernel's command line.
fb_iscsi_parse() {
	s=$1 user='' secret='' user_in='' secret_in=''
	case $s in
	\[?*]:*:*:*:?*) ;;
	\[* | :*) return 1 ;;
	*:*:*:*:?*) ;;
	*) return 1 ;;
	esac
	case $s in
	\[*\]:*) address=${s%%]*} address=${address#[} s=${s#*]:} ;;
	*) address=${s%%:*} s=${s#*:} ;;
	esac
	protocol=${s%%:*} s=${s#*:}
	port=${s%%:*} s=${s#*:}
	lun=${s%%:*} iqn=${s#*:}
	fb_is_iscsi_place "$address" "$iqn" || return 1
	case $protocol in
	'' | 6) ;;
	*) return 1 ;;
	esac
	fb_is_number "$port" 65535 && fb_is_number "$lun" 16383
}

fb_node() {
	iscsiadm -m node -T "$iqn" -p "$portal" "$@"
}

fb_set() {
	[ -z "$2" ] || fb_node -o update -n "$1" -v "$2" >/dev/null
}

fb_iscsi_record() {
	case $address in
	*:*) portal="[$address]:${port:-3260}" ;;
	*) portal="$address:${port:-3260}" ;;
	esac
	case $fb_kind in
	iser) i=iser ;;
	*) i=default ;;
	esac
	why=$(fb_node -I $i -o new 2>&1) || {
		fb_cause "$iqn at $portal: record of iscsiadm: $(printf '%s\n' "$why" | tail -n 1)"
		return 1
	}
	[ -z "$user" ] || fb_set node.session.auth.authmethod CHAP
	fb_set node.session.auth.username "$user"
	fb_set node.session.auth.password "$secret"
	fb_set node.session.auth.username_in "$user_in"
	fb_set node.session.auth.password_in "$secret_in"
}

# What iscsiadm's exit status says, and what to do. The target's status is in iscsid's log.
fb_iscsi_why() {
	log=$(tail -n 5 "$fb_run/iscsid.log")
	case $1:$log in
	24:*) fb_cause "$iqn at $portal: CHAP refused: check user and secret (firmware: username, password; else node.session.auth of /etc/iscsi/iscsid.conf in the initramfs), and those of the ACL of $fb_name" ;;
	*"not found"* | *"02/03"* | *"0203"*) fb_cause "$iqn at $portal: this portal has no such target: check the name, and that its portal group has this portal" ;;
	*"forbidden"* | *"authorization"* | *"02/02"* | *"0202"*) fb_cause "$iqn at $portal: refuses $fb_name: create an ACL for this name" ;;
	*"refused"*) fb_cause "$portal: connection refused: does the target run, is the port right?" ;;
	*"o route to host"* | *"unreachable"*) fb_cause "$portal: no route to host: check this machine's address and the target's" ;;
	4:* | 8:* | 11:*) fb_cause "$portal: no answer: does the target run, does a firewall or a VLAN stand between?" ;;
	*) fb_cause "$iqn at $portal: login failed: iscsiadm's status $1 (${why##*: }), log in $fb_run/iscsid.log" ;;
	esac
}

# The block device of the LUN in a session to iqn. Linux adds 16384 to what a target addresses flat,
# as many do from LUN 256 on.
fb_iscsi_disk() {
	for s in /sys/class/iscsi_session/session*; do
		[ "$(cat "$s/targetname" 2>/dev/null)" = "$iqn" ] || continue
		for b in "$s"/device/target*/*:"${lun:-0}"/block/* "$s"/device/target*/*:$((${lun:-0} + 16384))/block/*; do
			[ ! -e "$b" ] || {
				echo "${b##*/}"
				return 0
			}
		done
	done
	return 1
}

fb_iscsi_wait_disk() {
	for i in 1 2 3 4 5 6 7 8 9 10; do
		disk=$(fb_iscsi_disk) && return 0
		sleep 1
	done
	fb_cause "$iqn at $portal: login succeeded, no LUN ${lun:-0} for $fb_name: map it in its ACL"
	iscsiadm -m session -R >/dev/null 2>&1
	return 1
}

fb_attempt_iscsi() {
	fb_iscsid && fb_iscsi_record || return 1
	if ! disk=$(fb_iscsi_disk); then
		: >"$fb_run/iscsid.log" # what it says of this attempt
		why=$(fb_node --login 2>&1)
		r=$?
		[ $r = 0 ] || [ $r = 15 ] || {
			fb_iscsi_why $r
			return 1
		}
		fb_iscsi_wait_disk || return 1
	fi
	fb_say "$iqn at $portal, LUN ${lun:-0}, is $disk"
}
