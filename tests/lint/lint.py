#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks of the source that no compiler makes. Prints each finding as file:line: text; the
last line counts. Exit status 1 if there is any.

  includes    tests/lint/deps.txt against every #include, and that it points down
  circles     sources that need each other (circles.py); tests/lint/circles.txt names those allowed
  readers     no header of target/ or cli/ is included by too many files, and by other folders
              those only that the CMakeLists.txt of its folder names (readers.py)
  headers     each header compiles alone, as the first of a file (not with --quick)
  budgets     files up to 800 lines, functions up to 100
  shell       the scripts of boot/ parse in dash, those of bash in bash
  forbidden   calls that invite overruns or end the process
  layout      SPDX line first, clang-format (not with --quick)
  words       no markers of unfinished work, no paths of the machine it was written on
  tests       named after what they claim, each of them run, each fuzzer with its corpus
  english     no turned phrases in what users read: strings of the sources, docs, README, manual
  waiting     tests wait for events: who sleeps is in tests/lint/sleeps.txt, and why; no second try
What users read in help and documentation is checked by rows.py beside this, in the daemon.
"""
import concurrent.futures
import fnmatch
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import circles
import readers

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
# Written so that they do not find themselves.
WORDS = {
    r'\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b': 'unfinished work is finished, or said in HACKING.md',
    r'/wor[k]/|/hom[e]/\w|\.\./share[d]|/tmp/p[_]': 'a path of some machine',
    r'\b[Ii]ssu[e]s? (#?\d|show)': 'documents stand alone',
}
SLEEPS = re.compile(r'\btime\.sleep\s*\(|\b(u|nano|clock_nano)?sleep\s*\(|\bsleep +[\d$%{]')
AGAIN = re.compile(r'--repea[t]\b|--rerun-faile[d]\b')
# Say what is there, or what is wrong: subject, verb, object.
TURNED = (r'is\s+none', r'waits\s+for', r'that\s+which', r'as\s+told', r'anew', r'is\s+had', r'whoever',
          r'nobody', r'somebody', r'of\s+them\s+all', r'for\s+good', r'for\s+ever', r'goes\s+on',
          r'what\s+it\s+is', r'(is|are|was)\s+no\s+more', r'gives?\s+way', r'lets?\s+go\s+of',
          r'see[sn]?\s+to\s+it', r'by\s+the\s+book', r'comes?\s+to\s+pass', r'folders?')
ENGLISH = re.compile(rf'\b({"|".join(TURNED)})\b', re.I)
ENGLISH_IS_ERROR = True
# Comments, strings, characters of C; the strings of one expression stand together.
TOKENS = re.compile(r"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])+'|((?:"(?:\\.|[^"\\\n])*"\s*)+)""", re.S)
EXIT_ALLOWED = re.compile(r'/main\.c$|^tests/')
findings = []


def say(path, line, text):
    findings.append(f'{path}:{line}: {text}')


def tracked(*patterns):
    # Root may look at what somebody else has cloned.
    r = subprocess.run(['git', '-c', f'safe.directory={ROOT}', '-C', ROOT, 'ls-files', '--cached',
                        '--others', '--exclude-standard', '--', *patterns],
                       capture_output=True, text=True, check=False)
    if r.returncode:
        print(f'skipped: {ROOT} is no git checkout: {r.stderr.strip()}')
        sys.exit(77)
    out = r.stdout.split('\n')
    return sorted(p for p in out if p and os.path.exists(os.path.join(ROOT, p)))


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        return f.read()


def folder_of(path):
    return os.path.dirname(path)


def check_includes(files):
    allowed = circles.folders_below(read('tests/lint/deps.txt'))
    seen = set()
    for folder, below in allowed.items():
        seen.add(folder)
        for upper in sorted(below - seen):
            say('tests/lint/deps.txt', 1, f'{folder}: {upper} has no line above')
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


def check_circles(files):
    graph = circles.in_tree({p: read(p) for p in files}, read('tests/lint/deps.txt'))
    for line, text in circles.complaints(circles.circles(graph), read('tests/lint/circles.txt')):
        say('tests/lint/circles.txt', line, text)


