# SPDX-License-Identifier: BSD-2-Clause
# CHAP where the firmware leaves no table: what open-iscsi's iscsid.conf has of it. Every user can read the
# kernel's command line, and no secret is taken from there.

fb_iscsid_conf=${fb_iscsid_conf:-/etc/iscsi/iscsid.conf}

# Nothing where there is no such file.
fb_chap_settings() {
	[ ! -e "$fb_iscsid_conf" ] || sed -n '/^[[:blank:]]*node\.session\.auth\./p' "$fb_iscsid_conf"
}

# Of the hooks: into the file $1 of the initramfs. Fails if there are none.
fb_chap_into() {
	settings=$(fb_chap_settings)
	[ -n "$settings" ] || return 1
	(umask 077 && printf '%s\n' "$settings" >"$1")
}
