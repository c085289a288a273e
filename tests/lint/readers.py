# SPDX-License-Identifier: BSD-2-Clause
"""Who reads the headers of the program.

At most 39 files include a header of target/ or cli/. What forty files read has no subject, and a
change of it builds everything again: split it by what its readers need.

A CMakeLists.txt with lines "# Headers for READERS: a.h b.h" names those headers of its folder that
other folders include, and no others."""

import os
import re

MOST = 39
FOLDERS = ('target/', 'cli/')
ALLOWED = set()
PUBLIC = re.compile(r'^# Headers for [^:\n]+:(.*)$', re.M)
INCLUDE = re.compile(r'^[ \t]*#\s*include\s*"([^"]+)"', re.M)


def readers(texts):
    """Of the files of the program (path: text): header: the paths that include it."""
    found = {}
    for path, text in texts.items():
        for header in set(INCLUDE.findall(text)):
            if header.startswith(FOLDERS):
                found.setdefault(header, []).append(path)
    return found


def complaints(texts, allowed=frozenset(ALLOWED)):
    """Pairs of header and text."""
    crowded = {h: len(paths) for h, paths in readers(texts).items() if len(paths) > MOST}
    return ([(h, f'{n} files include it, at most {MOST}: split it by what its readers need')
             for h, n in sorted(crowded.items()) if h not in allowed] +
            [(h, f'at most {MOST} files include it: remove it from tests/lint/readers.py')
             for h in sorted(allowed - crowded.keys())])


def public_complaints(texts, lists):
    """Of the files of the program, and the CMakeLists.txt: pairs of the latter and text."""
    used, found = {}, []
    for path, text in texts.items():
        for header in INCLUDE.findall(text):
            if os.path.dirname(header) != os.path.dirname(path):
                used.setdefault(os.path.dirname(header), set()).add(os.path.basename(header))
    for path, text in lists.items():
        named = {name for line in PUBLIC.findall(text) for name in line.split()}
        if not named:
            continue
        seen = used.get(os.path.dirname(path), set())
        found += [(path, f'other folders include {name}: name it') for name in sorted(seen - named)]
        found += [(path, f'no other folder includes {name}') for name in sorted(named - seen)]
    return found
