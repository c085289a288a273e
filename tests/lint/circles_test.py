#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""circles.py finds the circles of made-up trees, and nothing in a tree without one."""
import sys

import circles

DEPS = 'low:\nhigh: low\n'


def tree(**files):
    """a_c='...' is low/a.c."""
    return {'low/' + name.replace('_', '.'): text for name, text in files.items()}


def found(texts, deps=DEPS):
    return circles.circles(circles.in_tree(texts, deps))


def expect(is_as, expected, what):
    if is_as != expected:
        sys.exit(f'{what}: {is_as}, expected {expected}')


CALLS_A = 'void b(void)\n{\n\ta();\n}\n'
CALLS_B = 'void a(void)\n{\n\tb();\n}\n'
PLAIN_A = 'void a(void)\n{\n\treturn;\n}\n'
BOTH = [['low/a.c', 'low/b.c']]

CASES = [
    ('two files that call each other', tree(a_c=CALLS_B, b_c=CALLS_A), BOTH),
    ('one direction', tree(a_c=PLAIN_A, b_c=CALLS_A), []),
    ('a circle over a third file',
     tree(a_c=CALLS_B, b_c='void b(void)\n{\n\tc();\n}\n', c_c='void c(void)\n{\n\ta();\n}\n'),
     [['low/a.c', 'low/b.c', 'low/c.c']]),
    ('a table of the other file',
     tree(a_c='const struct ops table[] = {\n\t{ a },\n};\n' + PLAIN_A,
          b_c='extern const struct ops table[];\nvoid b(void)\n{\n\tuse(table);\n}\n'), []),
    ('a table that names who reads it',
     tree(a_c='const struct ops table[] = {\n\t{ b },\n};\n',
          b_c='void b(void)\n{\n\tuse(&table[0]);\n}\n'), BOTH),
    ('by an inline function of a header',
     tree(a_c=CALLS_B, b_c='void b(void)\n{\n\tfast();\n}\n',
          x_h='static inline void fast(void)\n{\n\ta();\n}\n'), BOTH),
    ('by a macro', tree(a_c=CALLS_B, b_c='void b(void)\n{\n\tFAST;\n}\n', x_h='#define FAST a()\n'),
     BOTH),
    ('through a pointer', tree(a_c=CALLS_B, b_c='void b(void)\n{\n\tx->a();\n}\n'), []),
    ('in a comment and a string',
     tree(a_c=CALLS_B, b_c='// a()\nvoid b(void)\n{\n\tsay("a()");\n}\n'), []),
    ('a static function of the same name',
     tree(a_c=CALLS_B, b_c='static void a(void)\n{\n\treturn;\n}\n' + CALLS_A), []),
    ('over folders', {'low/a.c': CALLS_B, 'high/b.c': CALLS_A}, []),
]


def main():
    for what, texts, expected in CASES:
        expect(found(texts), expected, what)
    expect(found({'low/a.c': CALLS_B, 'high/b.c': CALLS_A}, 'low: high\nhigh: low\n'),
           [['high/b.c', 'low/a.c']], 'over folders that may use each other')
    expect(circles.complaints(BOTH, ''), [(1, 'a circle of calls: low: a.c b.c')], 'none is allowed')
    expect(circles.complaints(BOTH, 'low: a.c b.c: why\n'), [], 'it is allowed')
    expect(circles.complaints(BOTH, 'low: a.c b.c c.c: why\n'),
           [(1, 'low/c.c is in no circle of this line')], 'an allowed one that has shrunk')
    expect(circles.complaints([], 'low: a.c b.c: why\n'),
           [(1, f'low/{name} is in no circle of this line') for name in ('a.c', 'b.c')],
           'an allowed one that is gone')
    expect(circles.complaints(BOTH, 'low: a.c b.c\n')[:1],
           [(1, 'a line is "folder: files: reason", not "low: a.c b.c"')], 'no reason')
    print(f'circles: {len(CASES) + 6} cases')


if __name__ == '__main__':
    main()
