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
from lio_target import HOST, IQN, kernel_target
from logins import MIB, same
from net import PORT

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOME = "/run/libiscsi"
SHIM = os.path.join("tests", "lab", "liblibiscsi_shim.so")
SECONDS = 900  # for one part
# The suites of iscsi-test-cu, in parts that take about as long; the last has all others.
PARTS = {
    "reads": ["Read*", "Prefetch*", "Verify*"],
    "writes": ["Write*", "OrWrite*", "CompareAndWrite*"],
    "reservations": ["Prin*", "Prout*", "Reserve*", "Prevent*", "StartStop*", "NoMedia*"],
    "unmap": ["Unmap*", "GetLBAStatus*", "Sanitize*"],
    "rest": [],
}
# The target ends the session, and libiscsi's iSER does not reconnect: in a separate process, as
# what comes after it would have no connection.
ALONE = ["*ColdReset"]
CONTROL = "Read10.Simple"  # passes wherever libiscsi's iSER works at all
VERDICTS = {True: "passed", False: "FAILED", None: "no end"}
# Those of its tests whose names match one of these.
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
    guest.run(f"mkdir -p {HOME} && PATH=$PATH:/usr/sbin\n{copies}true")


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


LEFT_OUT = suite.Expected(os.path.join(TESTS, "conformance", "iser.txt")).rows
SKIPS = suite.Expected(os.path.join(TESTS, "conformance", "skips.txt"))
results_of = {}  # LUN kind: what its parts have had in this run


def matches(test, patterns):
    return any(fnmatch(test, pattern) for pattern in patterns)


def is_left_out(kind, test):
    """Whether iser.txt says that it cannot run over libiscsi's iSER."""
    return any(matches(kind, kinds) and fnmatch(test, name) for kinds, name, _ in LEFT_OUT)


def is_wanted(kind, part, test):
    belongs = [name for name, suites in PARTS.items() if matches(test, suites)] or ["rest"]
    return part in belongs and matches(test, ONLY) and not is_left_out(kind, test)


def run_program(guest, tests, urls, flags, seconds=SECONDS):
    """One run of iscsi-test-cu: a result for each of these tests."""
    path = f"{HOME}/tests"
    lines = "".join(f"ALL.{t}\n" for t in suite.group(tests))
    words = f"iscsi-test-cu {' '.join(flags)} -V -t {path} {' '.join(map(iser, urls))}"
    status, output = guest.ask(f"printf '{lines}' >{path}\n"
                               f"ulimit -c 0; timeout -s KILL {seconds} {running(words)} 2>&1",
                               seconds + 60)
    results = suite.parse(output)[0]
    for test in set(tests).difference(r.name for r in results):
        lost = suite.Result(test)
        lost.feed(f"not begun; the program ended with status {status}")
        results.append(lost)
    return results


def conformance(lab, name, part):
    config = Config(lab.place)
    kind = suite.KINDS[name](lab.scratch)
    kind.setup(config)
    lab.daemon(config)
    bring(lab.guest, "iscsi-test-cu")
    shim(lab.guest)
    results = [suite.Result.unfit(test) for test in suite.matching(kind.unfit)
               if is_wanted(name, part, test)]
    for tests, urls, flags in kind.runs():
        wanted = [t for t in suite.all_tests() if (t in tests or t.split(".")[0] in tests)
                  and is_wanted(name, part, t)]
        alone = [t for t in wanted if matches(t, ALONE)]
        for some in ([t for t in wanted if t not in alone], *([t] for t in alone)):
            if some:
                results += run_program(lab.guest, some, urls, flags)
    results_of.setdefault(name, []).extend(results)
    is_good = suite.judge(name, results, SKIPS, "iser")
    print(f"{name}: until now {suite.totals(results_of[name])}; "
          f"{sum(is_left_out(name, t) for t in suite.all_tests())} of "
          f"{len(suite.all_tests())} left out", flush=True)
    if not is_good:
        raise Failure("the suite found something")


def part_of_suite(kind, part):
    def scenario(lab):
        conformance(lab, kind, part)
    scenario.__name__ = f"{kind}_{part}".replace("-", "_")
    scenario.__doc__ = f"""The part '{part}' of iscsi-test-cu over iSER, LUN kind {kind}: nothing fails,
        nothing is skipped but what skips.txt and iser.txt name with a reason."""
    return scenario


def fails_over_lio(lab, tests):
    """None of these passes against LIO's ib_isert, which passes another one before each of them."""
    bring(lab.guest, "iscsi-test-cu")
    shim(lab.guest)
    passed = []

    def run(test):
        return run_program(lab.guest, [test], [f"iser://{HOST}:{PORT}/{IQN}/1"], suite.ALLOW, 60)[0]

    for test in tests:
        control = run(CONTROL)
        if not control.passed:
            raise Failure(f"LIO: {CONTROL}, before {test}: {control.lines[-3:]}")
        result = run(test)
        verdict = "skipped" if result.skips else VERDICTS[result.passed]
        print(f"  LIO: {test}: {verdict}", *result.lines, sep="\n      ", flush=True)
        if verdict == "passed":
            passed.append(test)
    if passed:
        raise Failure(f"passed against LIO, so iser.txt should not leave it out: {passed}")


def left_out(lab):
    """What iser.txt leaves out does not pass against LIO's ib_isert either."""
    with kernel_target(lab):
        try:
            fails_over_lio(lab, suite.matching([name for kinds, name, _ in LEFT_OUT if "*" in kinds]))
        finally:  # LIO would wait for sessions of programs that were killed, for ever
            lab.guest.kill()
            lab.guest.start()


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
        {running('qemu-img compare', False)} -f raw -F raw /tmp/image {iser(target.url())}""")
    if not re.search(r"iops average [1-9]", output) or "identical" not in output:
        raise Failure(output[-500:])
    same(lab.place.sha256_of(backing(lab), 64 * MIB),
         lab.guest.run("sha256sum </tmp/image; rm /tmp/image").split()[0], "the file")


CONFORMANCE = [part_of_suite(kind, part) for kind in suite.KINDS for part in PARTS]
SCENARIOS = [programs, *CONFORMANCE, left_out]
CHECK = [programs]  # a part of the conformance run takes minutes
