#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The root disk of farblock.root=: one attempt each time that the queue of events is empty. Its
# state between the attempts is in a file.
fb_done=/run/farblock/root-attached
fb_state=/run/farblock/boot-state
if getarg farblock.root= >/dev/null && [ ! -e $fb_done ]; then
	. /usr/lib/farblock/boot/root.sh
	fb_network() {
		fb_has_address || {
			fb_cause "no address yet: ip= has to give one (ip=dhcp: a DHCP server has to answer)"
			return 1
		}
	}
	fb_words
	mkdir -p "$fb_run"
	fb_start_clock
	[ ! -e $fb_state ] || . $fb_state
	if fb_attempt; then
		: >$fb_done
	elif ! fb_has_time; then
		: >$fb_done
		# die makes a script of its text.
		die "farblock: no root disk after $fb_timeout s: $(fb_plain "${fb_last_cause:-unknown cause}")"
	else
		fb_save_state >$fb_state
		sleep 2
	fi
fi
