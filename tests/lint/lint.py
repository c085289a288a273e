#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks of the source that no compiler makes. Prints each finding as file:line: text; the
last line counts. Exit status 1 if there is any.

  includes    tests/lint/deps.txt against every #include
  headers     each header compiles alone, as the first of a file
  budgets     files up to 800 lines, functions up to 100
  forbidden   calls that invite overruns or end the process
  layout      SPDX line first, clang-format
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILE_LINES, FUNCTION_LINES = 800, 100
# Product code returns errors and bounds its copies.
FORBIDDEN = {
    r'\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|rand|srand|tmpnam|mktemp)\s*\(':
        'unbounded or unsafe call',
    r'\b(abort|assert)\s*\(': 'bad input must not end the process',
    r'\bsystem\s*\(|\bpopen\s*\(': 'no shell',
    r'#\s*include\s*"\.\.?/': 'include from the root, not relative',
}
EXIT_ALLOWED = re.compile(r'/main\.c$|^tests/')
findings = []


def say(path, line, text):
    findings.append(f'{path}:{line}: {text}')


def tracked(*patterns):
    out = subprocess.run(['git', '-C', ROOT, 'ls-files', '--cached', '--others',
                          '--exclude-standard', '--', *patterns],
                         capture_output=True, text=True, check=True).stdout.split('\n')
    return sorted(p for p in out if p and os.path.exists(os.path.join(ROOT, p)))


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        return f.read()


def folder_of(path):
    return os.path.dirname(path)


def check_includes(files):
    allowed = {}
    for line in read('tests/lint/deps.txt').splitlines():
        if line and not line.startswith('#'):
            folder, below = line.split(':')
            allowed[folder] = set(below.split()) | {folder}
    for path in files:
        if path.startswith('tests/'):
            continue
        folder = folder_of(path)
        if folder not in allowed:
            say(path, 1, f'folder {folder} has no line in tests/lint/deps.txt')
            continue
        for n, line in enumerate(read(path).splitlines(), 1):
            m = re.match(r'#\s*include\s*"([^"]+)"', line)
            if m and folder_of(m[1]) not in allowed[folder]:
                say(path, n, f'{folder} may not include {m[1]}')


def check_text(files):
    for path in files:
        text = read(path)
        lines = text.splitlines()
        if not lines or 'SPDX-License-Identifier: BSD-2-Clause' not in '\n'.join(lines[:2]):
            say(path, 1, 'first line must be the SPDX licence identifier')
        if len(lines) > FILE_LINES:
            say(path, 1, f'{len(lines)} lines, at most {FILE_LINES}')
        if path.endswith(('.c', '.h')) and not path.startswith('tests/'):
            check_forbidden(path, lines)


def check_forbidden(path, lines):
    for n, line in enumerate(lines, 1):
        code = re.sub(r'"(\\.|[^"\\])*"', '""', line.split('//')[0])
        if re.match(r'\s*#\s*include', line):
            code = line
        for pattern, why in FORBIDDEN.items():
            if re.search(pattern, code) and '_Static_assert' not in code:
                say(path, n, f'{why}: {line.strip()[:60]}')
        if re.search(r'\bexit\s*\(', code) and not EXIT_ALLOWED.search(path):
            say(path, n, 'only main.c ends the process')


def check_functions(files):
    if not shutil.which('ctags'):
        sys.exit('lint: ctags is missing (etc/deps.sh lint)')
    sources = [os.path.join(ROOT, p) for p in files if p.endswith('.c')]
    out = subprocess.run(['ctags', '--fields=+ne', '--kinds-C=f', '-o', '-', *sources],
                         capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        start, end = re.search(r'\tline:(\d+)', line), re.search(r'\tend:(\d+)', line)
        if not start or not end:
            continue
        name, path = line.split('\t')[:2]
        size = int(end[1]) - int(start[1]) + 1
        if size > FUNCTION_LINES:
            say(os.path.relpath(path, ROOT), start[1],
                f'{name} has {size} lines, at most {FUNCTION_LINES}')


def check_headers(files):
    with tempfile.TemporaryDirectory() as tmp:
        for path in (p for p in files if p.endswith('.h')):
            source = os.path.join(tmp, 'alone.c')
            with open(source, 'w', encoding='utf-8') as f:
                f.write(f'#include "{path}"\n')
            r = subprocess.run(['gcc', '-std=gnu17', '-D_GNU_SOURCE', '-fsyntax-only', '-I', ROOT,
                                '-I', os.path.join(ROOT, 'tests/unit'), source],
                               capture_output=True, text=True, check=False)
            if r.returncode:
                say(path, 1, 'does not compile alone: ' + r.stderr.strip().splitlines()[0][:120])


def check_format(files):
    tool = shutil.which('clang-format')
    if not tool:
        sys.exit('lint: clang-format is missing (etc/deps.sh lint)')
    for path in files:
        r = subprocess.run([tool, '--dry-run', '-Werror', os.path.join(ROOT, path)],
                           capture_output=True, text=True, check=False)
        if r.returncode:
            first = r.stderr.splitlines()[0]
            m = re.search(r':(\d+):\d+:', first)
            say(path, m[1] if m else 1, 'not formatted (clang-format -i)')


def main():
    os.chdir(ROOT)
    code = [p for p in tracked('*.c', '*.h') if '/corpus/' not in p]
    scripts = [p for p in tracked('*.sh', '*.py') if '/corpus/' not in p]
    check_includes(code)
    check_text(code + scripts)
    check_functions(code)
    check_headers([p for p in code if p.endswith('.h')])
    check_format(code)
    for line in findings:
        print(line)
    count = len(code) + len(scripts)
    print(f'lint: {count} files, {len(findings)} findings')
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
