#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What farblock-initiator says of itself and of wrong words: help of each command with examples
that it takes, in the width of a terminal; suggestions for mistyped words and those of other
programs."""

import os
import re
import shlex
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from farblock import Failure, Skip, check, main, program, run  # noqa: E402

try:
    import pexpect
except ImportError:
    pexpect = None

URL = "iscsi://127.0.0.1:1/iqn.2025-01.org.example:t/0"


def tool(*words, status=0):
    done = run(["farblock-initiator", *words], check=False)
    check(done.returncode == status, f"{words}: exit status {done.returncode}: {done.stdout}")
    return done.stdout


def verbs():
    told = tool("--help").split("Commands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in told.splitlines()]


def every_verb_has_help_and_examples():
    for verb in verbs():
        told = tool(verb, "--help")
        check(told == tool("help", verb) and told.startswith(f"Usage: farblock-initiator {verb}"),
              f"{verb}: {told}")
        check(verb == "login-test" or f"    farblock-initiator {verb} " in told,
              f"{verb}: no example")


def every_option_of_an_example_exists():
    for verb in verbs():
        told = tool(verb, "--help")
        options = re.findall(r"^ {2}(?:-\w, | {4})--([a-z-]+)", told, re.M)
        for example in re.findall(r"^ {4}farblock-initiator (.*)", told, re.M):
            for word in shlex.split(example.split("|")[0]):
                if word.startswith("--") and word[2:] not in options:
                    raise Failure(f"{verb}: its example has {word}: {options}")


def wrong_words_are_answered_with_right_ones():
    for words, text in (
            (("disco",), "unknown command: disco (did you mean discover?)"),
            (("cpacity", URL), "(did you mean capacity?)"),
            (("ls", URL), "(did you mean luns?)"),
            (("convert", URL, URL), "(did you mean copy?)"),
            (("help", "cpy"), "(did you mean copy?)"),
            (("-m", "session", "-P", "3"), "(did you mean sessions?)"),
            (("-m", "discovery", "-t", "st"), "(did you mean discover?)"),
            (("reserve", "report", URL), "ACTION comes after the URL"),
            (("frobnicate",), "unknown command: frobnicate (see farblock-initiator --help)"),
            (("read", URL, "--ofset", "3"), "read: unknown option: --ofset (did you mean --offset?)"),
            (("bench", URL, "--iodepth=3"), "unknown option: --iodepth (did you mean --depth?)"),
            (("read", URL, "--force"), "--force (other commands have it; see --help)"),
            (("read", URL, "--zzz"), "unknown option: --zzz (see --help)"),
            (("read",), "read: missing URL (farblock-initiator read URL)"),
            (("reserve", URL), "missing ACTION (farblock-initiator reserve URL ACTION)"),
            (("read", URL, URL, "-o", "x"), "read: unexpected argument: iscsi://")):
        told = tool(*words, status=2)
        check(text in told, f"{words}: no '{text}' in {told}")


def help_fits_its_terminal():
    if pexpect is None:
        raise Skip("python3-pexpect is not installed")
    for columns in (50, 80, 120):
        child = pexpect.spawn(program("farblock-initiator"), ["attach", "--help"], timeout=60,
                              encoding="utf-8", dimensions=(24, columns))
        child.expect(pexpect.EOF)
        child.close()
        # Examples are not broken: they are copied.
        lines = [line for line in child.before.splitlines() if "farblock-initiator" not in line]
        check(lines and max(map(len, lines)) < columns, f"{columns}: {max(lines, key=len)}")


def test():
    every_verb_has_help_and_examples()
    every_option_of_an_example_exists()
    wrong_words_are_answered_with_right_ones()
    help_fits_its_terminal()


main(test)
