#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Prepares the lab's guest: a Debian kernel and a small Debian userland with open-iscsi, all from
# the archive this machine's apt knows, unpacked under $FARBLOCK_LAB (default
# ${XDG_CACHE_HOME:-~/.cache}/farblock-lab). Needs no root, installs nothing on this machine and
# leaves its package state alone. Says nothing and is fast when all is there; 250 MB of disk, 1.5 GB while it works.
# Exit status 77 with a reason where the packages cannot be had.
set -euo pipefail

# What the guest runs: the initiators, what tests them, and what farblockd and its tests link.
PACKAGES="bash coreutils util-linux mount grep sed mawk findutils procps diffutils kmod udev
	iproute2 open-iscsi sg3-utils multipath-tools dmsetup e2fsprogs xfsprogs btrfs-progs fio fuse3
	liburing2 libjson-c5 libisal2 libssl3 libblkid1 libibumad3 libibverbs1 ibverbs-providers
	librdmacm1 libmicrohttpd12 libcmocka0 libfuse3-3 libmnl0 libnl-genl-3-200"
KERNELS="linux-image-6.12-amd64 linux-image-amd64"
# The guest boots with these, in the order of their dependencies ...
BOOT_MODULES="virtio_pci virtio_blk ext4"
# ... and finds these parts of the kernel's modules in its image.
MODULES="arch crypto lib fs/ext4 fs/jbd2 fs/mbcache.ko* fs/xfs fs/btrfs fs/fuse fs/9p fs/netfs fs/overlayfs net/9p net/core
	fs/configfs net/ipv4 net/ipv6 net/tls drivers/block drivers/char drivers/crypto drivers/infiniband
	drivers/md drivers/net drivers/scsi drivers/target drivers/virtio"

here=$(cd "$(dirname "$0")" && pwd)
LAB=${FARBLOCK_LAB:-${XDG_CACHE_HOME:-$HOME/.cache}/farblock-lab}

skip() {
	echo "lab: skipped: $*" >&2
	exit 77
}

for tool in qemu-system-x86_64 apt-get dpkg-deb depmod modprobe busybox mkfs.ext4 python3 xz; do
	PATH=$PATH:/usr/sbin:/sbin command -v $tool >/dev/null ||
		skip "$tool is not installed (etc/deps.sh lab installs what the lab needs on Debian)"
done
PATH=$PATH:/usr/sbin:/sbin
[ "$(dpkg --print-architecture)" = amd64 ] || skip "the guest is an amd64 one, this machine is not"
! ldd "$(command -v busybox)" >/dev/null 2>&1 || skip "busybox is not the static one (busybox-static)"

mkdir -p "$LAB"
cd "$LAB"
exec 9>lock
flock 9
stamp=$(cat "$here/prepare.sh" "$here/make_siw.sh" "$here/init" "$here/agent" | sha256sum)
[ "$(cat ready 2>/dev/null)" != "$stamp" ] || exit 0
rm -f ready
echo "lab: preparing the guest in $LAB" >&2

# An apt of its own: no package counts as installed, so that it finds all dependencies; its own
# lists, so that it needs no root and a stale state here does not matter.
mkdir -p apt/lists/partial apt/debs/partial
: >apt/status
options="-o Dir::State=$LAB/apt -o Dir::State::lists=$LAB/apt/lists
	-o Dir::State::status=$LAB/apt/status -o Dir::Cache=$LAB/apt
	-o Dir::Cache::archives=$LAB/apt/debs -o APT::Sandbox::User=$(id -un)
	-o APT::Install-Recommends=false -o Acquire::Languages=none -o Acquire::Retries=2"
# shellcheck disable=SC2086
apt_here() { apt-get -qq $options "$@" 9>&-; }
apt_here update >apt/log 2>&1 || skip "apt-get update failed: $(tail -1 apt/log)"
kernel=
for name in $KERNELS; do
	# shellcheck disable=SC2086
	kernel=$(apt-cache $options depends "$name" 2>/dev/null |
		awk '/Depends: linux-image-/ && !n++ {print $2}')
	[ -z "$kernel" ] || break