def check_readers(files):
    product = {p: read(p) for p in files if not p.startswith('tests/')}
    lists = {p: read(p) for p in tracked('*CMakeLists.txt')}
    for path, text in readers.complaints(product) + readers.public_complaints(product, lists):
        say(path, 1, text)


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


def check_words(files):
    for path in files:
        for n, line in enumerate(read(path).splitlines(), 1):
            for pattern, why in WORDS.items():
                if re.search(pattern, line):
                    say(path, n, f'{why}: {line.strip()[:60]}')


def check_tests(code):
    """A test nobody runs is worse than none."""
    for path in (p for p in code if p.startswith('tests/unit/') and p.endswith('_test.c')):
        text = read(path)
        for m in re.finditer(r'^static void (\w+)\(void \*\*\w+\)', text, re.M):
            line = text.count('\n', 0, m.start()) + 1
            if len(re.findall(rf'\b{m[1]}\b', text)) < 2:
                say(path, line, f'{m[1]} is never run')
            elif '_' not in m[1].removeprefix('test_'):
                say(path, line, f'{m[1]}: a test is named after its claim')
    for kind, pattern, function in (('unit', '*_test.c', 'unit_tests'),
                                    ('fuzz', 'fuzz_*.c', 'fuzzers')):
        listed = re.findall(rf'^\s*{function}\((\S+) ', read(f'tests/{kind}/CMakeLists.txt'), re.M)
        for path in (p for p in code if fnmatch.fnmatch(p, f'tests/{kind}/**/{pattern}')
                     or fnmatch.fnmatch(p, f'tests/{kind}/{pattern}')):
            if os.path.relpath(folder_of(path), f'tests/{kind}') not in listed:
                say(path, 1, f'its folder is not in tests/{kind}/CMakeLists.txt: never built')
    check_corpora(code)


def check_waiting(code, scripts, texts):
    """A test that sleeps to find out, or passes when tried again, says nothing."""
    allowed = {}
    for line in read('tests/lint/sleeps.txt').splitlines():
        if line and not line.startswith('#'):
            path, _, why = line.partition(': ')
            allowed[path] = why
    sleepers = set()
    for path in code + scripts + texts:
        for n, line in enumerate(read(path).splitlines(), 1):
            if AGAIN.search(line):
                say(path, n, f'a test passes the first time: {line.strip()[:60]}')
            if path.startswith('tests/') and path not in texts and SLEEPS.search(line):
                sleepers.add(path)
                if path not in allowed:
                    say(path, n, 'sleeps: wait for the event, or say in tests/lint/sleeps.txt why')
    for path in sorted(allowed.keys() - sleepers):
        say('tests/lint/sleeps.txt', 1, f'{path} does not sleep')


def check_english(code, texts):
    """Returns how many phrases there are."""
    found = []
    for path in (p for p in code if not p.startswith('tests/')):
        text = read(path)
        for m in (m for m in TOKENS.finditer(text) if m[1]):
            said = re.sub(r'"\s*"', '', m[1])
            found += [(path, text.count('\n', 0, m.start()) + 1, phrase[0])
                      for phrase in ENGLISH.finditer(said)]
    for path in texts:
        text = read(path)
        found += [(path, text.count('\n', 0, m.start()) + 1, m[0])
                  for m in ENGLISH.finditer(text)]
    for path, line, phrase in found:
        if ENGLISH_IS_ERROR:
            say(path, line, f'say it plainly: "{phrase}"')
        elif '--english' in sys.argv:
            print(f'{path}:{line}: {phrase}')
    return len(found)


