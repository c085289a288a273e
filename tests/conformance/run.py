#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs libiscsi's iscsi-test-cu, destructive tests allowed, against LUNs of farblockd.

    run.py                   every LUN kind
    run.py thin removable    these kinds
    run.py --over tcp,srp    over these carriers (carriers.py); default tcp
    run.py --whole           for each kind all tests, not only those that its kind makes a difference to
    run.py --target URL      any other target, as LUN kind "other"

Each kind of LUN has the settings that let the tests it is there for run. A test that fails or
never ends is a failure; so is a skip that skips.txt does not list with its reason, and one
whose reason is that the target lacks something, listed or not. Over several carriers each test
must have the same verdict and the same skips over each, but for those that session.txt lists.
"""

import argparse
import fnmatch
import functools
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
sys.path.insert(0, HERE)
import farblock  # noqa: E402
import overlay  # noqa: E402
from carriers import CARRIERS, NAMES  # noqa: E402

MIB = 1 << 20
SIZE = 128 * MIB
THIN = {"emulate_tpu": 1, "emulate_tpws": 1, "unmap_zeroes_data": 1, "atomic_write_kib": 1024}
# Sanitize.Reset looks for a SANITIZE that is still running 3 s after it began and again after
# a session of resets, so it gets a LUN that takes its time: too slow for all other tests. It
# is in a target of its own, out of the reach of the other tests' resets, and runs beside them.
SLOW_TEST, SLOW_SIZE = "Sanitize.Reset", 32 * MIB
SLOW = {**THIN, "delay_write_us": 250000}
# GetLBAStatus.UnmapSingle asks for LBA i + 1 where it means i + (blocks per physical block),
# so it can only pass where these are the same.
SAME_BLOCKS_TEST = "GetLBAStatus.UnmapSingle"
# Wherever data loss is allowed the suite writes or makes persistent reservations, which fails on
# a write-protected LUN. Allowed, these expect that:
PROTECTED_LOSS = ["ReadOnly.*"]
# and these cannot do without writing or RESERVE. All others run with data loss forbidden.
PROTECTED_UNFIT = ["PrinReadKeys.Truncate", "ProutRegister.*", "ProutReserve.*", "Reserve6.*",
                   "WriteVerify*.Dpo"]
UNFIT = "Not run: writes or reserves, whether data loss is allowed or not."

ALLOW = ["--dataloss", "--allow-sanitize"]

LACKING = re.compile(r"not implemented|not supported|does not support|not working", re.I)
# Not about the target: a test the suite's authors never wrote, and WSNZ=1.
NOT_LACKING = re.compile(r"^Test not implemented yet$|does not support 0-blocks")


class Result:
    """One test: passed or not, the reasons of what it skipped, its last lines."""

    def __init__(self, name):
        self.name, self.passed, self.skips, self.lines = name, None, [], []

    @classmethod
    def unfit(cls, name):
        result = cls(name)
        result.passed, result.skips = True, [UNFIT]
        return result

    def feed(self, line):
        self.lines.append(line)
        for reason in re.findall(r"\[SKIPPED\] (.*)", line):
            if reason.strip() not in self.skips:
                self.skips.append(reason.strip())
        end = re.match(r"(passed|FAILED)", line) or re.search(r"\.\.\.\s*(passed|FAILED)", line)
        if end and self.passed is None:
            self.passed = end[1] == "passed"


def parse(output):
    """The results in iscsi-test-cu's verbose output, and how many it says it ran."""
    results, suite, test = [], None, None
    for line in output.splitlines():
        if line.startswith("Suite: "):
            suite, test = line[7:].strip(), None
        elif line.startswith("  Test: "):
            test = Result(f"{suite}.{line[8:].split(' ...')[0].strip()}")
            results.append(test)
            test.feed(line)
        elif line.startswith("Run Summary:"):
            test = None
        elif test:
            # After the verdict come the assertions that failed, until the next test.
            test.feed(line)
    ran = re.search(r"^\s+tests\s+\d+\s+(\d+)", output, re.M)
    return results, int(ran[1]) if ran else None


