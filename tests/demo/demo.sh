#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Demonstrates farblock on loopback, in a temporary directory: exports a RAM disk and a sparse file
# over iSCSI/TCP, on the same port iSER over software iWARP, and SRP over software iWARP; discovers,
# logs in, writes, verifies and measures over all three. Needs neither root nor an RDMA device, and
# cleans up.
#   demo.sh BUILD       (the directory with farblockd, farblock and farblock-initiator)
# Environment: DEMO_SECONDS of each measurement (1), DEMO_MIB of each disk written (64).
set -euo pipefail

build=$(cd "${1:?usage: demo.sh BUILD}" && pwd)
seconds=${DEMO_SECONDS:-1} mib=${DEMO_MIB:-64}
bytes=$((mib << 20))
target=iqn.2025-01.org.example:disks
initiator=iqn.2025-01.org.example:laptop
user=demo password=correct-horse
tpg=/iscsi/$target/tpg1
srp_target=fe80000000000000020c29fffe3a1101
srp_initiator=0002c903000a00010002c903000a0002
srp=/srpt/ib.$srp_target
folder=$(mktemp -d "${TMPDIR:-/tmp}/farblock-demo.XXXXXX")
export FARBLOCK_SOCKET=$folder/control.sock PATH=$build:$PATH
daemon=
rows=()

finish() {
	local status=$?
	trap - EXIT
	trap '' INT TERM HUP
	[ -z "$daemon" ] || stop_daemon || [ $status != 0 ] || status=1
	if [ $status != 0 ]; then
		echo "demo: FAILED; the last lines of farblockd's log:" >&2
		tail -n 20 "$folder/farblockd.log" >&2 || true
	fi
	cd /
	rm -rf "$folder"
	exit $status
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

fail() {
	echo "demo: $*" >&2
	exit 1
}

title() { printf '\n== %s\n' "$*"; }

# Prints a command as a user would type it, then runs it.
run() {
	echo "\$ $*"
	"$@"
}

start_daemon() {
	echo '$ farblockd --config saveconfig.json --state-dir state --socket control.sock --metrics off &'
	farblockd --config saveconfig.json --state-dir state --socket control.sock --metrics off \
		>>farblockd.log 2>&1 &
	daemon=$!
	local i
	for ((i = 0; i < 200; i++)); do
		farblock version >/dev/null 2>&1 && return
		kill -0 "$daemon" 2>/dev/null || fail "farblockd exited at start"
		sleep 0.05
	done
	fail "farblockd did not answer within 10 s"
}

# Sends SIGTERM and returns the exit status; kills the daemon if it does not exit.
stop_daemon() {
	local pid=$daemon status=0 i
	daemon=
	kill -TERM "$pid" 2>/dev/null || true
	for ((i = 0; i < 300; i++)); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	kill -KILL "$pid" 2>/dev/null || true
	wait "$pid" || status=$?
	[ $status = 0 ] || echo "demo: farblockd exited with status $status" >&2
	return $status
}

# Takes ports below those that the kernel hands out, until one is free; sets port. Path of the
# target's group.
add_portal() {
	local answer i tpg=$1
	for ((i = 0; i < 50; i++)); do
		port=$((20000 + RANDOM % 12000))
		answer=$(farblock $tpg/portals create 127.0.0.1 $port)
		case $answer in
		*'not listening'*) farblock $tpg/portals delete 127.0.0.1 $port >/dev/null ;;
		*)
			printf '$ farblock %s\n%s\n' "$tpg/portals create 127.0.0.1 $port" "$answer"
			return
			;;
		esac
	done
	fail "no free port found"
}

row() { rows+=("$(printf '%-5s %-5s %-30s %s' "$@")"); }

# scheme of the URL, LUN
url() {
	case $1 in
	srp) echo "srp://127.0.0.1:$srp_port/${srp_target:0:16}:${srp_target:16}/$2" ;;
	*) echo "$1://$user@127.0.0.1:$iscsi_port/$target/$2" ;;
	esac
}

schemes=(iscsi iser srp)
declare -A name=([iscsi]=TCP [iser]=iSER [srp]=SRP)

# Sets login: the options of a login by that scheme.
login_by() {
	login=(--initiator-name $initiator --chap-secret-file secret)
	[ "$1" != srp ] || login=(--initiator-port "${srp_initiator:0:16}:${srp_initiator:16}")
}

# LUN, what it is, scheme: written, read back and compared byte by byte, checksummed by both
# sides.
exercise() {
	local url sum answer rate over=${name[$3]} login
	url=$(url "$3" "$1")
	login_by "$3"
	title "LUN $1, $2, over $over: write, verify, read back"
	head -c $bytes /dev/urandom >data
	data_sum=$(sha256sum data | cut -d' ' -f1)
	echo "data to write: $mib MiB of random bytes, SHA-256 $data_sum"
	answer=$(run farblock-initiator write "$url" --input data "${login[@]}")
	echo "$answer"
	rate=$(sed -n 's/.* s, \(.*\)$/\1/p' <<<"$answer")
	row "$1" "$over" "written, $mib MiB" "$rate"
	answer=$(run farblock-initiator checksum "$url" --length $bytes "${login[@]}")
	echo "$answer"
	sum=$(grep -oE '^[0-9a-f]{64}' <<<"$answer")
	[ "$sum" = "$data_sum" ] || fail "LUN $1: SHA-256 $sum, not $data_sum of what was written"
	row "$1" "$over" "SHA-256 read over the wire" "equal to the source"
	run farblock-initiator verify "$url" data "${login[@]}"
	run farblock-initiator read "$url" --output back --length $bytes "${login[@]}"
	cmp data back || fail "LUN $1: read back differs from what was written"
	row "$1" "$over" "read back, $mib MiB" "every byte equal"
	rm -f back
}

