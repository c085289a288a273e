#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""readers.py finds the headers of made-up trees that too many files include, or other folders
without a line in their CMakeLists.txt, and no others."""
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
LIST = 'target/x/CMakeLists.txt'
BOTH = {'target/x/a.c': '#include "target/x/own.h"\n', 'target/y/b.c': '#include "target/x/x.h"\n'}
PUBLIC_CASES = [
    ('named', '# Headers for y: x.h\nlibrary(x)\n', []),
    ('named for two readers', '# Headers for y: x.h\n# Headers for z: x.h\n', []),
    ('not named', '# Headers for y: z.h\n',
     [(LIST, 'other folders include x.h: name it'), (LIST, 'no other folder includes z.h')]),
    ('read by its own folder only', '# Headers for y: x.h own.h\n',
     [(LIST, 'no other folder includes own.h')]),
    ('no list', 'library(x)\n', []),
]


def main():
    for what, texts, allowed, expected in CASES:
        if names(texts, allowed) != expected:
            sys.exit(f'{what}: {names(texts, allowed)}, expected {expected}')
    for what, text, expected in PUBLIC_CASES:
        found = readers.public_complaints(BOTH, {LIST: text})
        if found != expected:
            sys.exit(f'{what}: {found}, expected {expected}')
    print(f'readers: {len(CASES) + len(PUBLIC_CASES)} cases')


if __name__ == '__main__':
    main()