def check_corpora(code):
    fuzzers = {os.path.basename(p)[5:-2]: p for p in code
               if p.startswith('tests/fuzz/') and os.path.basename(p).startswith('fuzz_')}
    corpora = {os.path.basename(os.path.dirname(p)) for p in glob.glob('tests/fuzz/corpus/*/*')}
    for name in sorted(fuzzers.keys() - corpora):
        say(fuzzers[name], 1, f'tests/fuzz/corpus/{name} holds no seeds')
    for name in sorted(corpora - fuzzers.keys()):
        say(f'tests/fuzz/corpus/{name}', 1, f'there is no fuzz_{name}.c')


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
    sources = [p for p in files if p.endswith('.c')]
    r = subprocess.run(['ctags', '--fields=+ne', '--kinds-C=f', '-o', '-', '-L', '-'],
                       input='\n'.join(sources), capture_output=True, text=True, check=False)
    if r.returncode:
        sys.exit(f'lint: ctags: {r.stderr.strip()[-500:] or r.returncode}')
    out = r.stdout
    for line in out.splitlines():
        start, end = re.search(r'\tline:(\d+)', line), re.search(r'\tend:(\d+)', line)
        if not start or not end:
            continue
        name, path = line.split('\t')[:2]
        size = int(end[1]) - int(start[1]) + 1
        if size > FUNCTION_LINES:
            say(path, start[1],
                f'{name} has {size} lines, at most {FUNCTION_LINES}')


def check_shell(files):
    """What an initramfs runs once, on a machine that then does not boot."""
    for path in files:
        shell = 'bash' if read(path).startswith('#!/bin/bash') else shutil.which('dash') or 'sh'
        r = subprocess.run([shell, '-n', path], capture_output=True, text=True, check=False)
        if r.returncode:
            m = re.search(r'(?:line )?(\d+): (.*)', r.stderr)
            say(path, m[1] if m else 1, m[2] if m else f'does not parse in {shell}')


def check_headers(files):
    def compile_alone(path):
        r = subprocess.run(['gcc', '-std=gnu17', '-D_GNU_SOURCE', '-fsyntax-only', '-x', 'c',
                            '-I', ROOT, '-I', os.path.join(ROOT, 'tests/unit'),
                            '-I', os.path.join(ROOT, 'tests/bench'), '-'],
                           input=f'#include "{path}"\n', capture_output=True, text=True,
                           check=False)
        return path, r
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, r in pool.map(compile_alone, files):
            if r.returncode:
                say(path, 1, 'does not compile alone: ' + r.stderr.strip().splitlines()[0][:120])


def check_format(files):
    tool = shutil.which('clang-format')
    if not tool:
        sys.exit('lint: clang-format is missing (etc/deps.sh lint)')

    def complaints(part):
        return subprocess.run([tool, '--dry-run', *part], capture_output=True, text=True,
                              check=False).stderr
    cores = os.cpu_count()
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        seen = set()
        for text in pool.map(complaints, [files[i::cores] for i in range(cores)]):
            for m in re.finditer(r'^(\S+?):(\d+):\d+: warning:', text, re.M):
                if m[1] not in seen:
                    seen.add(m[1])
                    say(m[1], m[2], 'not formatted (clang-format -i)')


def main():
    is_quick = '--quick' in sys.argv
    os.chdir(ROOT)
    code = [p for p in tracked('*.c', '*.h') if '/corpus/' not in p]
    scripts = [p for p in tracked('*.sh', '*.py', '.ci/run') if '/corpus/' not in p]
    boot = tracked('boot/*.sh', 'boot/initramfs-tools/*')
    scripts = sorted(set(scripts + boot))
    texts = [p for p in tracked('*.md', '*.txt', '*.cmake', 'Makefile', 'etc/*', '.ci/*')
             if '/corpus/' not in p]
    check_includes(code)
    check_circles(code)
    check_readers(code)
    check_text(code + scripts)
    check_words(code + scripts + texts)
    check_tests(code)
    check_shell(boot)
    check_waiting(code, scripts + tracked('tests/lab/agent', 'tests/lab/init'), texts)
    phrases = check_english(code, tracked('README.md', 'docs/*.md', 'backstores/*.md',
                                          'manual/*.in'))
    if not is_quick:
        check_functions(code)
        check_headers([p for p in code if p.endswith('.h')])
        check_format(code)
    for line in findings:
        print(line)
    if not ENGLISH_IS_ERROR:
        print(f'lint: english: {phrases}')
    count = len(set(code + scripts + texts))
    print(f'lint: {count} files, {len(findings)} findings')
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
