#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Manual pages without a complaint of mandoc, which tell of every flag that the programs' help
tells of; completion that bash, zsh and fish take, tried in each."""

import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402

try:
    import pexpect
except ImportError:
    pexpect = None

SHARE = os.path.join(farblock.BUILD, "manual/share")
PAGES = ("farblockd", "farblock")
VERBS = ("discover", "ping", "login-test", "inquiry", "luns", "read", "write", "verify",
         "checksum", "bench", "attach", "detach", "attached", "login", "logout", "sessions",
         "boot", "capacity", "unmap", "reserve", "boot-check", "copy")


def pages():
    for page in sorted(glob.glob(f"{SHARE}/man/man*/*")):
        told = farblock.run(["mandoc", "-T", "lint", "-W", "warning", page], check=False).stdout
        if told:
            raise farblock.Failure(told)
        print(os.path.basename(page), "is well-formed")


def text_of(name):
    page = farblock.run(["mandoc", "-T", "ascii", "-O", "width=500",
                         f"{SHARE}/man/man8/{name}.8"]).stdout
    return re.sub(".\b", "", page)


def flags():
    for name in PAGES:
        page = text_of(name)
        told = farblock.run([name, "--help"]).stdout
        for flag in re.findall(r"(?<=  )--[a-z-]+", told):
            if flag not in page:
                raise farblock.Failure(f"{name}(8) does not tell of {flag}")
        print(f"{name}(8) has every flag")


def commands_once():
    """No command of every node hides behind one of the shell's: what is told is what is taken."""
    page = farblock.run(["mandoc", "-T", "ascii", "-O", "width=500",
                         f"{SHARE}/man/man8/farblock.8"]).stdout
    page = re.sub(".\b", "", page)
    shell, nodes = (
        set(re.findall(r"^ {5}([a-z]+)(?= |$)", page.split(title)[1].split("\nCOMMANDS")[0], re.M))
        for title in ("COMMANDS OF THE SHELL\n", "COMMANDS OF EVERY NODE\n"))
    if not {"ls", "doctor"} <= shell or "set" not in nodes or shell & nodes:
        raise farblock.Failure(f"the shell's {shell}, every node's {nodes}")
    print("farblock(8) tells of each command once")


def exit_statuses():
    """--help, farblock(8), docs/targetcli.md and explain name them alike."""
    told = " ".join(farblock.run(["farblock", "--help"]).stdout.split())
    told = told[told.index("exit status: ") + len("exit status: "):]
    page = " ".join(text_of("farblock").split())
    if f"EXIT STATUS {told}." not in page:
        raise farblock.Failure(f"farblock(8) does not have '{told}'")
    with open(os.path.join(farblock.SOURCE, "docs/targetcli.md"), encoding="utf-8") as doc:
        if told[told.index("1 "):] not in doc.read():
            raise farblock.Failure(f"docs/targetcli.md does not have '{told}'")
    print("the exit statuses have one name each")


def initiator_options():
    """What the help of each subcommand lists is what farblock-initiator(8) says of it: letter,
    name, value, text, and the subcommands that have it, or that it is one of the session; and the
    page has no other option but --version."""
    page, listed = text_of("farblock-initiator"), {}
    page = page[page.index("\nOPTIONS"):page.index("\nENVIRONMENT")]
    said, of_session = (" ".join(part.split()) for part in page.split("\nOPTIONS OF THE SESSION\n"))
    if not re.search("-+version", said):
        raise farblock.Failure("farblock-initiator(8) does not say --version")
    for verb in VERBS:
        told = farblock.run(["farblock-initiator", verb, "--help"]).stdout
        own, _, session = told.split("Options:\n")[1].partition("Options of the session:\n")
        for rows, place in ((own, said), (session, of_session)):
            for line in (row for row in rows.splitlines() if row.startswith("  ")):
                listed.setdefault((" ".join(line.split()), place), []).append(verb)
    for (option, place), verbs in listed.items():
        of = f" Commands: {', '.join(verbs)}."
        if place is of_session:
            of = ""
            if f"{', '.join(verbs)}. -" not in of_session:
                raise farblock.Failure(f"farblock-initiator(8) does not say that {verbs} log in")
        elif verbs == list(VERBS):
            of = ""
        if option + of not in place:
            raise farblock.Failure(f"farblock-initiator(8) does not say '{option}{of}'")
    entries = re.findall(r"^ {5}-.*", page, re.M)
    if len(entries) != len(listed) + 1:
        raise farblock.Failure(f"farblock-initiator(8) has {entries}, not {list(listed)}")
    print(f"farblock-initiator(8) has the {len(listed)} options of its help")


