#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# make_siw.sh RELEASE FILE: the module siw (iWARP in software), which Debian leaves out of its kernels,
# for one of them: from Debian's source of the same kernel, with its headers, which expect to lie in
# /usr/src: told otherwise. Without type information for BPF, which would take pahole. Installs
# nothing. APT_OPTIONS are options of apt-get and apt-cache.
set -euo pipefail
release=$1 file=$(realpath -m "$2")
series=$(echo "$release" | grep -oE '^[0-9]+\.[0-9]+')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/debs" "$work/tree" "$work/siw"
cd "$work/debs"
# shellcheck disable=SC2086
needed=$(apt-cache ${APT_OPTIONS-} depends "linux-headers-$release" |
	awk '/Depends: linux-(headers|kbuild)/ {print $2}')
# shellcheck disable=SC2086
apt-get -qq ${APT_OPTIONS-} download "linux-headers-$release" "linux-source-$series" $needed
for deb in *.deb; do dpkg-deb -x "$deb" ../tree; done
cd ..
sed -i "s|/usr/src/|$work/tree/usr/src/|g" "tree/usr/src/linux-headers-$release/Makefile"
tar -xf "tree/usr/src/linux-source-$series.tar.xz" -C siw --wildcards --strip-components=5 \
	'*/drivers/infiniband/sw/siw/*'
make -s -C "tree/usr/src/linux-headers-$release" M="$work/siw" CONFIG_RDMA_SIW=m \
	CONFIG_DEBUG_INFO_BTF_MODULES= modules
strip --strip-debug siw/siw.ko
mv siw/siw.ko "$file"
