# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: block devices of the guest's kernel (null_blk, scsi_debug) served by farblockd there,
to tests/lib/iscsi.py on this machine. It sends each command as it is given; the kernel's initiator
would split, merge and flush by itself.

null_blk has a volatile cache in these scenarios: without power it loses what no flush has reached,
but only in blocks that hold nothing durable. A write to one that does is durable at once."""

import hashlib
import random
import struct

from farblock import Failure
import iscsi
import kill9
from kernel import wait_until
from logins import MIB, same
import power_cut
from pscsi import Device

SIZE, CACHE, SECTOR = 64, 16, 512  # MiB, MiB, bytes
REQUEST = 32 << 10  # bytes of a request, at most, where a device is limited
LARGE = 8 * REQUEST  # of a write that is split
CUTS = 2  # of each disk


class Counters:
    """What the kernel has counted of a disk's requests: /sys/block/X/stat, two of which can be
    subtracted. The kernel counts a flush as a write too, of no sectors."""

    NAMES = {"reads": 0, "read_sectors": 2, "writes": 4, "write_sectors": 6, "discards": 11,
             "discard_sectors": 13, "flushes": 15}

    def __init__(self, numbers):
        self.numbers = numbers

    def __getattr__(self, name):
        return self.numbers[self.NAMES[name]]

    def __sub__(self, before):
        return Counters([a - b for a, b in zip(self.numbers, before.numbers)])

    @staticmethod
    def of(guest, path):
        text = guest.run(f"cat /sys/block/{path.rpartition('/')[2]}/stat")
        return Counters([int(word) for word in text.split()])


class NullDisk:
    """A null_blk that keeps what is written to it, and ends with the scenario. settings: of
    configfs."""

    def __init__(self, lab, name, **settings):
        self.guest, self.block = lab.guest, f"/dev/{name}"
        self.block_size = settings.get("blocksize", SECTOR)
        self.folder = f"/sys/kernel/config/nullb/{name}"
        wanted = {"memory_backed": 1, "size": SIZE, "discard": 1, **settings}
        lab.devices.append(self)
        self.guest.run("\n".join([
            "modprobe null_blk nr_devices=0 || exit",
            "[ -e /sys/kernel/config/nullb ] || mount -t configfs none /sys/kernel/config || exit",
            f"mkdir {self.folder} && cd {self.folder} || exit",
            *(f"echo {value} >{key} || exit" for key, value in wanted.items())]))
        self.start()

    def start(self):
        self.guest.run(f"echo 1 >{self.folder}/power && [ -b {self.block} ]")

    def cut(self):
        """The power fails."""
        self.guest.run(f"echo 0 >{self.folder}/power")

    def wait_closed(self):
        """A mount that cannot succeed, and flushes nothing; it is another error while the disk is
        open. The guest's kernel crashed once when an open one lost its power."""
        wait_until(lambda: "busy" not in self.guest.ask(
            f"mount -r -t ext4 {self.block} /mnt 2>&1")[1], f"{self.block} is closed")

    def end(self):
        self.wait_closed()
        self.guest.run(f"rmdir {self.folder}")


class ScsiDisk(Device):
    """scsi_debug's disk, which takes requests of data of up to REQUEST bytes. It is thin, and keeps
    a map of the blocks that are not unmapped."""

    block_size = SECTOR

    def __init__(self, lab):
        super().__init__(lab)
        self.guest.run(f"echo {REQUEST >> 10} >/sys/block/{self.block[5:]}/queue/max_sectors_kb")

    def mapped(self):
        """[(first, last), ...]"""
        text = self.guest.run("cat /sys/bus/pseudo/drivers/scsi_debug/map").strip()
        pairs = [part.split("-") for part in text.split(",") if part]
        return [(int(pair[0]), int(pair[-1])) for pair in pairs]


def serve(lab, *disks, **options):
    """Each a LUN: (device, cache mode); options: of create. Returns daemon, target."""
    def storage(config, number, device, mode):
        attributes = {"emulate_tpu": 1, "emulate_tpws": 1, "block_size": device.block_size,
                      "emulate_write_cache": int(mode != "writethrough")}
        return config.storage("block", f"b{number}", attributes, dev=device.block, cache=mode,
                              **options)

    return lab.target(*[lambda config, _scratch, i=i, disk=disk: storage(config, i, *disk)
                        for i, disk in enumerate(disks)])


def session_to(target, lun=0, keys=()):
    session = iscsi.Session(target.url(lun), keys=keys)
    session.ready()
    return session


def good(session, cdb, data_out=b"", read_len=0):
    """Runs a command that has to succeed; returns what it read."""
    command = session.run(bytes(cdb), data_out, read_len)
    if not command.is_good:
        raise Failure(f"{bytes(cdb).hex()}: status {command.status}, {command.sense.hex()}")
    return bytes(command.data_in)


