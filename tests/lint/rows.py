#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every row that users meet, as the daemon itself tells them (schema): each class, command,
parameter, setting and RPC method has a help of one line. What is shown by help, completion and
documentation comes from there and nowhere else."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402

LONGEST = 100  # characters


def walk(node, where, found):
    """Every object that has, or by its kind should have, a help; as (where, help)."""
    if isinstance(node, dict):
        if "help" in node or {"type", "range"} & set(node) or "params" in node:
            found.append((where, node.get("help")))
        for key, value in node.items():
            walk(value, f"{where}/{key}", found)
    elif isinstance(node, list):
        for i, value in enumerate(node):
            name = value.get("name", i) if isinstance(value, dict) else i
            walk(value, f"{where}/{name}", found)


def wrong(text):
    """Why this is no help, or None."""
    if not text:
        return "no help"
    if "\n" in text or text != text.strip():
        return "more than one plain line"
    return f"{len(text)} characters, at most {LONGEST}" if len(text) > LONGEST else None


def main():
    with farblock.Scratch() as scratch:
        with farblock.Farblockd(scratch, farblock.Config()) as daemon:
            rows = []
            walk(daemon.rpc("schema"), "", rows)
    bad = [(where, wrong(text)) for where, text in rows if wrong(text)]
    for where, why in bad:
        print(f"{where}: {why}")
    print(f"rows: {len(rows)} rows, {len(bad)} findings")
    if len(rows) < 100:
        raise farblock.Failure("the schema has lost its rows, or changed its shape")
    return 1 if bad else 0


if __name__ == "__main__":
    farblock.main(main)
