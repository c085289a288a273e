#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""readers.py finds the headers of made-up trees that too many files include, and no others."""
import sys

import readers


def tree(header, count, line='#include "{}"\n'):
    return {f'target/x/{i}.c': line.format(header) for i in range(count)}


def names(texts, allowed=()):
    return [header for header, _ in readers.complaints(texts, frozenset(allowed))]


H, MOST = 'target/x/x.h', readers.MOST
CASES = [
    ('as many as permitted', tree(H, MOST), (), []),
    ('one more', tree(H, MOST + 1), (), [H]),
    ('of cli', tree('cli/x.h', MOST + 1), (), ['cli/x.h']),
    ('of core and wire', tree('core/err.h', 99) | tree('transport/wire/be.h', 99), (), []),
    ('twice by one file', tree(H, MOST, '#include "{0}"\n#include "{0}"\n'), (), []),
    ('in a comment', tree(H, MOST + 1, '// #include "{}"\n'), (), []),
    ('an allowed one', tree(H, MOST + 1), (H,), []),
    ('an allowed one that has shrunk', tree(H, MOST), (H,), [H]),
    ('an allowed one that is gone', {}, (H,), [H]),
]


def main():
    for what, texts, allowed, expected in CASES:
        if names(texts, allowed) != expected:
            sys.exit(f'{what}: {names(texts, allowed)}, expected {expected}')
    print(f'readers: {len(CASES)} cases')


if __name__ == '__main__':
    main()
