#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Debian packages of what is committed, and lintian's opinion of them.
#   etc/deb.sh FOLDER        the packages land there
set -eu
folder=${1:?usage: etc/deb.sh FOLDER}
cd "$(dirname "$0")/.."
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
version=$(dpkg-parsechangelog -S Version)
rm -rf "$folder/farblock-$version"
mkdir "$folder/farblock-$version"
git archive HEAD | tar -x -C "$folder/farblock-$version"
(cd "$folder/farblock-$version" && dpkg-buildpackage -b -us -uc >"$folder/log" 2>&1) || {
	tail -30 "$folder/log" >&2
	exit 1
}
rm -rf "$folder/farblock-$version"
lintian --fail-on error,warning "$folder/farblock_${version}_$(dpkg --print-architecture).changes"
ls "$folder"/*.deb