# --- the power fails

class Record(power_cut.Record):
    """Of a disk that was discarded: zeroes are generation 0."""

    def generation(self, block, sector):
        return super().generation(block, sector) if any(sector) else 0


def is_plain(number):
    """Whether power_cut.submit() sends a write with this number, without FUA."""
    return number % power_cut.FUA_EACH and (number + 1) % power_cut.FLUSH_EACH


# After so many answers some plain writes are not flushed: the commands before, and those that are
# in flight then, are nothing else. A disk without FUA flushes for that too.
CUT_AFTER = [n for n in range(200, 600)
             if all(is_plain(number) for number in range(n - 50, n + kill9.DEPTH))]


def cut(disk, daemon, session):
    """What the daemon has acknowledged when it is killed has reached the disk's cache."""
    daemon.kill()
    disk.wait_closed()
    disk.cut()
    session.close()
    disk.start()
    daemon.start()


def one_cut(disk, daemon, target, mode, dice):
    """Returns how many acknowledged writes are gone, none of which was durable."""
    # Discarded, all blocks are such as lose what is written to them.
    disk.guest.run(f"blkdiscard -f {disk.block}")
    record = Record(power_cut.SIZE // kill9.BLOCK, mode == "writethrough")
    session = session_to(target)
    power_cut.write_until_cut(session, record, dice, dice.choice(CUT_AFTER))
    cut(disk, daemon, session)
    session = session_to(target)
    kill9.verify(session, record, f"cache={mode}")
    gone = power_cut.lost(session, record)
    session.logout()
    return gone


def cuts(lab, mode, fua):
    disk = NullDisk(lab, f"cut{fua}", cache_size=CACHE, fua=fua)
    daemon, target = serve(lab, (disk, mode))
    dice = random.Random(f"{mode} {fua}")
    gone = [one_cut(disk, daemon, target, mode, dice) for _ in range(CUTS)]
    print(f"cache={mode}, disk {'with' if fua else 'without'} FUA: acknowledged writes gone at "
          f"each cut: {gone}", flush=True)
    # The scenario can tell a disk that loses writes from one that does not.
    if mode != "writethrough" and 0 in gone:
        raise Failure(f"cache={mode}: acknowledged writes gone at each cut: {gone}")
    same(daemon.stop(), 0, "the daemon's exit status")


def power_cut_in(lab, mode):
    for fua in (1, 0):
        cuts(lab, mode, fua)


def power_cut_none(lab):
    """cache=none: when the power of a disk fails that has a volatile cache, with FUA or without,
    what was flushed or written with FUA is there; other writes are gone."""
    power_cut_in(lab, "none")


def power_cut_writethrough(lab):
    """cache=writethrough: when the power of a disk fails that has a volatile cache, with FUA or
    without, every acknowledged write is there."""
    power_cut_in(lab, "writethrough")


def power_cut_writeback(lab):
    """cache=writeback: when the power of a disk fails that has a volatile cache, with FUA or
    without, and the page cache is lost with it, what was flushed or written with FUA is there;
    other writes are gone."""
    power_cut_in(lab, "writeback")


# --- what the device is sent

def counted(lab, device, action):
    """What the device's counters rise by meanwhile, and what the action returns."""
    before = Counters.of(lab.guest, device.block)
    result = action()
    return Counters.of(lab.guest, device.block) - before, result


def carried(lab, device, session, size):
    """One write and one read of so many bytes: whole, and in requests that the device can take."""
    block_size = session.capacity()[1]
    first, blocks, data = 3, size // block_size, random.Random(size).randbytes(size)
    written, _ = counted(lab, device, lambda: good(session, iscsi.write16(first, blocks), data))
    there = lab.guest.run(f"""dd if={device.block} bs={block_size} skip={first} count={blocks} \
        iflag=direct status=none | sha256sum""").split()[0]
    same(there, hashlib.sha256(data).hexdigest(), f"{device.block}: digest of {size} bytes written")
    read, answer = counted(lab, device, lambda: good(session, iscsi.read16(first, blocks),
                                                     read_len=size))
    if answer != data:
        raise Failure(f"{device.block}: a read of {size} bytes returns others")
    same((written.write_sectors, read.read_sectors), (size // SECTOR, size // SECTOR),
         f"{device.block}: sectors written and read for {size} bytes")
    if min(written.writes, read.reads) < size // REQUEST:
        raise Failure(f"{device.block}: {written.writes} writes and {read.reads} reads for {size} "
                      f"bytes, which are {size // REQUEST} requests or more")


def large_commands(lab):
    """Writes and reads of 1 and 4 MiB are whole on devices that take requests of 32 KiB, also with
    blocks of 4 KiB and no gaps in the memory of a request."""
    limits = {"max_sectors": REQUEST // SECTOR}
    devices = [NullDisk(lab, "small", **limits), ScsiDisk(lab),
               NullDisk(lab, "gapless", **limits, blocksize=4096, virt_boundary=1)]
    _, target = serve(lab, *[(device, "none") for device in devices])
    for lun, device in enumerate(devices):
        # The second time the data come in pieces of an odd number of sectors.
        for keys in ({}, {"FirstBurstLength": "1536", "MaxBurstLength": "66048"}):
            session = session_to(target, lun, keys)
            for size in (MIB, 4 * MIB):
                carried(lab, device, session, size)
            session.logout()


LBPME, LBPRZ = 0x80, 0x40
WRITE_SAME_UNMAP = 0x08


def thin_bits(session):
    """LBPME and LBPRZ of READ CAPACITY(16)."""
    return good(session, b"\x9e\x10" + bytes(11) + b"\x20" + bytes(2), read_len=32)[14] & 0xC0


def unmap(session, *ranges):
    parameters = struct.pack(">HHI", 6 + 16 * len(ranges), 16 * len(ranges), 0) + b"".join(
        struct.pack(">QII", lba, blocks, 0) for lba, blocks in ranges)
    good(session, struct.pack(">BBIBHB", 0x42, 0, 0, 0, len(parameters), 0), parameters)


def write_zeroes(session, lba, blocks, flags=0):
    """WRITE SAME(16)"""
    good(session, struct.pack(">BBQIBB", 0x93, flags, lba, blocks, 0, 0), bytes(SECTOR))


def filled(session, blocks):
    """Random data in the first blocks; returns them."""
    data = random.Random(blocks).randbytes(blocks * SECTOR)
    good(session, iscsi.write16(0, blocks), data)
    return bytearray(data)


def zero(data, *ranges):
    for lba, blocks in ranges:
        data[lba * SECTOR:(lba + blocks) * SECTOR] = bytes(blocks * SECTOR)


def holds(session, data, what):
    if good(session, iscsi.read16(0, len(data) // SECTOR), read_len=len(data)) != data:
        raise Failure(f"{what}: other blocks are zeroes than those")


def discard(lab):
    """UNMAP of two ranges discards them on the device and nothing else: null_blk counts two
    discards of their size; on scsi_debug, where the LUN has LBPRZ, they are unmapped and read as
    zeroes."""
    null, scsi = NullDisk(lab, "thin"), ScsiDisk(lab)
    _, target = serve(lab, (null, "none"), (scsi, "none"))
    ranges = ((256, 512), (1024, 256))
    session = session_to(target, 0)
    same(thin_bits(session), LBPME, "null_blk: LBPME and LBPRZ")
    filled(session, 2048)
    was, _ = counted(lab, null, lambda: unmap(session, *ranges))
    same((was.discards, was.discard_sectors, was.write_sectors), (2, 768, 0),
         "null_blk: discards, their sectors, sectors written")
    session.logout()
    session = session_to(target, 1)
    same(thin_bits(session), LBPME | LBPRZ, "scsi_debug: LBPME and LBPRZ")
    data = filled(session, 2048)
    unmap(session, *ranges)
    same(scsi.mapped(), [(0, 255), (768, 1023), (1280, 2047)], "scsi_debug: mapped blocks")
    zero(data, *ranges)
    holds(session, data, "unmapped")
    session.logout()


def write_same(lab):
    """WRITE SAME of zeroes is one request without data to a device that has such (scsi_debug); it
    unmaps if UNMAP is set, and else leaves the blocks mapped. null_blk, which has none, gets zeroes
    written. The blocks read as zeroes."""
    null, scsi = NullDisk(lab, "written"), ScsiDisk(lab)
    _, target = serve(lab, (null, "none"), (scsi, "none"))
    for lun, device in enumerate((null, scsi)):
        session = session_to(target, lun)
        data = filled(session, 4096)
        for lba, blocks, flags in ((128, 1024, 0), (2048, 1024, WRITE_SAME_UNMAP)):
            was, _ = counted(lab, device, lambda: write_zeroes(session, lba, blocks, flags))
            same((was.write_sectors, was.discards), (blocks, 0),
                 f"{device.block}: sectors written, discards")
            zero(data, (lba, blocks))
            if device is scsi:
                same(was.writes, 1, "scsi_debug: requests")
        holds(session, data, "WRITE SAME")
        session.logout()
    same(scsi.mapped(), [(0, 2047), (3072, 4095)], "scsi_debug: mapped blocks")


def has_write_cache(session):
    """WCE of the caching mode page."""
    return bool(good(session, bytes((0x1A, 0x08, 0x08, 0, 64, 0)), read_len=64)[4 + 2] & 0x04)


def flushes_of(lab, device, session):
    """How many flushes the device sees of a write, of one with FUA, of one with FUA that is split
    into requests, and of SYNCHRONIZE CACHE."""
    commands = [(iscsi.SYNCHRONIZE_CACHE,)]
    for blocks, flags in ((LARGE // SECTOR, power_cut.FUA), (8, power_cut.FUA), (8, 0)):
        cdb = bytearray(iscsi.write16(0, blocks))
        cdb[1] |= flags
        commands.insert(0, (cdb, bytes(blocks * SECTOR)))
    return [counted(lab, device, lambda: good(session, *command))[0].flushes
            for command in commands]


# Settings of a device, cache mode, WCE, and what flushes_of() returns; None where that is open.
FLUSHES = [
    ({}, "none", False, [0, 0, 0, 0]),
    ({}, "writethrough", False, [0, 0, 0, 0]),
    ({"cache_size": CACHE}, "none", True, [0, 0, 0, 1]),
    ({"cache_size": CACHE}, "writethrough", False, [0, 0, 0, None]),
    ({"cache_size": CACHE, "fua": 0}, "none", True, [0, 1, 1, 1]),
    ({"cache_size": CACHE, "fua": 0}, "writethrough", False, [1, 1, 1, None]),
]


def flushes(lab):
    """A device without a volatile cache sees no flush in any mode; one with a cache sees one for
    SYNCHRONIZE CACHE, and one for a durable write of any length only if it has no FUA. WCE is that
    of the device, 0 in writethrough."""
    devices = [NullDisk(lab, f"flushed{i}", max_sectors=REQUEST // SECTOR, **row[0])
               for i, row in enumerate(FLUSHES)]
    _, target = serve(lab, *[(device, row[1]) for device, row in zip(devices, FLUSHES)])
    for lun, (device, row) in enumerate(zip(devices, FLUSHES)):
        settings, mode, has_cache, wanted = row
        session = session_to(target, lun)
        same(has_write_cache(session), has_cache, f"{settings}, cache={mode}: WCE")
        found = [None if want is None else count
                 for want, count in zip(wanted, flushes_of(lab, device, session))]
        same(found, wanted, f"{settings}, cache={mode}: flushes of a write, of one with FUA, of "
             "a long one with FUA, of SYNCHRONIZE CACHE")
        session.logout()


def submitted(lab, daemon):
    """What was submitted to each io_uring of the daemon, in the order of their descriptors."""
    return [int(word) for word in lab.guest.run(f"""
        cd /proc/{daemon.number}/fd && for fd in $(ls | sort -n); do
            case $(readlink $fd) in *io_uring*) sed -n 's/^SqTail:[^0-9]*//p' ../fdinfo/$fd ;; esac
        done""").split()]


def iopoll(lab):
    """iopoll=true: reads and writes of a device with poll queues go through a ring of their own and
    are whole, also durable ones and more of them than the device has tags; of a device without poll
    queues they go the usual way, and info says so."""
    polled = NullDisk(lab, "polled", submit_queues=1, poll_queues=1, hw_queue_depth=4)
    unpolled = ScsiDisk(lab)
    for device, has_queue in ((polled, "1"), (unpolled, "0")):
        found = lab.guest.run(f"cat /sys/block/{device.block[5:]}/queue/io_poll").strip()
        same(found, has_queue, f"{device.block}: io_poll")
    daemon, target = serve(lab, (polled, "none"), (unpolled, "none"), iopoll=True)
    sizes = []
    for lun in (1, 0):
        session = session_to(target, lun)
        data = filled(session, 2048)
        cdb = bytearray(iscsi.write16(64, 64))
        cdb[1] |= power_cut.FUA
        data[64 * SECTOR:128 * SECTOR] = random.Random(1).randbytes(64 * SECTOR)
        good(session, cdb, data[64 * SECTOR:128 * SECTOR])
        for lba in range(0, 2048, 64):
            session.submit(iscsi.read16(lba, 64), read_len=64 * SECTOR, tag=lba)
        while session.commands:
            command = session.wait()
            if bytes(command.data_in) != data[command.tag * SECTOR:(command.tag + 64) * SECTOR]:
                raise Failure(f"LUN {lun}: block {command.tag}: other data")
        session.logout()
        sizes.append(submitted(lab, daemon))
    without, with_it = sizes
    if len(with_it) != len(without) + 1 or with_it[-1] < 34:
        raise Failure(f"submitted to each ring: {without}, then {with_it}")
    notes = [str(daemon.rpc("tree.info", path=f"/backstores/block/b{i}")) for i in range(2)]
    same(["iopoll has no effect" in note for note in notes], [False, True], "notes")


CHECK = [discard, flushes]
SCENARIOS = [power_cut_none, power_cut_writethrough, power_cut_writeback, large_commands, discard,
             write_same, flushes, iopoll]
