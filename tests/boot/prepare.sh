#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# prepare.sh BUILD_DIR [KIND-KERNEL...]: makes a whole Debian 12 for a LUN, from Debian's packages and
# BUILD_DIR's farblock-initiator with its boot scripts, in $FARBLOCK_BOOT (default
# ${XDG_CACHE_HOME:-~/.cache}/farblock-boot): root.img (GRUB, ext4, serial console, root without a
# password), and for each KIND-KERNEL (initrd or dracut, 6.1 or 6.12; default: initrd-6.12
# dracut-6.12) the kernel and its initramfs beside it. Makes only what is missing or older than the
# build. FARBLOCK_BOOT_PACKAGES: further packages, with commas. Needs root and 6 GB. Exit status 77 with a
# reason where the packages cannot be had.
set -euo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive PATH=$PATH:/usr/sbin:/sbin

here=$(cd "$(dirname "$0")" && pwd)
BUILD=$(cd "${1:?usage: prepare.sh BUILD_DIR [KIND-KERNEL...]}" && pwd)
shift
[ $# -gt 0 ] || set -- initrd-6.12 dracut-6.12
BOOT=${FARBLOCK_BOOT:-${XDG_CACHE_HOME:-$HOME/.cache}/farblock-boot}
PACKAGES=systemd-sysv,udev,dbus,login,passwd,kmod,iproute2,iputils-ping,procps,e2fsprogs,util-linux,fio,\
initramfs-tools,busybox,zstd,dracut-network,isc-dhcp-client,open-iscsi,rdma-core,ibverbs-providers,\
libuuid1,libblkid1,libisal2,libjson-c5,libssl3,liburing2,libibverbs1,librdmacm1,libibumad3,libfuse3-3,libmnl0,\
libnl-3-200,libnl-genl-3-200,libsgutils2-1.46-2${FARBLOCK_BOOT_PACKAGES:+,$FARBLOCK_BOOT_PACKAGES}

skip() {
	echo "boot: skipped: $*" >&2
	exit 77
}

[ "$(id -u)" = 0 ] || skip "the image is made by root"
for tool in mmdebstrap qemu-system-x86_64 mke2fs sfdisk grub-mkimage depmod cmake python3; do
	command -v $tool >/dev/null || skip "$tool is not installed (etc/deps.sh boot installs it on Debian)"
done
[ -e /usr/lib/grub/i386-pc/boot.img ] || skip "grub-pc-bin is not installed (etc/deps.sh boot)"
mkdir -p "$BOOT"
cd "$BOOT"
exec 9>lock
flock 9

# ---- Debian, once ----

newest() {
	case $1 in
	6.1) apt-cache depends linux-image-amd64 | awk '/Depends/ {print $2; exit}' ;;
	*) apt-cache search --names-only "^linux-image-$1\.[0-9]+\+deb12-amd64$" | awk '{print $1}' | sort -V | tail -1 ;;
	esac | sed 's/^linux-image-//'
}