def iscsi_test_cu(scratch, tests, urls, flags, log, timeout, environment=None):
    """Runs these tests (names without their family) and returns their results."""
    names = scratch.file(os.path.basename(log) + ".tests",
                         content="".join(f"ALL.{t}\n" for t in tests))
    command = [farblock.program("stdbuf"), "-oL", farblock.program("iscsi-test-cu"), *flags, "-V",
               "-i", NAMES[0], "-I", NAMES[1], "-t", names, *urls]
    with open(log, "ab+") as out:
        start = out.seek(0, os.SEEK_END)
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL,
                                   env={**os.environ, **(environment or {})})
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            print(f"  iscsi-test-cu: no end after {timeout} s", file=sys.stderr)
        finally:
            process.kill()
            process.wait()
        out.seek(start)
        output = out.read().decode(errors="replace")
    results, ran = parse(output)
    found = farblock.SANITIZER.search(output)
    if found:
        results.append(Result("sanitizer"))
        results[-1].feed(output[found.start():][:4000])
    elif ran != len(results):
        lost = Result("iscsi-test-cu")
        lost.feed(f"ended early (status {process.returncode}): {len(results)} tests begun, "
                  f"summary says {ran}; its last lines:")
        lost.lines += output.splitlines()[-7:]
        results.append(lost)
    return results


@functools.lru_cache(maxsize=None)
def all_tests():
    """Names of every test, without the family, in the suite's order."""
    listed = farblock.run(["iscsi-test-cu", "--list"], check=False).stdout
    return re.findall(r"^ALL\.(\S+\.\S+)$", listed, re.M)


def matching(patterns):
    """The tests that match one of the patterns."""
    return [t for t in all_tests() if any(fnmatch.fnmatchcase(t, p) for p in patterns)]


def group(tests):
    """Whole suites by name, so that each logs in once and not once a test."""
    names = []
    for test in tests:
        suite = test.split(".")[0]
        whole = [t for t in all_tests() if t.startswith(suite + ".")]
        name = suite if all(t in tests for t in whole) else test
        if name not in names:
            names.append(name)
    return names


def ungroup(names):
    return [t for t in all_tests() if t in names or t.split(".")[0] in names]


class Kind:
    """A LUN kind: how it is made, and which runs of the suite it gets."""

    attributes = THIN
    write_protect = False
    portals = 1
    only = ["*"]  # patterns of tests that the others have not run in the same way
    unfit = []  # patterns of tests that are not run
    side_by_side = True

    def __init__(self, scratch, is_whole):
        self.scratch, self.is_whole = scratch, is_whole

    def tests(self, *apart):
        """Those that are run, without some."""
        return [t for t in matching(["*"] if self.is_whole else self.only) if t not in apart]

    def disk(self, config):
        return config.ramdisk("disk", SIZE, self.attributes)

    def setup(self, config):
        slow = config.ramdisk("slow", SLOW_SIZE, {**self.attributes, **SLOW})
        self.target = config.target([self.disk(config)], portals=self.portals,
                                    write_protect=self.write_protect)
        self.slow = config.target([slow], portals=self.portals)

    def urls(self, target=None):
        target = target or self.target
        return [target.url(0, portal) for portal in range(self.portals)]

    def runs(self):
        """(tests, URLs, flags) of each run; they run side by side."""
        apart = [([SLOW_TEST], self.urls(self.slow), ALLOW)] if SLOW_TEST in self.tests() else []
        return [(group(self.tests(SLOW_TEST)), self.urls(), ALLOW), *apart]


class Thin(Kind):
    pass


class Fileio(Kind):
    """Blocks of 512 bytes on physical ones of 4096; for one test, of 4096 on 4096."""

    def disk(self, config):
        return config.fileio("disk", self.scratch.file("disk.img"), SIZE, self.attributes)

    def setup(self, config):
        super().setup(config)
        disk = config.fileio("4k", self.scratch.file("4k.img"), SIZE,
                             {**self.attributes, "block_size": 4096})
        self.same = config.target([disk])

    def runs(self):
        _, *apart = super().runs()
        return [(group(self.tests(SLOW_TEST, SAME_BLOCKS_TEST)), self.urls(), ALLOW), *apart,
                ([SAME_BLOCKS_TEST], self.urls(self.same), ALLOW)]