done
[ -n "$kernel" ] || skip "no kernel among $KERNELS in this machine's package archive"
release=${kernel#linux-image-}
# shellcheck disable=SC2086
apt_here install --download-only -y $PACKAGES >apt/log 2>&1 ||
	skip "packages cannot be downloaded: $(tail -1 apt/log)"
(cd apt/debs && { [ -e "$kernel".deb ] || { apt_here download "$kernel" >../log 2>&1 &&
	mv "$kernel"_*.deb "$kernel".deb; }; }) || skip "$kernel cannot be downloaded"

unpack() {
	dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink --no-same-owner -C "$2" \
		--exclude './usr/share/doc' --exclude './usr/share/man' --exclude './usr/share/locale' \
		--exclude './usr/share/i18n' --exclude './usr/share/perl' --exclude './dev/*'
}

rm -rf root kernel initrd
mkdir -p root/usr/{bin,sbin,lib,lib64} root/{proc,sys,dev,run,tmp,mnt,host} kernel
for d in bin sbin lib lib64; do ln -s usr/$d root/$d; done
for deb in apt/debs/*.deb; do
	[ "$deb" = "apt/debs/$kernel.deb" ] || unpack "$deb" root
done
unpack "apt/debs/$kernel.deb" kernel
modules=lib/modules/$release
[ -d "kernel/$modules" ] || modules=usr/$modules
cp kernel/boot/vmlinuz-"$release" vmlinuz

mkdir -p "root/usr/lib/modules/$release/kernel"
cp kernel/"$modules"/modules.{order,builtin*} "root/usr/lib/modules/$release/"
for part in $MODULES; do
	for path in "kernel/$modules/kernel/"$part; do
		[ -e "$path" ] || continue
		to=root/usr/lib/modules/$release/kernel/$(dirname "$part")
		mkdir -p "$to"
		cp -r "$path" "$to/"
	done
done
rm -rf root/usr/lib/modules/"$release"/kernel/drivers/net/{ethernet,wireless,usb,can}
# Debian leaves siw (iWARP in software) out of its kernels; without it all else works.
if APT_OPTIONS=$options "$here/make_siw.sh" "$release" siw.ko >siw.log 2>&1 9>&-; then
	mv siw.ko "root/usr/lib/modules/$release/kernel/drivers/infiniband/"
else
	echo "lab: siw cannot be built, its scenarios will be skipped: $(tail -1 siw.log)" >&2
fi
depmod -b root "$release"
echo "$release" >release

# Packages' scripts have not run: the few links and files they would have made.
[ -e root/usr/bin/sh ] || ln -s bash root/usr/bin/sh
ln -sf mawk root/usr/bin/awk
printf 'root:x:0:0:root:/root:/bin/bash\n' >root/etc/passwd
printf 'root:x:0:\n' >root/etc/group
mkdir -p root/root root/etc/iscsi root/var/lib root/run
: >root/etc/fstab
cp "$here/agent" root/usr/sbin/lab-agent
chmod 755 root/usr/sbin/lab-agent
size=$(($(du -sm root | cut -f1) + 96))
rm -f root.img
truncate -s "${size}M" root.img
mkfs.ext4 -q -F -L lab -m 0 -O ^has_journal -E lazy_itable_init=0 -d root root.img

mkdir -p initrd/{bin,modules,proc,sys,dev,newroot}
cp "$(command -v busybox)" initrd/bin/busybox
cp "$here/init" initrd/init
chmod 755 initrd/init
for m in $BOOT_MODULES; do
	modprobe -d root -S "$release" --show-depends "$m" | awk '/^insmod/ {print $2}'
done | awk '!seen[$0]++' | while read -r f; do
	name=$(basename "$f" .xz)
	case $f in
	*.xz) xz -dc "$f" >"initrd/modules/$name" ;;
	*) cp "$f" "initrd/modules/$name" ;;
	esac
	echo "$name" >>initrd/modules/order
done
python3 "$here/cpio.py" initrd >initrd.img

# KVM where it runs this kernel: a device that opens is not enough.
echo tcg >accel
if [ -w /dev/kvm ] && FARBLOCK_LAB_ACCEL=kvm timeout 40 "$here/vm.sh" -c true >apt/log 2>&1; then
	echo kvm >accel
fi
rm -rf root kernel initrd apt/debs apt/lists
echo "$stamp" >ready