# Those of the pairs, and what is there already.
kernels=$({ printf '%s\n' "${@#*-}" && awk '{print $1}' releases 2>/dev/null || :; } | sort -u)
if [ ! -e root.tar ] || [ "$(cat packages 2>/dev/null)" != "$PACKAGES" ] ||
	[ "$(awk '{print $1}' releases)" != "$kernels" ]; then
	echo "boot: making a Debian in $BOOT" >&2
	rm -f releases.new
	for k in $kernels; do
		release=$(newest $k)
		[ -n "$release" ] || skip "no kernel $k in this machine's package archive"
		echo "$k $release" >>releases.new
	done
	mirror=${FARBLOCK_BOOT_MIRROR:-http://deb.debian.org}
	INITRD=No mmdebstrap --quiet --variant=minbase \
		--include="$PACKAGES,$(sed 's/.* /linux-image-/' releases.new | paste -sd,)" \
		--customize-hook='chroot "$1" passwd -qd root; echo farroot >"$1/etc/hostname"
			echo "LABEL=farroot / ext4 errors=remount-ro 0 1" >"$1/etc/fstab"' \
		bookworm root.new.tar "deb $mirror/debian bookworm main" \
		"deb $mirror/debian bookworm-updates main" \
		"deb $mirror/debian-security bookworm-security main" >debian.log 2>&1 9>&- ||
		skip "no Debian: $(tail -1 debian.log)"
	mv releases.new releases
	mv root.new.tar root.tar
	echo "$PACKAGES" >packages
	rm -f ready-*
fi
while read -r _ release; do
	[ -e "siw-$release.ko" ] || "$here/../lab/make_siw.sh" "$release" "siw-$release.ko" >siw.log 2>&1 9>&- ||
		skip "siw cannot be built: $(tail -1 siw.log)"
done <releases

# ---- what of the build goes in, each time that it changes ----

install_farblock() {
	DESTDIR=$1 cmake --install "$BUILD" --prefix /usr >install.log
	rm -f "$1"/usr/sbin/farblockd "$1"/usr/bin/farblock
	rm -rf "$1"/usr/share/doc/farblock "$1"/usr/share/man/man*/farblock*
	# The build is configured for another prefix.
	sed -i s,/usr/local/bin/,/usr/bin/, "$1"/lib/udev/rules.d/*farblock* "$1"/lib/systemd/system/farblock*
	strip --strip-debug "$1"/usr/bin/farblock-initiator
	while read -r _ release; do
		mkdir -p "$1/lib/modules/$release/updates"
		cp "siw-$release.ko" "$1/lib/modules/$release/updates/siw.ko"
		depmod -b "$1" "$release"
	done <releases
	echo InitiatorName=iqn.2025-01.org.farblock:diskless >"$1/etc/iscsi/initiatorname.iscsi"
	# Taken into each initramfs. With a table of the firmware it is not looked at.
	printf 'node.session.auth.%s\n' 'authmethod = CHAP' 'username = diskless' 'password = correct-horse-1' \
		>"$1/etc/iscsi/iscsid.conf"
	# Only the modules of this machine and of the hooks: MODULES=most takes minutes.
	printf 'MODULES=list\nCOMPRESS=zstd\nCOMPRESSLEVEL=1\n' >"$1/etc/initramfs-tools/conf.d/boot"
	printf '%s\n' virtio_pci virtio_net virtio_blk virtio_rng ext4 >>"$1/etc/initramfs-tools/modules"
	printf '%s\n' 'defaults {' 'find_multipaths yes' '}' 'overrides {' 'no_path_retry queue' '}' \
		>"$1/etc/multipath.conf"
	cp "$here/command.service" "$1/etc/systemd/system/boot-command.service"
	install -m 755 "$here/command" "$1/usr/local/sbin/boot-command"
	ln -sf ../boot-command.service "$1/etc/systemd/system/multi-user.target.wants/"
}

stamp=$({
	cat "$here"/prepare.sh "$here"/command* packages
	cd "$BUILD" && find farblock-initiator etc -type f -exec sha256sum {} +
	find "$here/../../boot" -type f -exec sha256sum {} +
} | sha256sum)
if [ "$(cat stamp 2>/dev/null)" != "$stamp" ]; then
	echo "boot: installing $BUILD" >&2
	rm -rf root ready-* stamp root.img
	mkdir root
	tar -C root -xf root.tar
	install_farblock "$PWD/root"
	echo "$stamp" >stamp
fi

# ---- initramfs ----

unmount() {
	for d in proc sys dev; do
		! mountpoint -q root/$d || umount root/$d
	done
}

make_initramfs() { # kind, release
	case $1 in
	initrd) chroot root mkinitramfs -o /boot/initrd-"$2" "$2" ;;
	dracut)
		omit="plymouth crypt lvm dmraid mdraid drm"
		case $PACKAGES in
		*,multipath*) ;;
		*) omit="$omit dm multipath" ;;
		esac
		chroot root dracut --force --quiet --no-hostonly --compress 'zstd -1' \
			--drivers 'virtio_pci virtio_net virtio_blk virtio_rng ext4' --omit "$omit" \
			/boot/dracut-"$2" "$2"
		;;
	esac
}

for pair; do
	[ ! -e "ready-$pair" ] || continue
	release=$(awk -v k="${pair#*-}" '$1 == k {print $2}' releases)
	[ -n "$release" ] || { echo "boot: $pair: no such kernel" >&2; exit 2; }
	echo "boot: making ${pair%%-*} of $release" >&2
	trap unmount EXIT
	for d in proc sys dev; do mount --bind /$d root/$d; done
	make_initramfs "${pair%%-*}" "$release" >"initramfs-$pair.log" 2>&1 9>&- ||
		{ cat "initramfs-$pair.log" >&2; exit 1; }
	unmount
	cp "root/boot/vmlinuz-$release" "vmlinuz-${pair#*-}"
	cp "root/boot/${pair%%-*}-$release" "$pair"
	rm -f root.img
	touch "ready-$pair"
done

# ---- the disk: no loop device, no mount ----

# GRUB takes the entry and further kernel words from the SMBIOS tables, so that one image does every case.
grub_menu() {
	echo 'serial --unit=0 --speed=115200; terminal_input serial; terminal_output serial; set timeout=0'
	echo 'insmod smbios; smbios --type 1 --get-string 7 --set words; smbios --type 1 --get-string 5 --set default'
	echo 'search --no-floppy --label farroot --set root'
	for f in ready-*; do
		pair=${f#ready-}
		release=$(awk -v k="${pair#*-}" '$1 == k {print $2}' releases)
		echo "menuentry $pair { linux /boot/vmlinuz-$release root=LABEL=farroot ro console=ttyS0 net.ifnames=0 \$words"
		echo "  initrd /boot/${pair%%-*}-$release; }"
	done
}

if [ ! -e root.img ]; then
	echo "boot: making $BOOT/root.img" >&2
	mkdir -p root/boot/grub
	grub_menu >root/boot/grub/grub.cfg
	"$here/../../boot/diskless-debian" --size 4G --tree root root.img
fi