class Overlay(Fileio):
    """Fileio over an image of random bytes, with a map of blocks."""

    only = ["CompareAndWrite.*", "ExtendedCopy.*", "GetLBAStatus.*", "OrWrite.*", "Read*",
            "Sanitize.[!R]*", "Unmap.*", "Verify*", "Write*"]

    def disk(self, config):
        base, path = self.scratch.file("base.img"), self.scratch.file("disk.ov")
        with open(base, "wb") as out:
            out.write(os.urandom(SIZE))
        overlay.make(path, base)
        return config.storage("fileio", "disk", self.attributes, dev=path, base=base,
                              overlay="map")


class Removable(Kind):
    only = ["Inquiry.*", "Mandatory.*", "NoMedia.*", "PreventAllow.*", "StartStopUnit.*",
            "TestUnitReady.*"]
    attributes = {**THIN, "removable": 1}


class WriteProtected(Kind):
    only = ["Inquiry.*", "ModeSense6.*", "Read*", "TestUnitReady.*", "Verify*", "WriteVerify10.*"]
    write_protect = True
    unfit = PROTECTED_UNFIT

    def runs(self):
        loss = matching(PROTECTED_LOSS)
        others = self.tests(*loss, *matching(self.unfit))
        return [(group(loss), self.urls(), ALLOW), (group(others), self.urls(), [])]

    side_by_side = False  # both on the one LUN


class TwoPath(Kind):
    only = ["CompareAndWrite.*", "iSCSITMF.*", "MultipathIO.*", "Pr[io]*", "Reserve6.*"]
    portals = 2


KINDS = {"thin": Thin, "fileio": Fileio, "overlay": Overlay, "removable": Removable,
         "write-protected": WriteProtected, "two-path": TwoPath}


class Expected:
    """skips.txt: LUN kinds | test | reason, the first two with wildcards."""

    def __init__(self, path):
        self.rows = []
        with open(path) as text:
            for line in text:
                if line.strip() and not line.startswith("#"):
                    kinds, test, reason = (field.strip() for field in line.split("|", 2))
                    self.rows.append((kinds.split(), test, reason))

    def lists(self, kind, test):
        return any(any(fnmatch.fnmatch(kind, k) for k in kinds) and fnmatch.fnmatch(test, name)
                   for kinds, name, _ in self.rows)

    def has(self, kind, test, reason):
        return any(any(fnmatch.fnmatch(kind, k) for k in kinds) and fnmatch.fnmatch(test, name)
                   and fnmatch.fnmatchcase(reason, text) for kinds, name, text in self.rows)


def totals(results):
    passed = sum(bool(r.passed) and not r.skips for r in results)
    failed = sum(not r.passed for r in results)
    skipped = sum(bool(r.skips) for r in results)
    return f"{len(results)} tests, {passed} passed, {failed} failed, {skipped} skipped something"


def judge(kind, results, expected, carrier="tcp"):
    """Prints what is wrong with a kind's results and a line of totals; true if nothing is."""
    wrong = []
    for result in results:
        if not result.passed:
            verdict = "no result" if result.passed is None else "FAILED"
            wrong.append(f"{kind}: {result.name}: {verdict}\n      " +
                         "\n      ".join(result.lines[-8:]))
        for reason in result.skips:
            if LACKING.search(reason) and not NOT_LACKING.search(reason):
                wrong.append(f"{kind}: {result.name}: lacking: {reason}")
            elif not expected.has(kind, result.name, reason):
                wrong.append(f"{kind}: {result.name}: skip not listed: {reason}")
    for text in wrong:
        print("  " + text)
    print(f"{kind} over {carrier}: {totals(results)}, {len(wrong)} wrong", flush=True)
    return not wrong


