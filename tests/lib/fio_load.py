# SPDX-License-Identifier: BSD-2-Clause
"""fio as a load of a disk: rounds of random writes, each read back and verified, until it is told to
end. A round has another seed than the one before, so that a block of an old round is a wrong one."""

import atexit
import json
import os
import signal
import subprocess

from farblock import Failure, Skip, check, eventually, program, run

ROUND = """i=0
until [ -e {folder}/stop ]; do
    i=$((i + 1))
    {fio} --name=load {where} --rw=randwrite --bs={block} --size={size} --iodepth={depth} \
        --verify=crc32c --verify_fatal=1 --do_verify=1 --verify_state_save=0 --randseed=$i \
        --output-format=json --output={folder}/$i.json || exit
done"""


class Load:
    """where: fio's options for the engine and the file."""

    def __init__(self, scratch, where, block="16k", size="32m", depth=16):
        self.folder = scratch.file("load")
        os.mkdir(self.folder)
        script = ROUND.format(folder=self.folder, fio=program("fio"), where=where, block=block,
                              size=size, depth=depth)
        self.process = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True,
                                        stdin=subprocess.DEVNULL, start_new_session=True)
        atexit.register(self.abandon)

    def abandon(self):
        """With the test, whatever became of that."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)

    @staticmethod
    def of_socket(scratch, url, **options):
        if "nbd" not in run(["fio", "--enghelp"]).stdout.split():
            raise Skip("this fio has no engine for NBD")
        return Load(scratch, f"--ioengine=nbd --uri='{url}'", **options)

    @staticmethod
    def of_device(scratch, device, **options):
        return Load(scratch, f"--ioengine=libaio --direct=1 --filename={device}", **options)

    def is_going_on(self):
        if self.process.poll() is not None:
            raise Failure(f"fio: exit status {self.process.returncode}: "
                          f"{self.process.communicate()[0][-2000:]} {self.last()[-2000:]}")
        return True

    def reports(self):
        return sorted((os.path.join(self.folder, name) for name in os.listdir(self.folder)
                       if name.endswith(".json")), key=os.path.getmtime)

    def last(self):
        for path in self.reports()[-1:]:
            with open(path, encoding="utf-8") as f:
                return f.read()
        return ""

    def rounds(self):
        return len(self.reports())

    def end(self):
        """Ends well after this round; returns how many seconds its slowest request took."""
        self.is_going_on()
        with open(f"{self.folder}/stop", "wb"):
            pass
        eventually("fio's end", lambda: self.process.poll() is not None, 600)
        check(self.process.returncode == 0, f"fio: exit status {self.process.returncode}: "
              f"{self.process.communicate()[0][-2000:]} {self.last()[-2000:]}")
        slowest = 0
        for path in self.reports():
            with open(path, encoding="utf-8") as f:
                text = f.read()
            job = json.loads(text[text.index("{"):])["jobs"][0]
            check(job["error"] == 0, f"fio: {job['error']}")
            slowest = max(slowest, *(job[way]["clat_ns"]["max"] for way in ("read", "write")))
        return slowest / 1e9
