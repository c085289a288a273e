#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Paths of an attached disk are lost under writes, in worlds of network namespaces; each block's
history is judged. One line of JSON for each world in a file; a run that is started again skips the
worlds that it has.

    campaign.py --build DIR --results FILE [--seeds 1-20] [--only tcp/same/oneway,...] [--jobs 24]
    campaign.py --results FILE --table

A world is CARRIER/GROUPS/FAULT/SEED. Needs root. Exit status 1: a violation, a world that failed, or a
combination in which every loss was empty; 77: this machine lacks something."""

import argparse
import concurrent.futures
import json
import os
import random
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CARRIERS = ("tcp", "iser", "srp", "mixed")
GROUPS = ("same", "other", "reserved")
FAULTS = ("oneway", "back", "twoway", "reset", "killed", "held", "slow")
LOSSES = 4  # of a world
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
OUTAGE = (8.0, 27.0)  # seconds
AHEAD = 0.3  # seconds before a retransmission
LIMIT = 90  # seconds for a failover, or a path's return
PACE = 60  # requests a second while nothing is going to happen
KEPT = 8192  # bytes in the middlebox: there is a write among them
BURST = 20000  # as many as the load can


# --- plans ---

def plan_of(carrier, groups, fault, seed, losses):
    """All random choices of a world."""
    r = random.Random(f"{carrier}/{groups}/{fault}/{seed}")
    count = r.choice((2, 2, 2, 4))
    if carrier != "mixed":
        carriers = [carrier] * count
    elif groups == "same":  # one target has both
        carriers = ["tcp", "iser"] * (count // 2)
    else:
        carriers = r.choice((["tcp", "srp"], ["iser", "srp"], ["tcp", "iser"])) * (count // 2)
    r.shuffle(carriers)
    plan = {
        "carriers": carriers, "groups": "same" if groups == "same" else "other", "seed": seed,
        # By which paths of iSCSI and SRP fence each other; none needs it otherwise.
        "host": "pathloss" if carrier == "mixed" and groups == "other" else None,
        "options": ["--fence", "reservation"] if groups == "reserved" else [],
        "policy": r.choice(("service-time", "queue-depth", "round-robin", "round-robin")),
        "units": r.choice((64, 128, 256)), "depth": r.choice((16, 32, 64)),
        "reissues": r.random() < 0.5, "fua": r.choice((0, 50, 100)),
        "window": r.choice((8, 12, 16)) if fault == "back" else None,
        "relayed": r.randrange(count) if fault in ("held", "reset") else None,
        "losses": [{
            "victim": r.randrange(count), "outage": r.uniform(*OUTAGE),
            "aims": r.random() < 0.8, "is_quiet": r.random() < 0.7,
            "delay": r.uniform(4, 8), "way": r.choice(("kill", "relay", "relay")),
            "burst": r.uniform(0.05, 0.3)} for _ in range(losses)]}
    if fault == "back":  # more for each path than its window
        plan.update(carriers=carriers[:2], depth=64)
        for loss in plan["losses"]:
            loss["victim"] %= 2
    return plan


# --- one world ---

class Loss:
    """What happens at one loss; result: its row."""

    def __init__(self, world, loss):
        self.world, self.loss, self.network, self.load = world, loss, world.network, world.load
        self.victim = loss["victim"] if world.relayed is None else world.relayed
        self.begun = self.struck = 0.0
        self.was_hit = False  # the middlebox kept a write
        self.ended = None  # how the outage is ended, None: it has no length

    def silence(self, ways):
        self.network.silence(self.victim, ways)
        self.ended = lambda: self.network.restore(self.victim, ways)

    def reset(self):
        self.held()
        limit = time.monotonic() + 3
        while not self.was_hit and time.monotonic() < limit:
            time.sleep(0.02)
            self.was_hit = self.world.hold("hold") >= KEPT
        if self.loss["way"] == "kill":
            self.network.kill_sockets(self.victim)
        else:
            self.world.hold("reset")

    def oneway(self):
        self.silence("i")

    def back(self):
        self.silence("t")

    def twoway(self):
        self.silence("it")

    def killed(self):
        self.silence("i")
        time.sleep(0.3)
        self.world.kill_holder()
        self.load("rate %d" % PACE)
        self.world.attach()

    def held(self):
        self.world.hold("hold")
        self.ended = lambda: self.world.hold("release")

    def slow(self):
        self.world.delay_writes(int(self.loss["delay"] * 1e6))
        time.sleep(0.5)
        self.world.delay_writes(0)
        self.network.kill_sockets(self.victim)
        self.load(f"rate {BURST}", "cover")
        time.sleep(1)  # those of other paths still wait; what is sent again ends at once

    def strike(self, fault):
        """The load is at its fastest before, so that writes are on their way."""
        self.load("mix 90", f"rate {BURST}")
        time.sleep(self.loss["burst"])
        self.load("mark")
        self.begun = time.monotonic()
        getattr(self, fault)()
        self.struck = time.monotonic()
        time.sleep(0.3)
        reads_only = fault == "slow" and self.loss["is_quiet"]
        self.load(f"rate {PACE}", "mix 0" if reads_only else "mix 70")

    def is_over(self, answer):
        return (answer["connected"] and answer["oldest"] < 1 and answer["since_mark"] and
                time.monotonic() > self.struck + 1.5)

    def overwrite(self):
        """Each unit is written once more and read, so that what comes back is older."""
        self.load(f"rate {5 * PACE}", "cover")
        self.load.wait("newer writes", lambda a: not a["cover_left"], LIMIT)
        self.sweep()
        self.load(f"rate {PACE}", "mix 0" if self.loss["is_quiet"] else "mix 50")

    def sweep(self):
        """The writes under way end, and each unit is read."""
        self.load(f"rate {5 * PACE}", "sweep")
        answer = self.load.wait("a sweep", lambda a: not a["sweep_left"] and a["oldest"] < 1, LIMIT)
        self.load(f"rate {PACE}")
        return bool(answer)

    def wait_until(self, when):
        """False if that is over, or too far away to be foretold."""
        left = when - time.monotonic()
        time.sleep(max(0.05, min(left, 2)))
        return 0 < left <= 2

    def recover(self):
        """Ends the outage after its time, or shortly before the next retransmission."""
        end = self.begun + (OUTAGE[0] if self.loss["aims"] else self.loss["outage"])
        while time.monotonic() < end:
            self.load()
            time.sleep(0.1)
        aimed = False
        while self.loss["aims"] and not aimed and time.monotonic() < self.begun + OUTAGE[1]:
            asked = time.monotonic()
            timers = self.network.retransmissions(self.victim)
            if not timers:
                break
            first = asked + min(timers)
            # What the target sends to an abandoned socket resets it: between the two.
            asked = time.monotonic()
            theirs = [asked + t for t in self.network.retransmissions(self.victim, "t")]
            before = [(t + first) / 2 for t in theirs if first - 2 * AHEAD < t < first]
            aimed = self.wait_until(max([first - AHEAD, *before]))
        kept = self.ended()
        return {"aimed": aimed, "outage": time.monotonic() - self.begun, "kept": kept}

    def settle(self, fault):
        """Until the path is up again and nothing more can arrive."""
        limit = time.monotonic() + LIMIT
        least = time.monotonic() + 3
        if fault == "slow":
            least = self.begun + self.loss["delay"] + 2
        while time.monotonic() < limit:
            time.sleep(1.5)
            self.load()
            is_up = self.world.states() == ["up"] * len(self.world.carriers)
            if is_up and time.monotonic() > least and not self.network.retransmissions(self.victim):
                return True
        return False

    def run(self, fault):
        before = self.load("mix 90")
        self.strike(fault)
        answer = self.load.wait("failover", self.is_over, LIMIT)
        row = {"fault": fault, "failover": answer is not None, **{
            k: self.load.last[k] for k in ("gap", "slowest", "hits", "since_mark")}}
        if fault == "slow":  # its writes end at once
            row["hits"] = max(row["hits"], self.load.last["open_writes"])
        if fault != "slow":
            self.overwrite()
        if self.ended:
            row.update(self.recover())
        if fault == "reset":  # its writes are sent again at once, and none is late
            row["hits"] = max(row["hits"], int(self.was_hit))
        row["up"] = self.settle(fault)
        row["swept"] = self.sweep()
        for key in ("bad_writes", "bad_blocks", "unknown", "acked", "reads", "errors"):
            row[key] = self.load.last[key] - before[key]
        return row


def is_empty(row):
    """A loss that tested nothing: no write was hit, none followed, or it did not end well."""
    hits = row["hits"] or row["unknown"]
    return not (hits and row["since_mark"] and row["failover"] and row["up"] and row["swept"])


def run_world(name, losses, program):
    from world import World  # pylint: disable=import-outside-toplevel
    carrier, groups, fault, seed = name.split("/")
    plan = plan_of(carrier, groups, fault, int(seed), losses)
    begun = time.monotonic()
    with World({**plan, "program": program}) as world:
        rows = [Loss(world, loss).run(fault) for loss in plan.pop("losses")]
        violations = world.load.violations
    return {"world": name, "plan": plan, "losses": rows, "violations": violations[:50],
            "seconds": round(time.monotonic() - begun, 1)}


# --- the table ---

def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else 0


def read_results(path):
    if not path or not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.endswith("\n")]


def table(results):
    """Lines: a combination each."""
    rows = {}
    for r in results:
        rows.setdefault(r["world"].rpartition("/")[0], []).append(r)
    out = [f"{'combination':22} {'worlds':>6} {'failed':>6} {'losses':>6} {'empty':>5} {'hits':>6} "
           f"{'bad losses':>10} {'bad writes':>10} "
           f"{'gap p50':>8} {'p99':>7} {'slowest p50':>11} {'p99':>7}"]
    for name in sorted(rows):
        losses = [row for r in rows[name] for row in r.get("losses", ())]
        gaps, slow = [x["gap"] for x in losses], [x["slowest"] for x in losses]
        failed = sum("error" in r for r in rows[name])
        out.append(
            f"{name:22} {len(rows[name]):6} {failed:6} {len(losses):6} "
            f"{sum(map(is_empty, losses)):5} {sum(x['hits'] for x in losses):6} "
            f"{sum(x['bad_writes'] > 0 for x in losses):10} {sum(x['bad_writes'] for x in losses):10} "
            f"{percentile(gaps, .5):8.3f} {percentile(gaps, .99):7.3f} "
            f"{percentile(slow, .5):11.3f} {percentile(slow, .99):7.3f}")
    return out


# --- all of them ---

def one(options, name):
    """A world in a process of its own; returns its result."""
    command = [sys.executable, os.path.abspath(__file__), "--world", name,
               "--losses", str(options.losses), "--load", options.load]
    env = {**os.environ, "PATH": PATH, "FARBLOCK_BUILD": os.path.abspath(options.build),
           "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=env, text=True, capture_output=True, check=False)
    if done.returncode:
        return {"world": name, "error": done.stderr.strip()[-2000:]}
    return json.loads(done.stdout.splitlines()[-1])


def names_of(options):
    first, _, last = options.seeds.partition("-")
    only = [o.split("/") for o in options.only.split(",")] if options.only else [[]]
    for seed in range(int(first), int(last or first) + 1):
        for fault in FAULTS:
            for carrier in CARRIERS:
                for groups in GROUPS:
                    parts = (carrier, groups, fault)
                    if any(all(w in ("*", p) for w, p in zip(o, parts)) for o in only):
                        yield "/".join((*parts, str(seed)))


def campaign(options):
    """Runs the worlds that the file lacks; returns the results of all."""
    results = [r for r in read_results(options.results) if "error" not in r]
    have = {r["world"] for r in results}
    todo = [n for n in names_of(options) if n not in have]
    with (concurrent.futures.ThreadPoolExecutor(options.jobs) as pool,
          open(options.results or os.devnull, "a", encoding="utf-8") as out):
        for done in concurrent.futures.as_completed(pool.submit(one, options, n) for n in todo):
            result = done.result()
            results.append(result)
            out.write(json.dumps(result) + "\n")
            out.flush()
            for text in result.get("violations", ())[:5]:
                print(f"{result['world']}: {text}")
            bad = sum(x["bad_writes"] for x in result.get("losses", ()))
            print(f"{result['world']}: {result.get('error') or f'{bad} bad writes'}", flush=True)
    return results


def missing():
    """What a world needs and this machine lacks, or None."""
    if os.geteuid():
        return "root"
    lacking = [p for p in ("ip", "nft", "ss", "nsenter") if not shutil.which(p, path=PATH)]
    if lacking:
        return f"{', '.join(lacking)}: etc/deps.sh check installs it"
    name = f"fbpl{os.getpid()}"
    done = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False)
    subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
    return "network namespaces" if done.returncode else None


def is_bad(results, may_be_empty):
    by_name = {}
    for r in results:
        by_name.setdefault(r["world"].rpartition("/")[0], []).extend(r.get("losses", ()))
    return (any("error" in r for r in results) or
            any(x["bad_writes"] for rows in by_name.values() for x in rows) or
            (not may_be_empty and any(all(map(is_empty, rows)) for rows in by_name.values())))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.environ.get("FARBLOCK_BUILD", "build"))
    parser.add_argument("--load", help="default: tests/pathloss/pathloss_load of the build")
    parser.add_argument("--results")
    parser.add_argument("--seeds", default="1-10")
    parser.add_argument("--only", help="CARRIER/GROUPS/FAULT, * for any, several with commas")
    parser.add_argument("--jobs", type=int, default=24)
    parser.add_argument("--losses", type=int, default=LOSSES)
    parser.add_argument("--any-empty", action="store_true", help="empty losses are no failure")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--world", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.load = options.load or os.path.join(options.build, "tests/pathloss/pathloss_load")
    if options.world:
        print(json.dumps(run_world(options.world, options.losses, options.load)))
        return 0
    lacking = not options.table and missing()
    if lacking:
        print(f"skipped: needs {lacking}")
        return 77
    results = read_results(options.results) if options.table else campaign(options)
    print("\n".join(table(results)))
    return int(is_bad(results, options.any_empty))


if __name__ == "__main__":
    sys.exit(main())
