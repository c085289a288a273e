#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The root disk of farblock.root=: one attempt each time that the queue of events is empty. Its
# state between the attempts is in a file.
fb_done=/run/farblock-boot/root-attached
fb_state=/run/farblock-boot/boot-state
if getarg farblock.root= >/dev/null && [ ! -e $fb_done ]; then
	. /usr/lib/farblock/boot/root.sh
	# dracut asks for an address once for each interface, and waits for what came of that.
	fb_network_again() {
		for d in $(fb_interfaces); do
			[ -e "/tmp/net.$d.did-setup" ] || ! fb_has_link "$d" || /sbin/ifup "$d"
		done
	}
	fb_network() {
		[ -z "$fb_was_unlinked" ] || [ ! -x /sbin/ifup ] || fb_network_again
		fb_has_address || {
			fb_cause "no address yet: ip= has to give one (ip=dhcp: a DHCP server has to answer)"
			return 1
		}
	}
	console=$fb_console
	[ ! -e $fb_state ] || fb_console=/dev/null # wrong words were said at the first attempt
	# Also those of /etc/cmdline.d.
	mkdir -p "$fb_run"
	fb_cmdline=$fb_run/cmdline
	getcmdline >"$fb_cmdline"
	fb_words
	fb_console=$console
	fb_start_clock
	[ ! -e $fb_state ] || . $fb_state
	if fb_attempt; then
		: >$fb_done
	elif fb_goes_on; then
		fb_save_state >$fb_state
		sleep 2
	else
		# After the rescue shell the login is tried again, for the same time.
		fb_say "$(fb_end)"
		emergency_shell -n farblock "farblock: $(fb_plain "$(fb_end)")"
		[ -z "$fb_is_wrong" ] || : >$fb_done
		fb_start_clock
		fb_save_state >$fb_state
	fi
	# The queue, whose shell reads this file, has a limit of its own, of passes.
	main_loop=0
fi
