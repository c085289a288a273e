#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs every fuzzer, or those named, for so many seconds each on a copy of its corpus: one line
# each, then the totals. Exit status 1 if there is a finding, 2 for wrong usage.
#   run.sh SECONDS [NAME...]
# Environment: JOBS fuzzers at once (one a CPU), BUILD_FUZZ (build-fuzz). The grown corpora stay
# in $BUILD_FUZZ/corpus and are where the next run begins; what is found goes to
# $BUILD_FUZZ/findings, its log beside it.
set -u
cd "$(dirname "$0")/../.." || exit 2
seconds=${1:-}
if ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
	echo "usage: tests/fuzz/run.sh SECONDS [NAME...]" >&2
	exit 2
fi
shift
jobs=${JOBS:-$(nproc)} build=${BUILD_FUZZ:-build-fuzz}

known=$(cd tests/fuzz && printf '%s\n' */fuzz_*.c | sed 's/.*fuzz_//; s/\.c$//' | sort)
names=${*:-$known}
for name in $names; do
	if ! grep -qx -- "$name" <<<"$known"; then
		echo "run.sh: no fuzzer '$name' (there are: $(tr '\n' ' ' <<<"$known"))" >&2
		exit 2
	fi
done

cmake -S . -B "$build" -DCMAKE_C_COMPILER=clang -DFUZZ=ON >/dev/null || exit 2
# shellcheck disable=SC2086 # a list
make --no-print-directory -C "$build" -j"$(nproc)" $(printf 'fuzz_%s ' $names) 2>&1 |
	grep -E '(warning|error):|\*\*\*' && exit 2
[ "${PIPESTATUS[0]}" = 0 ] || exit 2
results=$(mktemp -d) || exit 2
trap 'rm -rf "$results"' EXIT
trap 'exit 130' INT TERM

# Name: runs it and writes its line to $results.
fuzz_one() {
	local name=$1 work=$build/corpus/$1 log=$build/findings/$1.log status=0 begin=$SECONDS
	mkdir -p "$work" "$build/findings"
	"$(find "$build/tests/fuzz" -maxdepth 1 -type f -name "fuzz_$name")" -print_final_stats=1 \
		-max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
		-artifact_prefix="$build/findings/$name-" \
		"$work" "tests/fuzz/corpus/$name" >"$log" 2>&1 || status=$?
	local runs cover verdict=ok
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
	cover=$(grep -oE 'cov: [0-9]+' "$log" | tail -1 | cut -d' ' -f2)
	if [ $status != 0 ]; then
		verdict="FINDING, exit status $status: $(grep -m1 -E 'SUMMARY|ERROR|runtime error' "$log")"
		verdict+=" ($log)"
	fi
	printf '%-18s %4d s %12s runs %6s edges %6s inputs  %s\n' "$name" $((SECONDS - begin)) \
		"${runs:-?}" "${cover:-?}" "$(find "$work" -type f | wc -l)" "$verdict" |
		tee "$results/$name"
}

for name in $names; do
	while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
		wait -n
	done
	fuzz_one "$name" &
done
wait
cat "$results"/* | awk '
	/ FINDING/ { bad++ }
	{ runs += $4 }
	END { printf "fuzz: %d fuzzers, %.0f runs, %d findings\n", NR, runs, bad; exit bad > 0 }'
