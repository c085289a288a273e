#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Circles of calls: sources of which each needs, directly or over others, what the others define.
Such files can be read, tested and moved only together.

A source needs another one if it names a function or an object (a table of operations or rows)
that the other one defines. What the macros and inline functions of headers name counts for the
sources that use them; a call through a pointer does not count. This reads the text alone, so that
it needs no build: clang-format puts definitions at column 0. A local name that is the function of
another file counts as its use too, so the result has at least what the linker sees.

Run alone it prints the circles of the tree with the uses that close them."""

import os
import re
import subprocess
import sys

# Comments, strings and characters, which name nothing.
SILENT = re.compile(r'''//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+\'''', re.S)
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.M)
MACRO = re.compile(r'^[ \t]*#\s*define\s+(\w+)((?:[^\n]*\\\n)*[^\n]*)', re.M)
ATTRIBUTE = re.compile(r'__attribute__\s*\(\(.*?\)\)')
# Neither members nor tags: these have names of their own.
NAME = re.compile(r'(?<![\w.])(?<!->)(?<!struct )(?<!enum )(?<!union )[A-Za-z_]\w*')
# Type, name, parameters, body.
FUNCTION = re.compile(r'^(?!typedef\b|extern\b)([A-Za-z_][^\n;={}()]*?)\b(\w+)\(([^;{}]*)\)[^;{}=]*'
                      r'\n\{\n(.*?)^\}', re.M | re.S)
OBJECT = re.compile(r'^(?!typedef\b|extern\b)((?:\w+[ \t*]+)+)(\w+)(?:\[[^\n=;]*\])*[ \t]*[=;]',
                    re.M)


def without_text(text):
    return ATTRIBUTE.sub('', SILENT.sub(' ', text))


def names_in(code):
    return set(NAME.findall(code))


class Source:
    """What a source defines for others, and what it names."""

    def __init__(self, text):
        text = without_text(text)
        macros = ' '.join(m[2] for m in MACRO.finditer(text))
        code = DIRECTIVE.sub('', text)
        self.defines, own = set(), set()
        for m in [*FUNCTION.finditer(code), *OBJECT.finditer(code)]:
            (own if re.search(r'\bstatic\b', m[1]) else self.defines).add(m[2])
        self.names = names_in(code + ' ' + macros) - own


def aliases(headers):
    """What each macro and inline function of the headers names."""
    found = {}
    for text in map(without_text, headers):
        for m in MACRO.finditer(text):
            found.setdefault(m[1], set()).update(names_in(m[2]))
        for m in FUNCTION.finditer(DIRECTIVE.sub('', text)):
            found.setdefault(m[2], set()).update(names_in(m[4]))
    return found


def closure(names, alias):
    seen, todo = set(names), list(names)
    while todo:
        for name in alias.get(todo.pop(), ()):
            if name not in seen:
                seen.add(name)
                todo.append(name)
    return seen


def uses(texts, belongs):
    """texts: path to text of each .c and .h. belongs(user, definer): whether the folder of the one
    may use what the other one defines: programs have names in common. Returns for each .c those it
    needs, each with the names."""
    alias = aliases(t for p, t in texts.items() if p.endswith('.h'))
    sources = {p: Source(t) for p, t in texts.items() if p.endswith('.c')}
    definers = {}
    for path, source in sources.items():
        for name in source.defines:
            definers.setdefault(name, []).append(path)
    graph = {}
    for path, source in sources.items():
        graph[path] = {}
        for name in closure(source.names, alias) - source.defines:
            for other in definers.get(name, ()):
                if belongs(path, other):
                    graph[path].setdefault(other, set()).add(name)
    return graph


def circles(graph):
    """The strongly connected components of more than one file (Tarjan, without recursion)."""
    index, low, on, stack, found = {}, {}, set(), [], []
    for root in sorted(graph):
        if root in index:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        walk = [(root, iter(sorted(graph[root])))]
        while walk:
            at, rest = walk[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on.add(other)
                    walk.append((other, iter(sorted(graph[other]))))
                    break
                if other in on:
                    low[at] = min(low[at], index[other])
            else:
                walk.pop()
                if walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[at])
                if low[at] == index[at]:
                    cut = stack.index(at)
                    part = stack[cut:]
                    del stack[cut:]
                    on.difference_update(part)
                    if len(part) > 1:
                        found.append(sorted(part))
    return sorted(found)


def folders_below(deps):
    """tests/lint/deps.txt as folder to the folders that it may use, itself among them."""
    below = {}
    for line in deps.splitlines():
        if line and not line.startswith('#'):
            folder, names = line.split(':')
            below[folder] = set(names.split()) | {folder}
    return below


def in_tree(texts, deps):
    """The uses among the product's sources; see uses()."""
    below = folders_below(deps)
    product = {p: t for p, t in texts.items() if not p.startswith('tests/')}
    return uses(product, lambda user, definer:
                os.path.dirname(definer) in below.get(os.path.dirname(user), ()))


def short(paths):
    """A circle as a line of circles.txt begins: the folder and the names in it."""
    folder = os.path.commonpath([os.path.dirname(p) for p in paths])
    return f'{folder}: ' + ' '.join(os.path.relpath(p, folder) for p in paths)


def complaints(found, allowed_text):
    """What is wrong with the circles found, beside a text as that of circles.txt: each a circle that
    no line permits, or a line with a file that is in no circle. A part of a permitted set is
    permitted."""
    said, allowed = [], []
    for n, line in enumerate(allowed_text.splitlines(), 1):
        if not line or line.startswith('#'):
            continue
        folder, names, reason = ([*line.split(': ', 2), '', ''])[:3]
        if not reason:
            said.append((n, f'a line is "folder: files: reason", not "{line}"'))
        allowed.append((n, {os.path.join(folder, name) for name in names.split()}))
    for circle in found:
        if not any(set(circle) <= paths for _, paths in allowed):
            said.append((1, f'a circle of calls: {short(circle)}'))
    for n, paths in allowed:
        in_circle = {p for circle in found if set(circle) <= paths for p in circle}
        said += [(n, f'{path} is in no circle of this line') for path in sorted(paths - in_circle)]
    return said


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    os.chdir(root)
    out = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard', '*.c', '*.h'],
                         capture_output=True, text=True, check=True).stdout.split()
    texts = {}
    for path in filter(os.path.exists, out):
        with open(path, encoding='utf-8') as f:
            texts[path] = f.read()
    with open('tests/lint/deps.txt', encoding='utf-8') as f:
        graph = in_tree(texts, f.read())
    for circle in circles(graph):
        print(short(circle))
        for user in circle:
            for definer in sorted(set(graph[user]) & set(circle)):
                print(f'    {user} -> {definer}: {" ".join(sorted(graph[user][definer]))}')


if __name__ == '__main__':
    sys.exit(main())
