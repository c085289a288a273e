# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: libiscsi's iSER over rxe, with farblockd in the same guest. The programs are this
machine's, brought into the guest with the libraries that it lacks and with libiscsi_shim.c."""

import importlib.util
import os
import re
from fnmatch import fnmatch

import farblock
from data import backing
from farblock import Failure, Skip
from logins import MIB, same
from net import PORT

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOME = "/run/libiscsi"
SHIM = os.path.join("tests", "lab", "liblibiscsi_shim.so")
SECONDS = 150  # for one suite of tests
TRIES = 3
# Those of iscsi-test-cu whose names match one of these.
ONLY = os.environ.get("FARBLOCK_LAB_TESTS", "*").split()


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, os.path.join(TESTS, path))
    ret = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ret)
    return ret


suite = load("conformance", "conformance/run.py")


def bring(guest, *names):
    """Programs of this machine into the guest, and what they link if the guest has not got it."""
    wanted = {}
    for name in names:
        path = name if "/" in name else farblock.program(name)
        wanted[os.path.basename(path)] = path
        for library in re.findall(r"=> (/\S+)", farblock.run(["ldd", path]).stdout):
            wanted[os.path.basename(library)] = library
    copies = "".join(f"[ -e {HOME}/{name} ] || ldconfig -p | grep -q '[^.]{name} ' || "
                     f"cp -L /host{os.path.realpath(path)} {HOME}/{name} || exit\n"
                     for name, path in wanted.items())
    guest.run(f"mkdir -p {HOME} && PATH=$PATH:/usr/sbin\n{copies}true", 120)


def shim(guest):
    path = os.path.join(farblock.BUILD, SHIM)
    if not os.path.exists(path):
        raise Skip(f"{path} is not built (it needs libiscsi's header files)")
    guest.run(f"mkdir -p {HOME} && cp /host{path} {HOME}/shim.so")


def iser(url):
    return url.replace("iscsi://", "iser://")


def running(words, preload=True):
    """The command that runs a program that was brought."""
    load_first = f"LD_PRELOAD={HOME}/shim.so " if preload else ""
    return f"env LD_LIBRARY_PATH={HOME} {load_first}{HOME}/{words}"


class Config(farblock.Config):
    """One whose targets are at the guest's addresses, where test kinds ask for portals by number."""

    def __init__(self, place):
        super().__init__()
        self.place = place

    def target(self, luns, portals=1, **options):
        where = [(self.place.hosts[i], PORT) for i in range(portals)]
        return super().target(luns, portals=where, portal_keys=self.place.portal, **options)


def is_unfit(kind, test, rows=suite.Expected(os.path.join(TESTS, "conformance", "iser.txt")).rows):
    """Whether iser.txt says that it cannot run over libiscsi's iSER."""
    return any(any(fnmatch(kind, k) for k in kinds) and fnmatch(test, name)
               for kinds, name, _ in rows)


def by_suite(tests):
    """{suite: tests}, in the suites' order."""
    ret = {}
    for test in tests:
        ret.setdefault(test.split(".")[0], []).append(test)
    return ret


def run_program(guest, tests, urls, flags):
    """One run of iscsi-test-cu: the results of these tests, and how it ended."""
    path = f"{HOME}/tests"
    lines = "".join(f"ALL.{t}\n" for t in suite.group(tests))
    words = f"iscsi-test-cu {' '.join(flags)} -V -t {path} {' '.join(map(iser, urls))}"
    status, output = guest.ask(f"printf '{lines}' >{path}\n"
                               f"ulimit -c 0; timeout -s KILL {SECONDS} {running(words)}",
                               SECONDS + 60)
    return suite.parse(output)[0], f"status {status}: {' '.join(output.split()[-30:])}"


def run_suite(guest, tests, urls, flags):
    """The results of these tests. The program dies now and then, of itself: what it had not judged
    until then runs again, each test in a process of its own."""
    results, left, end = [], [tests], ""
    for _ in range(TRIES):
        for some in left:
            found, end = run_program(guest, some, urls, flags)
            results += [r for r in found if r.passed is not None]
        judged = {r.name for r in results}
        left = [[t] for t in tests if t not in judged]
    for (name,) in left:
        lost = suite.Result(name)
        lost.feed(f"not judged in {TRIES} runs; the last ended with {end}")
        results.append(lost)
    return results


def run_tests(guest, tests, urls, flags):
    results = []
    for name, some in by_suite(tests).items():
        found = run_suite(guest, some, urls, flags)
        failed = [r.name for r in found if not r.passed]
        print(f"  {name}: {len(found)} tests, {len(failed)} failed {' '.join(failed)}", flush=True)
        results += found
    return results


def conformance(lab, name):
    config = Config(lab.place)
    kind = suite.KINDS[name](lab.scratch)
    kind.setup(config)
    lab.daemon(config)
    bring(lab.guest, "iscsi-test-cu")
    shim(lab.guest)
    results = []
    for tests, urls, flags in kind.runs():
        wanted = [t for t in suite.all_tests()
                  if (t in tests or t.split(".")[0] in tests) and not is_unfit(name, t)
                  and any(fnmatch(t, pattern) for pattern in ONLY)]
        results += run_tests(lab.guest, wanted, urls, flags)
    if not suite.judge(name, results, suite.Expected(os.path.join(TESTS, "conformance",
                                                                  "skips.txt"))):
        raise Failure("the suite found something")


def thin(lab):
    """iscsi-test-cu, whole, over iSER against a thin RAM disk: nothing fails, nothing is skipped but
    what skips.txt and iser.txt name with a reason."""
    conformance(lab, "thin")


def fileio(lab):
    """The same against a file, with physical blocks larger than logical ones."""
    conformance(lab, "fileio")


def programs(lab):
    """What is left of libiscsi works as it is, with nothing preloaded: iscsi-perf reads with 32
    commands at once; an image that qemu-img writes over iSER is in the file behind the LUN, and
    compares equal when it is read back. Commands have to be as short as libiscsi's iSER wants them,
    512 KiB at most, which max_transfer_kib tells QEMU."""
    config = Config(lab.place)
    target = config.target([config.fileio("disk", backing(lab), 64 * MIB,
                                          {"max_transfer_kib": 256}, write_back=True)])
    lab.daemon(config)
    plugin = os.path.join(os.path.dirname(os.path.realpath(farblock.program("qemu-img"))), "..",
                          "lib", "x86_64-linux-gnu", "qemu", "block-iscsi.so")
    bring(lab.guest, "iscsi-perf", "qemu-img", *([plugin] if os.path.exists(plugin) else []))
    output = lab.guest.run(f"""
        head -c 24M /dev/urandom >/tmp/image && truncate -s 64M /tmp/image
        export QEMU_MODULE_DIR={HOME}
        {running('iscsi-perf -r -m 32 -b 8 -t 2', False)} {iser(target.url())} 2>&1 || exit
        {running('qemu-img convert', False)} -n -f raw -O raw /tmp/image {iser(target.url())} &&
        {running('qemu-img compare', False)} -f raw -F raw /tmp/image {iser(target.url())}""", 240)
    if not re.search(r"iops average [1-9]", output) or "identical" not in output:
        raise Failure(output[-500:])
    same(lab.place.sha256_of(backing(lab), 64 * MIB),
         lab.guest.run("sha256sum </tmp/image; rm /tmp/image").split()[0], "the file")


SCENARIOS = [programs, thin, fileio]