def bash(name, words):
    """What bash offers for the last one of the words."""
    script = (f"source {SHARE}/bash-completion/completions/{name}; compopt() {{ :; }}; "
              f"COMP_WORDS=({name} {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
              f"_{name.replace('-', '_')}; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    return farblock.run(["bash", "-c", script]).stdout.split()


def fish(name, line):
    script = f"source {SHARE}/fish/vendor_completions.d/{name}.fish; complete -C '{line}'"
    return [offer.split("\t")[0] for offer in
            farblock.run(["fish", "--no-config", "-c", script]).stdout.splitlines()]


def zsh(scratch):
    """Its completion needs a terminal and a line being typed."""
    if pexpect is None:
        raise farblock.Skip("python3-pexpect is not installed")
    lines = {"farblock-initiator ver": "verify", "farblock-initiator luns --chap-u": "--chap-user=",
             "farblock-initiator read --outp": "--output=", "farblock --js": "--json"}
    shell = pexpect.spawn(farblock.program("zsh"), ["-f", "-i"], encoding="utf-8", timeout=60,
                          env={**os.environ, "TERM": "dumb", "HOME": scratch.path},
                          dimensions=(24, 200))
    shell.sendline(f"PS1=; fpath=({SHARE}/zsh/site-functions $fpath); autoload -U compinit; "
                   f"compinit -u -D; path=({farblock.BUILD} $path); print rea''dy")
    shell.expect("\nready")
    for line, wanted in lines.items():
        shell.send(line + "\t")
        shell.expect_exact(wanted)
        shell.send("\x15")
    shell.close(force=True)
    print(len(lines), "lines completed in zsh")


def bash_live(daemon, line):
    """What bash offers at the end of a line for farblock, asked of the daemon. Bash splits words
    at colons and equals signs, too."""
    words = [word for word in re.split("([ :=])", line) if word.strip()]
    script = (f"source {SHARE}/bash-completion/completions/farblock; compopt() {{ :; }}; "
              f"PATH={farblock.BUILD}:$PATH; COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; "
              f"COMP_WORDS=({' '.join(words)}); "
              "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _farblock; printf '%s\\n' \"${COMPREPLY[@]}\"")
    return farblock.run(["bash", "-c", script],
                        env={**os.environ, "FARBLOCK_SOCKET": daemon.socket_path}).stdout.split()


def asked_of_the_daemon(scratch):
    config = farblock.Config()
    target = config.target([config.ramdisk("rd", 16 << 20)])
    with farblock.Farblockd(scratch, config) as daemon:
        lines = {
            "farblock /backstores/ramdisk cr": ["create"],
            "farblock --json ls /backstores/ramdisk/r": ["/backstores/ramdisk/rd/"],
            # Bash has split it at the colon, and puts in what comes behind that.
            f"farblock /iscsi/{target.iqn[:-1]}": [target.iqn.split(":")[1] + "/"],
            "farblock --js": ["--json"],
        }
        for line, wanted in lines.items():
            offered = bash_live(daemon, line)
            if offered != wanted:
                raise farblock.Failure(f"{line}: offers {offered}, not {wanted}")
        print(len(lines), "lines of farblock completed by the daemon's tree")


def completion():
    offers = {
        "bash farblockd --log": (bash("farblockd", "--log"), ["--log-level"]),
        "bash farblockd --log-level w": (bash("farblockd", "--log-level w"), ["warn"]),
        "bash farblock-initiator ver": (bash("farblock-initiator", "ver"), ["verify"]),
        "bash verify --pat": (bash("farblock-initiator", "verify --pat"), ["--pattern"]),
        "bash luns --pat": (bash("farblock-initiator", "luns --pat"), []),
        "bash attach --via u": (bash("farblock-initiator", "attach --via u"), ["ublk"]),
        "bash attach --policy s": (bash("farblock-initiator", "attach --policy s"),
                                   ["service-time"]),
        "bash copy is": (bash("farblock-initiator", "copy is"), ["iscsi://", "iser://"]),
        "bash reserve u pre": (bash("farblock-initiator", "reserve u pre"),
                               ["preempt", "preempt-abort"]),
        "bash help uni": (bash("farblock-initiator", "help unm"), ["unmap"]),
        "fish copy --way m": (fish("farblock-initiator", "farblock-initiator copy --way m"),
                              ["memory"]),
        "fish farblockd --sp": (fish("farblockd", "farblockd --sp"), ["--spin"]),
        "fish ver": (fish("farblock-initiator", "farblock-initiator ver"), ["verify"]),
    }
    for line, (offered, wanted) in offers.items():
        if offered != wanted:
            raise farblock.Failure(f"{line}: offers {offered}, not {wanted}")
    for file in glob.glob(f"{SHARE}/zsh/site-functions/*"):
        farblock.run(["zsh", "-n", file])
    print(len(offers), "lines completed; zsh takes its files")


def main():
    pages()
    flags()
    commands_once()
    exit_statuses()
    initiator_options()
    completion()
    with farblock.Scratch() as scratch:
        zsh(scratch)
        asked_of_the_daemon(scratch)
    return 0


if __name__ == "__main__":
    farblock.main(main)
