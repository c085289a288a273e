# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: bytes that go out come back, and get where they belong."""

from farblock import Failure
from logins import MIB, no_complaint, round_trip, same

SIZE = 96 * MIB
DIGESTS = {"node.conn[0].iscsi.HeaderDigest": "CRC32C", "node.conn[0].iscsi.DataDigest": "CRC32C"}
# What a session is asked for beside the defaults: iSER knows no digests.
VARIANTS = {"tcp": DIGESTS, "iser": {"node.session.iscsi.ImmediateData": "No"}, "srp": {}}
TAKES_DIGESTS = {"HeaderDigest": "CRC32C,None", "DataDigest": "CRC32C,None"}


def thin_file(config, scratch, name="disk", size=SIZE, write_back=True):
    """A sparse file, thin: with UNMAP and WRITE SAME with the UNMAP bit. Through the page cache,
    as nothing here is about power loss and the scenarios then do not wait for this disk."""
    return config.fileio(name, scratch.file(f"{name}.img"), size,
                         {"emulate_tpu": 1, "emulate_tpws": 1}, write_back=write_back)


def direct_file(config, scratch):
    """The same with O_DIRECT, each write on stable storage when it is acknowledged."""
    return thin_file(config, scratch, write_back=False)


def backing(lab, name="disk"):
    return lab.scratch.file(f"{name}.img")


def byte_for_byte(lab):
    """Writes of 512 bytes to 16 MiB arrive in the file behind the LUN, seen from this side, and
    are read back the same; so do writes at odd sectors."""
    _, target, initiator = lab.serve(thin_file)
    initiator.login(target)
    disk = initiator.disk()
    lab.guest.run(f"""
        cd /sys/block/{disk[5:]}/queue && cat max_hw_sectors_kb >max_sectors_kb
        head -c {32 * MIB} /dev/urandom >/tmp/big""")
    for bs, count in ((512, 256), (4096, 256), (65536, 128), (MIB, 32), (16 * MIB, 2)):
        lab.guest.run(f"blkdiscard {disk}")
        wanted = lab.guest.run(f"""
            dd if=/tmp/big of={disk} bs={bs} count={count} oflag=direct conv=fsync status=none
            dd if={disk} bs={bs} count={count} iflag=direct status=none | cmp - \
                <(head -c {bs * count} /tmp/big) || exit
            head -c {bs * count} /tmp/big | sha256sum""").split()[0]
        same(lab.place.sha256_of(backing(lab), bs * count), wanted, f"the file after blocks of {bs}")
    lab.guest.run(f"""
        for at in 1 7 63 1001 65535; do
            dd if=/tmp/big of={disk} bs=512 seek=$at count=333 oflag=direct status=none || exit
            dd if={disk} bs=512 skip=$at count=333 iflag=direct status=none |
                cmp - <(head -c $((333*512)) /tmp/big) || exit
        done; rm /tmp/big""")
    no_complaint(initiator)


def filesystem(lab):
    """ext4: files written, checked after an unmount, after a new login, and by fsck; fstrim
    gives their space back."""
    _, target, initiator = lab.serve(thin_file, parameters=TAKES_DIGESTS)
    variant = VARIANTS[lab.carrier]
    where = initiator.login(target, update=variant)
    disk = initiator.disk()
    lab.guest.run(f"""
        mkfs.ext4 -q {disk} && mount {disk} /mnt || exit
        cp -r /usr/share/zoneinfo /mnt 2>/dev/null || cp -r /usr/sbin /mnt/
        for i in 1 2 3 4; do head -c 8M /dev/urandom >/mnt/big$i; done
        cd /mnt && find . -type f -print0 | xargs -0 sha256sum >/tmp/sums && [ -s /tmp/sums ] &&
            cd / && umount /mnt""")
    initiator.logout(where)
    initiator.login(target, update=variant)
    disk = initiator.disk()
    lab.guest.run(f"""
        e2fsck -fn {disk} && mount {disk} /mnt || exit
        (cd /mnt && sha256sum --quiet -c /tmp/sums) || exit""")
    before = lab.place.allocated(backing(lab))
    lab.guest.run("rm -f /mnt/big* && sync && fstrim /mnt && umount /mnt")
    after = lab.place.allocated(backing(lab))
    if before - after < 24 * MIB:
        raise Failure(f"fstrim of 32 MiB: the file had {before} bytes allocated, has {after}")
    lab.guest.run(f"e2fsck -fn {disk}")
    no_complaint(initiator)


def discard(lab):
    """UNMAP by blkdiscard and WRITE SAME by blkdiscard -z: the blocks read as zeros, the
    neighbours stay, the file gives up its space."""
    _, target, initiator = lab.serve(thin_file)
    initiator.login(target)
    disk = initiator.disk()
    same(lab.guest.run(f"cat /sys/block/{disk[5:]}/device/scsi_disk/*/provisioning_mode").strip(),
         "unmap", "provisioning mode")
    lab.guest.run(f"""
        head -c {16 * MIB} /dev/urandom >/tmp/big
        dd if=/tmp/big of={disk} bs=1M oflag=direct conv=fsync status=none""")
    full = lab.place.allocated(backing(lab))
    for mode in ("", "-z"):
        lab.guest.run(f"""
            dd if=/tmp/big of={disk} bs=1M oflag=direct conv=fsync status=none
            blkdiscard {mode} -o 4194304 -l 8388608 {disk} || exit
            dd if={disk} bs=1M count=4 iflag=direct status=none | cmp -n 4194304 - /tmp/big || exit
            dd if={disk} bs=1M skip=4 count=8 iflag=direct status=none |
                cmp -n 8388608 - /dev/zero || exit
            dd if={disk} bs=1M skip=12 count=4 iflag=direct status=none |
                cmp - <(tail -c 4194304 /tmp/big)""")
        if not mode and full - lab.place.allocated(backing(lab)) < 8 * MIB:
            raise Failure(f"blkdiscard: {full} bytes allocated before, "
                          f"{lab.place.allocated(backing(lab))} after 8 MiB less")
    lab.guest.run("rm /tmp/big")
    no_complaint(initiator)


def fio_verify(lab):
    """fio writes at random, many at once, 512 bytes to 1 MiB, and verifies each block."""
    _, target, initiator = lab.serve(direct_file, parameters=TAKES_DIGESTS)
    for update in ({}, VARIANTS[lab.carrier]):
        where = initiator.login(target, update=update)
        lab.guest.run(f"""fio --name=v --filename={initiator.disk()} --direct=1 --ioengine=libaio \
            --iodepth=32 --rw=randwrite --bsrange=512-1M --bs_unaligned=0 --size=48M \
            --verify=crc32c --verify_fatal=1 --do_verify=1 --minimal >/tmp/fio 2>&1 ||
            {{ tail -5 /tmp/fio; exit 1; }}""")
        initiator.logout(where)
    no_complaint(initiator)


SCENARIOS = [byte_for_byte, filesystem, discard, fio_verify]
