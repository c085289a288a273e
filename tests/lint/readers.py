# SPDX-License-Identifier: BSD-2-Clause
"""How many files of the program include a header of target/ or cli/. What forty files read has no
subject, and a change of it builds everything again: split it by what its readers need."""

import re

MOST = 39
FOLDERS = ('target/', 'cli/')
ALLOWED = {'target/config/model.h'}
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
