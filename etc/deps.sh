#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Installs what farblock needs, with apt, dnf or pacman: only what is missing.
#   etc/deps.sh [build|check|bench|lint|fuzz|lab|boot|deb]...     (build is always included)
set -eu

apt_build="gcc make cmake pkg-config liburing-dev libjson-c-dev libisal-dev libssl-dev libedit-dev libblkid-dev libfuse3-dev libibumad-dev libibverbs-dev librdmacm-dev libmnl-dev libmicrohttpd-dev libsgutils2-dev"
apt_check="ninja-build libcmocka-dev libiscsi-dev libiscsi-bin qemu-utils qemu-block-extra qemu-system-x86 ipxe-qemu ipxe ovmf python3 python3-pexpect git util-linux e2fsprogs tshark iproute2 nftables mandoc zsh fish python3-rtslib-fb strace python3-prometheus-client chromium debhelper dpkg-dev fakeroot ibsim-utils libibmad-dev opensm srptools tgt istgt fio xfsprogs btrfs-progs libnbd-bin dnsmasq-base dosfstools fdisk grub-pc-bin mtools dash busybox-static mmdebstrap systemd-container"
apt_bench="tgt istgt libiscsi-bin qemu-utils nbd-client fio python3"
apt_lint="clang-format python3 git universal-ctags"
apt_fuzz="clang libclang-rt-14-dev"
apt_lab="qemu-system-x86 busybox-static kmod e2fsprogs iproute2 util-linux xz-utils python3 gcc make libelf1"
apt_boot="mmdebstrap systemd-container socat debhelper dpkg-dev fakeroot lintian qemu-system-x86 ipxe-qemu e2fsprogs fdisk grub-pc-bin grub-common kmod cpio zstd gcc make libelf1 python3"
apt_deb="debhelper dpkg-dev fakeroot git lintian"

dnf_build="gcc make cmake pkgconf-pkg-config liburing-devel json-c-devel isa-l-devel openssl-devel libedit-devel libblkid-devel fuse3-devel rdma-core-devel libmnl-devel libmicrohttpd-devel sg3_utils-devel"
dnf_check="ninja-build libasan libubsan libtsan libcmocka-devel libiscsi-devel libiscsi-utils qemu-img qemu-block-iscsi qemu-system-x86-core ipxe-roms-qemu python3 python3-pexpect git util-linux e2fsprogs wireshark-cli iproute nftables mandoc zsh fish strace python3-prometheus_client chromium scsi-target-utils fio xfsprogs btrfs-progs libnbd dnsmasq dosfstools grub2-pc-modules mtools dash busybox"
dnf_bench="scsi-target-utils libiscsi-utils qemu-img fio python3"
dnf_lint="clang-tools-extra python3 git ctags"
dnf_fuzz="clang compiler-rt"
dnf_lab="" # the guest is made of Debian's packages
dnf_boot="" # the image is made of Debian's packages
dnf_deb=""

pacman_build="gcc make cmake pkgconf liburing json-c isa-l openssl libedit util-linux-libs fuse3 rdma-core libmnl libmicrohttpd sg3_utils"
pacman_check="ninja cmocka libiscsi qemu-img qemu-block-iscsi qemu-system-x86 python python-pexpect git util-linux e2fsprogs wireshark-cli iproute2 nftables mandoc zsh fish strace python-prometheus_client chromium fio xfsprogs btrfs-progs libnbd dnsmasq dosfstools grub mtools dash busybox"
pacman_bench="libiscsi qemu-img fio python"
pacman_lint="clang python git ctags"
pacman_fuzz="clang compiler-rt"
pacman_lab=""
pacman_boot=""
pacman_deb=""

if command -v apt-get >/dev/null; then pm=apt
elif command -v dnf >/dev/null; then pm=dnf
elif command -v pacman >/dev/null; then pm=pacman
else
	echo "deps.sh: no apt, dnf or pacman here; install by hand: $apt_build" >&2
	exit 0
fi

has() {
	case $pm in
	apt) [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ] ;;
	dnf) rpm -q --whatprovides "$1" >/dev/null 2>&1 ;;
	pacman) pacman -Qq "$1" >/dev/null 2>&1 ;;
	esac
}

missing=
for group in build "$@"; do
	case $group in
	build|check|bench|lint|fuzz|lab|boot|deb) ;;
	*) echo "deps.sh: unknown group '$group' (build, check, bench, lint, fuzz, lab, boot, deb)" >&2; exit 2 ;;
	esac
	eval "packages=\$${pm}_$group"
	for p in $packages; do
		case " $missing " in *" $p "*) continue ;; esac
		has "$p" || missing="$missing $p"
	done
done
[ -n "$missing" ] || exit 0

case $pm in
apt) install="apt-get install -y --no-install-recommends$missing" ;;
dnf) install="dnf install -y$missing" ;;
pacman) install="pacman -S --needed --noconfirm$missing" ;;
esac
if [ "$(id -u)" != 0 ]; then
	echo "deps.sh: missing:$missing" >&2
	echo "deps.sh: run as root: $install" >&2
	exit 1
fi
echo "deps.sh: installing$missing"
export DEBIAN_FRONTEND=noninteractive
[ $pm != apt ] || apt-get update -qq
$install >/dev/null
