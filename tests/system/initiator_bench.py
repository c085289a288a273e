#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblock-initiator bench: what it reads and writes, several sessions, a rate, its report, picture
and refusals; Ctrl-C ends all sessions and prints the result so far."""

import json
import os
import signal
import sys
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import initiator  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, eventually, main  # noqa: E402

SIZE = 16 << 20
MIB = 1 << 20
PERCENTILES = ["min_us", "p50_us", "p90_us", "p99_us", "p99_9_us", "p99_99_us", "max_us"]


def bench(url, *options, status=0):
    return initiator.end(initiator.start("bench", url, *options), status)


def by_json(url, *options):
    return json.loads(bench(url, "--time", "1", "--json", *options))


def a_mix_reads_and_writes(target, _):
    told = by_json(target.url(), "--op", "randrw", "--mix", "80")
    reads, writes = told["reads"]["count"], told["writes"]["count"]
    check(0.7 < reads / (reads + writes) < 0.9, told)
    for side in (told["reads"], told["writes"]):
        figures = [side[key] for key in PERCENTILES]
        check(figures == sorted(figures) and figures[0] <= side["mean_us"] <= figures[-1], side)
    check(told["cpu_us_per_io"] > 0 and told["iops_per_core"] > 0, told)
    check(by_json(target.url(), "--op", "rw", "--mix", "0")["reads"]["count"] == 0,
          "--mix 0 reads")


def only_the_range_is_written(target, scratch):
    path = os.path.join(scratch.path, "whole")
    bench(target.url(), "--op", "write", "--time", "1", "--offset", "1M", "--length", "1M")
    initiator.end(initiator.start("read", target.url(), "-o", path))
    with open(path, "rb") as file:
        data = file.read()
    check(data[MIB:2 * MIB] == b"\xa5" * MIB, "the range is not written")
    check(not any(data[:MIB]) and not any(data[2 * MIB:]), "more than the range is written")


def sessions_share_the_work(target, daemon):
    before = daemon.log().count("session ended: logged out")
    told = by_json(target.url(), "--sessions", "3")
    check(told["sessions"] == 3 and told["iops"] > 0 and not told["errors"], told)
    eventually("three logouts",
               lambda: daemon.log().count("session ended: logged out") == before + 3)


def a_rate_is_not_exceeded(target, _):
    told = by_json(target.url(), "--rate", "200")
    check(told["reads"]["count"] + told["unsent"] == 200, told)


def what_was_due_is_reported(target, _):
    """It ends in time, and counts what it could not send."""
    told = by_json(target.url(), "--rate", "10000000", "--depth", "1")
    check(told["unsent"] > 0 and told["seconds"] < 30, told)
    check("commands of 10000000 a second were due and not sent" in
          bench(target.url(), "--time", "1", "--rate", "10000000", "--depth", "1"), "not told")


def a_picture_is_xml(target, scratch):
    path = os.path.join(scratch.path, "bench.svg")
    bench(target.url(), "--time", "1", "--op", "randrw", "--svg", path)
    root = xml.parse(path).getroot()
    texts = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    check({"time (s)", "throughput (MB/s)", "latency (logarithmic)", "reads", "writes"} <= texts,
          texts)


def progress_has_a_line_a_second(target, _):
    process = initiator.start("bench", target.url(), "--time", "3", "--progress")
    _, err = process.communicate(timeout=120)
    lines = [line for line in err.splitlines() if " IOPS " in line and " p99 " in line]
    check(len(lines) == 3 and " MB/s " in lines[0], err)


def refusals(target, _):
    for options, text in (
            (["--op", "rewrite"], "--op rewrite: must be randread, read, randwrite, write"),
            (["--mix", "30"], "--mix: only with --op randrw and rw"),
            (["--svg", "-"], "--svg -: must be a file"),
            (["--length", "0"], "--length 0: must be at least 512"),
            (["--offset", "100"], "--offset 100: must be a multiple of 512"),
            (["--bs", "1000"], "--bs 1000: must be a multiple of 512"),
            (["--sessions", "0"], "--sessions 0: must be 1 to 32"),
            (["--isid", "400000000001", "--sessions", "2"], "--isid: only with a single session"),
            (["--rate", "1", "--sessions", "2"], "--rate 1: must be at least --sessions (2)")):
        told = bench(target.url(), *options, status=2)
        check(text in told, f"{options}: {told}")


def a_picture_that_cannot_be_written_is_told_at_once(target, _):
    told = bench(target.url(), "--time", "3600", "--svg", "/dev/null/none.svg", status=1)
    check("--svg /dev/null/none.svg: create: " in told, told)


def ctrl_c_ends_all_sessions(target, daemon):
    before = daemon.log().count("session ended: logged out")
    process = initiator.start("bench", target.url(), "--time", "3600", "--sessions", "2",
                              "--progress", "--json")
    check(" IOPS " in process.stderr.readline(), "no first second")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    told = json.loads(out)
    check(process.returncode == 130, f"exit status {process.returncode}")
    check(told["interrupted"] and told["reads"]["count"] > 0 and told["per_second"], told)
    eventually("two logouts", lambda: daemon.log().count("session ended: logged out") == before + 2)


def test():
    with Scratch() as scratch:
        config = Config()
        target = config.target([config.ramdisk("rd0", SIZE)])
        with Farblockd(scratch, config) as daemon:
            for case, argument in ((only_the_range_is_written, scratch),
                                   (a_mix_reads_and_writes, None),
                                   (sessions_share_the_work, daemon),
                                   (a_rate_is_not_exceeded, None),
                                   (what_was_due_is_reported, None),
                                   (a_picture_is_xml, scratch),
                                   (progress_has_a_line_a_second, None),
                                   (refusals, None),
                                   (a_picture_that_cannot_be_written_is_told_at_once, None),
                                   (ctrl_c_ends_all_sessions, daemon)):
                case(target, argument)


main(test)