def run_kind(name, carrier, options, left_out):
    """The results of a LUN kind over a carrier; "" or what else went wrong."""
    with farblock.Scratch() as scratch:
        kind, config = KINDS[name](scratch, options.whole), carrier.config()
        kind.setup(config)
        environment = carrier.environment()
        results = [Result.unfit(test) for test in matching(kind.unfit) if test in kind.tests()]

        def run(numbered):
            number, (tests, urls, flags) = numbered
            tests = group([t for t in ungroup(tests) if t not in left_out])
            log = os.path.join(options.logs or scratch.path,
                               f"iscsi-test-cu-{name}-{carrier.name}-{number}.log")
            return iscsi_test_cu(scratch, tests, urls, flags, log, options.timeout, environment)

        with farblock.Farblockd(scratch, config) as daemon, \
                ThreadPoolExecutor(len(kind.runs()) if kind.side_by_side else 1) as pool:
            for part in pool.map(run, enumerate(kind.runs())):
                results += part
            wrong = "" if daemon.is_running() else f"farblockd ended: {daemon.log()[-2000:]}"
        return results, wrong


def differences(results, reference, left_out):
    """Tests that were not as over the first carrier."""
    there = {r.name: r for r in reference if r.name not in left_out}
    here = {r.name: r for r in results}
    texts = []
    for test in sorted(there.keys() | here.keys()):
        one, other = there.get(test), here.get(test)
        if not one or not other:
            texts.append(f"{test}: run over {'the other' if one else 'this one'} alone")
        elif (one.passed, sorted(one.skips)) != (other.passed, sorted(other.skips)):
            texts.append(f"{test}: passed {one.passed}, skipped {one.skips}; "
                         f"here passed {other.passed}, skipped {other.skips}")
    return texts


def run_kind_over(name, carriers, options, expected):
    """Runs a LUN kind over all carriers at once; true if nothing is wrong."""
    session = Expected(os.path.join(HERE, "session.txt"))
    own = [t for t in all_tests() if session.lists(name, t)]
    left_out = {c.name: [] if c.name == "tcp" else own for c in carriers}
    with ThreadPoolExecutor(len(carriers)) as pool:
        runs = list(pool.map(lambda c: run_kind(name, c, options, left_out[c.name]), carriers))
    is_good = True
    for carrier, (results, wrong) in zip(carriers, runs):
        is_good &= judge(name, results, expected, carrier.name) and not wrong
        texts = differences(results, runs[0][0], left_out[carrier.name])
        for text in [*([wrong] if wrong else []), *texts]:
            print(f"  {name} over {carrier.name}: {text}")
        is_good &= not texts
        if carrier is not carriers[0]:
            print(f"{name} over {carrier.name}: {len(texts)} of {len(results)} tests differ from "
                  f"{carriers[0].name}, {len(own)} left out: {', '.join(own)}", flush=True)
    return is_good


def run_other(options, expected):
    with farblock.Scratch() as scratch:
        log = os.path.join(options.logs or scratch.path, "iscsi-test-cu-other.log")
        results = iscsi_test_cu(scratch, group(all_tests()), options.target,
                                ["--dataloss", "--allow-sanitize"], log, options.timeout)
        return judge("other", results, expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; default all")
    parser.add_argument("--over", default="tcp", help=f"of {', '.join(CARRIERS)}")
    parser.add_argument("--whole", action="store_true", help="all tests for each kind")
    parser.add_argument("--target", action="append", metavar="URL",
                        help="instead of farblockd; twice for two paths")
    parser.add_argument("--logs", metavar="DIR", help="keep iscsi-test-cu's output there")
    parser.add_argument("--timeout", type=int, default=900, help="of one run, seconds")
    options = parser.parse_args()
    for given, known in ((options.kinds, KINDS), (options.over.split(","), CARRIERS)):
        unknown = set(given) - set(known)
        if unknown:
            parser.error(f"{', '.join(unknown)}: must be of {', '.join(known)}")
    expected = Expected(os.path.join(HERE, "skips.txt"))
    farblock.program("iscsi-test-cu")
    if options.target:
        return 0 if run_other(options, expected) else 1
    farblock.program("farblockd")
    carriers = [CARRIERS[name] for name in options.over.split(",")]
    good = [run_kind_over(name, carriers, options, expected) for name in options.kinds or KINDS]
    return 0 if all(good) else 1


if __name__ == "__main__":
    farblock.main(main)