# LUN, operation, block size, depth: over each
measure() {
	local answer scheme login
	for scheme in "${schemes[@]}"; do
		login_by $scheme
		answer=$(farblock-initiator bench "$(url $scheme "$1")" --op "$2" --bs "$3" \
			--depth "$4" --time "$seconds" --offset $bytes "${login[@]}")
		answer=${answer%%$'\n'*}
		row "$1" "${name[$scheme]}" "$2 $3, depth $4" "$(sed 's/^[^:]*: //' <<<"$answer")"
		echo "LUN $1 over ${name[$scheme]}: $answer"
	done
}

cd "$folder"
title "farblockd, in $folder"
echo "$ export FARBLOCK_SOCKET=$FARBLOCK_SOCKET"
start_daemon

title "Export two disks to one initiator, with CHAP"
run farblock /backstores/ramdisk create rd0 256M
run farblock /backstores/fileio create file0 "$folder/disk.img" 256M
run farblock /iscsi create $target
run farblock $tpg/portals delete 0.0.0.0 3260
add_portal $tpg
iscsi_port=$port
run farblock $tpg/luns create /backstores/ramdisk/rd0
run farblock $tpg/luns create /backstores/fileio/file0
run farblock $tpg/acls create $initiator
run farblock $tpg/acls/$initiator set auth userid=$user password=$password

title "The same disks over SRP, to one initiator port"
run farblock /srpt create ib.$srp_target
run farblock $srp/portals delete 0.0.0.0 3261
add_portal $srp
srp_port=$port
run farblock $srp/luns create /backstores/ramdisk/rd0
run farblock $srp/luns create /backstores/fileio/file0
run farblock $srp/acls create ib.$srp_initiator
run farblock ls

title "Discovery"
(umask 077 && printf %s "$password" >secret)
found=$(run farblock-initiator discover 127.0.0.1:$iscsi_port --initiator-name $initiator)
echo "$found"
grep -q "$target" <<<"$found" || fail "discovery does not list $target"
row - TCP "discovered" "$target"
found=$(run farblock-initiator discover iser://127.0.0.1:$iscsi_port --initiator-name $initiator)
echo "$found"
grep -q "$target" <<<"$found" || fail "discovery over iSER does not list $target"
row - iSER "discovered" "$target"
login_by srp
found=$(run farblock-initiator discover srp://127.0.0.1:$srp_port "${login[@]}")
echo "$found"
grep -q "ib.$srp_target" <<<"$found" || fail "discovery over SRP does not list ib.$srp_target"
row - SRP "discovered" "ib.$srp_target"
if command -v iscsi-ls >/dev/null; then
	witness=$(run iscsi-ls -i $initiator -s "iscsi://$user%$password@127.0.0.1:$iscsi_port")
	echo "$witness"
	[ "$(grep -c '^Lun:' <<<"$witness")" = 2 ] || fail "iscsi-ls does not see both LUNs"
	row - TCP "seen by iscsi-ls (libiscsi)" "2 LUNs"
else
	echo "(iscsi-ls of libiscsi-bin is not installed)"
fi

title "A login without the secret is refused, with the cause"
if run farblock-initiator luns "iscsi://127.0.0.1:$iscsi_port/$target" --initiator-name $initiator; then
	fail "logged in without CHAP"
fi
run farblock refusals
row - TCP "login without CHAP" "refused"

title "Login"
for scheme in "${schemes[@]}"; do
	login_by $scheme
	run farblock-initiator ping "$(url $scheme 0)" "${login[@]}"
done
run farblock-initiator luns "srp://127.0.0.1:$srp_port/${srp_target:0:16}:${srp_target:16}" "${login[@]}"
for scheme in "${schemes[@]}"; do
	exercise 0 "RAM disk" $scheme
	exercise 1 "file, O_DIRECT" $scheme
done

title "Measurements, $seconds s each, client and target on this machine"
for lun in 0 1; do
	measure $lun randread 4k 1
	measure $lun randread 4k 32
	measure $lun randwrite 4k 32
	measure $lun read 128k 32
	measure $lun write 128k 32
done

title "Restart of the daemon: the data of the file is unchanged"
stop_daemon || fail "farblockd did not exit cleanly"
cmp -n $bytes data disk.img || fail "the file differs from the data written"
start_daemon
for scheme in "${schemes[@]}"; do
	login_by $scheme
	run farblock-initiator verify "$(url $scheme 1)" data "${login[@]}"
	row 1 "${name[$scheme]}" "after a restart" "every byte equal"
done
stop_daemon || fail "farblockd did not exit cleanly"

title "Summary"
printf '%-5s %-5s %-30s %s\n' LUN over test result
printf '%s\n' "${rows[@]}"
