# SPDX-License-Identifier: BSD-2-Clause
# farblock-initiator, in user space: one process holds the disk until the machine stops.

fb_user_modules() {
	case $fb_via in
	nbd) modprobe -q nbd max_part=16 ;;
	ublk) modprobe -q ublk_drv ;;
	'') modprobe -q ublk_drv || modprobe -q nbd max_part=16 ;;
	esac
}

# The last words of farblock-initiator, whose options nobody gives here.
fb_user_why() {
	case $fb_specs in
	ibft) chap="username and password of the firmware" ;;
	*) chap="authmethod = CHAP, username and password of node.session.auth in /etc/iscsi/iscsid.conf of the initramfs" ;;
	esac
	tail -n 1 "$fb_run/attach.log" |
		sed "s|--chap-user, --chap-secret-file|$chap|; s|--chap-secret-file FILE, or set FARBLOCK_CHAP_SECRET|$chap|"
}

fb_attempt_user() {
	fb_user_modules
	set --
	[ -z "$fb_via" ] || set -- "$@" --via "$fb_via"
	[ -z "$fb_name" ] || set -- "$@" --initiator-name "$fb_name"
	case $fb_specs in
	# boot retries for 20 s; this script runs it again until farblock.timeout.
	ibft) set -- boot -b --timeout 20 --name root "$@" ;;
	*)
		[ -z "$(fb_chap_settings)" ] || set -- "$@" --iscsi-dir "${fb_iscsid_conf%/*}"
		set -f
		set -- attach $fb_specs --root-disk --name root "$@"
		set +f
		;;
	esac
	if device=$(farblock-initiator "$@" 2>"$fb_run/attach.log"); then
		fb_say "$device is the disk of $fb_specs"
		return 0
	fi
	fb_cause "$(fb_user_why)"
	return 1
}
