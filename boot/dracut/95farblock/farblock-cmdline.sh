#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A root disk of farblock.root= needs the network. Addresses of the firmware's table are set later,
# by farblock-initiator.
if getarg farblock.root= >/dev/null; then
	[ "${netroot:-}" ] || rootok=1
	case $(getarg farblock.root=) in
	ibft | iscsi:ibft | iser:ibft | user:ibft) ;;
	*) echo rd.neednet=1 >/etc/cmdline.d/85farblock.conf ;;
	esac
fi
