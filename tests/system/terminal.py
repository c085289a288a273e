# SPDX-License-Identifier: BSD-2-Clause
"""The shell in a real terminal: completion, hints, history, resize, Ctrl-C, end of input, hidden
passwords, the way back, bookmarks, paste, and preferences."""

import os
import re
import signal
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import farblock
from farblock import Config, Failure, Farblockd, Scratch, Skip

try:
    import pexpect
except ImportError:
    pexpect = None

SECRET = "s3cret-of-the-terminal"
CLEAR_RIGHT = "\x1b[K"


class Terminal:
    """A shell in a terminal of 100 columns; what it says is compared without colours."""

    def __init__(self, daemon, scratch, columns=100, flags=(), **variables):
        env = {**os.environ, "XDG_STATE_HOME": scratch.file("state"), "TERM": "xterm",
               "XDG_CONFIG_HOME": scratch.file("config"), "LC_ALL": "C.UTF-8"}
        env.pop("NO_COLOR", None)
        env.update(variables)
        self.state = os.path.join(env["XDG_STATE_HOME"], "farblock")
        self.preferences = os.path.join(env["XDG_CONFIG_HOME"], "farblock", "preferences")
        self.shell = pexpect.spawn(farblock.program("farblock"),
                                   ["--socket", daemon.socket_path, *flags], env=env,
                                   encoding="utf-8", dimensions=(24, columns), timeout=60)

    def type(self, text):
        self.shell.send(text)

    def wait(self, text):
        """Returns what was said up to text."""
        try:
            self.shell.expect_exact(text)
        except (pexpect.TIMEOUT, pexpect.EOF):
            raise Failure(f"'{text}' did not come: {self.shell.before!r}") from None
        return self.shell.before

    def at(self, path):
        return self.wait(f"{path}> ")

    def run(self, line, path):
        """A line, and what it says until the prompt at path."""
        self.type(line + "\r")
        self.wait("\n")
        return self.at(path)

    def leave(self):
        self.type("\x04")
        self.shell.expect(pexpect.EOF)
        self.shell.close()
        if self.shell.exitstatus != 0:
            raise Failure(f"ended with {self.shell.exitstatus}, signal {self.shell.signalstatus}")

    def __enter__(self):
        self.greeting = self.wait("> ")
        if "For help on commands, type 'help'." not in self.greeting:
            raise Failure(f"the greeting does not mention help: {self.greeting!r}")
        return self

    def __exit__(self, *_):
        self.shell.close(force=True)


def completion(t):
    t.type("/backstores/ram\t")
    t.wait("disk/")
    t.type(" cr\t")
    t.wait("eate ")
    t.type("rd0 1M n\t")
    t.wait("ullio=")
    t.type("\t")
    t.wait("false")
    t.type("f\t")
    t.wait("alse ")
    t.type("\r")
    t.wait("Created ramdisk rd0")
    t.at("/")
    t.type("/iscsi create iqn.2025-01.org.example:t\r")
    t.wait("Created TPG 1.")
    t.at("/")
    t.type("/iscsi/iq\t")  # the next step is offered, and the one behind it
    t.wait("example:t/")
    t.type("t\t")
    t.wait("pg1/")
    t.type("l\t")
    t.wait("uns/")
    t.type(" create /b\t")
    t.wait("ackstores/ramdisk/rd0 ")
    t.type("\r")
    t.wait("Created LUN 0.")
    t.at("/")


def completion_of_keys_typed_ahead(t):
    t.type("/backstores/ramdisk create rd1 1M n\t\tf\t")
    t.wait("nullio=f")
    t.wait("alse ")
    t.type("\x03")
    t.at("/")


def completion_of_files(t, scratch):
    os.makedirs(scratch.file("folder"), exist_ok=True)
    path = scratch.file("folder/a file.img", content="")
    t.type(f"/backstores/fileio create f0 {os.path.dirname(path)}/a\t")
    t.wait("\\ file.img ")
    t.type("1M\x03")
    t.at("/")


def completion_of_addresses(t):
    t.type("/iscsi/iqn.2025-01.org.example:t/tpg1/portals create 127\t")
    t.wait(".0.0.1 ")
    t.type("\x03")
    t.at("/")


def completion_of_settings(t):
    t.type("/backstores/ramdisk/rd0 set att\t")
    t.wait("ribute ")
    t.type("block_s\t")
    t.wait("ize=")
    hint = t.wait(CLEAR_RIGHT) if t.type("\x01") is None else ""
    if "512..4096 bytes" not in hint:
        raise Failure(f"no hint of the range: {hint!r}")
    t.type("\x03")
    t.at("/")
    tpg = "/iscsi/iqn.2025-01.org.example:t/tpg1"
    for line, rest in ((f"{tpg} set parameter InitialR2T=Y\t", "es "),
                       (f"{tpg}/luns/lun0 set alua alua_tg_pt_gp_name=def\t", "ault_tg_pt_gp ")):
        t.type(line)
        t.wait(rest)
        t.type("\x03")
        t.at("/")


def hints(t):
    t.type("/backstores/ramdisk create ")
    t.wait("\x1b[2mname size [nullio")
    t.type("rd1")
    t.wait(CLEAR_RIGHT + "r")  # gone before the key is seen
    t.wait("\x1b[2m size [nullio")
    t.type("\x03")
    t.at("/")


def ctrl_c(t):
    t.type("/iscsi delete iqn")
    t.type("\x03")
    t.wait("^C")
    t.at("/")
    if "/" not in t.run("pwd", "/"):
        raise Failure("the line is still there")


def ctrl_c_ends_waiting(t, daemon):
    """A daemon that does not answer is no reason to lose the shell."""
    daemon.pause()
    t.type("ls\r")
    t.wait("\n")
    t.type("\x03")
    t.wait("interrupted")
    daemon.resume()
    t.at("/")
    if "iscsi" not in t.run("ls", "/"):
        raise Failure("the next request is not answered")


def ctrl_c_is_for_the_line_while_its_hint_is_asked_for(t, daemon):
    daemon.pause()
    t.type("/iscsi delete ")
    t.wait("/")  # the rest may come after the hint
    t.type("\x03")
    t.wait("^C")
    daemon.resume()
    t.at("/")


def ctrl_c_ends_top(t):
    t.type("top\r")
    t.wait("q quit")
    status = open(f"/proc/{t.shell.pid}/status", encoding="ascii").read()
    if int(status.split("SigBlk:")[1].split()[0], 16) & 1 << signal.SIGINT - 1:
        raise Failure("top does not hear Ctrl-C")
    t.type("\x03")
    t.wait("\x1b[?1049l")
    t.at("/")


def resize(t):
    t.run("ls", "/")
    t.shell.setwinsize(24, 60)
    said = t.run("ls", "/")
    lines = [len(line) for line in re.sub("\x1b\\[[0-9;]*m", "", said).split("\r\n")
             if line.lstrip("| ").startswith("o- ")]
    if not lines or lines[0] != 60:
        raise Failure(f"in 60 columns lines are {lines} wide")
    t.type("pw")
    t.shell.setwinsize(24, 100)
    t.wait("pw")  # redrawn
    t.type("d\r")
    t.wait("/\r\n")
    t.at("/")


def hidden_password(t):
    t.type("/iscsi set discovery_auth userid=joe password=-\r")
    t.wait("password: ")
    t.type(SECRET + "\r")
    said = t.at("/")
    if SECRET in said or "********" not in t.run("/iscsi get discovery_auth password", "/"):
        raise Failure(f"the password is shown, or is not set: {said!r}")
    t.type("/iscsi set discovery_auth password=-\r")
    t.wait("password: ")
    t.type("\x03")
    t.wait("nothing changed")
    t.at("/")
    t.type("echo-is-on")
    t.wait("echo-is-on")
    t.type("\x03")
    t.at("/")


def history(t):
    t.run(f"/iscsi set discovery_auth password={SECRET}", "/")
    t.type("\x1b[A")  # the line before it is what comes back
    t.wait("password=-")
    t.type("\x03")
    t.at("/")
    path = os.path.join(t.state, "history")
    with open(path, encoding="utf-8") as kept:
        lines = kept.read()
    if SECRET in lines or "/backstores/ramdisk/ create rd0" not in lines:
        raise Failure(f"the history is {lines!r}")
    if stat.S_IMODE(os.stat(path).st_mode) != 0o600:
        raise Failure("others may read the history")


def places(t):
    t.run("cd /iscsi", "/iscsi")
    t.run("backstores/..", "/iscsi")  # no such path; still here
    t.run("/backstores/ramdisk", "/backstores/ramdisk")
    if "Taking you back to /iscsi." not in t.run("cd <", "/iscsi"):
        raise Failure("the way back is not told")
    t.run("cd >", "/backstores/ramdisk")
    t.run("cd -", "/iscsi")
    t.run("cd -", "/backstores/ramdisk")
    t.run("cd ..", "/backstores")
    t.type("cd\r")  # the tree to choose from: two steps up
    t.wait("arrows: move")
    t.type("k")
    t.wait("arrows: move")
    t.type("\r")
    t.at("/")


def bookmarks(t):
    t.run("/backstores/ramdisk bookmarks add disks", "/")
    if "rd0" not in t.run("@disks ls", "/") or "rd0" not in t.run("ls @disks", "/"):
        raise Failure("a bookmark is not its path")
    t.run("cd @disks", "/backstores/ramdisk")
    t.run("cd /", "/")
    t.run("bookmarks go disks", "/backstores/ramdisk")
    t.run("cd /", "/")
    t.run("bookmarks del disks", "/")
    if "No such bookmark" not in t.run("@disks ls", "/"):
        raise Failure("a bookmark outlives its end")


def last_created(t):
    t.run("/backstores/ramdisk create made 1M", "/")
    if "Path: /backstores/ramdisk/made" not in t.run("@last status", "/").replace(
            "Status for ", "Path: "):
        raise Failure("@last is not what was created last")
    t.run("cd @last", "/backstores/ramdisk/made")
    t.run("cd /", "/")
    if "is reserved" not in t.run("bookmarks add last", "/"):
        raise Failure("@last can be something else")
    t.run("/backstores/ramdisk delete made", "/")


def open_transaction(t):
    t.run("begin", "/*")
    t.run("cd /backstores", "/backstores*")
    t.run("cd /", "/*")
    t.run("abort", "/")


def star(t):
    said = t.run("* status", "/")
    if "[/backstores]" not in said or "[/iscsi]" not in said:
        raise Failure(f"not every child is asked: {said!r}")


def carets_and_near_words(t):
    said = t.run("/backstores/ramdisk crate x 1M", "/")
    caret = [line for line in said.split("\r\n") if line.strip() == "^"]
    if caret != [" " * (len("/> ") + len("/backstores/ramdisk ")) + "^"] or "create?" not in said:
        raise Failure(f"the caret is elsewhere: {said!r}")


def paste(t):
    t.type("pwd\r/iscsi pwd\r\t/backstores pwd\r")
    t.wait("/iscsi\r\n")
    t.wait("/backstores\r\n")
    t.at("/")


def length_of_the_prompt(t):
    path = "/iscsi/iqn.2025-01.org.example:t/tpg1"
    t.run("cd " + path, "/iscsi/iqn.20...xample:t/tpg1")
    t.run("set global prompt_length=20", "/iscsi/i...e:t/tpg1")
    t.run("set global prompt_length=0", path)
    t.run("set global prompt_length=30", "/iscsi/iqn.20...xample:t/tpg1")
    t.run("cd /", "/")


def going_to_what_was_created(t):
    t.run("set global auto_cd_after_create=true", "/")
    said = t.run("/backstores/ramdisk create here 1M", "/backstores/ramdisk/here")
    if "Entering new node /backstores/ramdisk/here" not in said:
        raise Failure(f"it is not told where we go: {said!r}")
    t.run("cd -", "/")
    t.run("set global auto_cd_after_create=false", "/")
    t.run("/backstores/ramdisk create there 1M", "/")


def colors(t, daemon, scratch):
    if "\x1b[" not in t.run("ls", "/"):
        raise Failure("there are no colours to begin with")
    t.run("set global color_mode=false", "/")
    if "\x1b[" in t.run("ls", "/"):
        raise Failure("color_mode=false leaves colours")
    with Terminal(daemon, scratch, flags=["--color", "always"]) as other:
        if "\x1b[" not in other.run("ls", "/"):
            raise Failure("--color is not stronger than color_mode")
    t.run("set global color_mode=true", "/")
    if "\x1b[" not in t.run("ls", "/"):
        raise Failure("color_mode=true brings no colours back")
    with Terminal(daemon, scratch, NO_COLOR="1") as other:
        if "\x1b[" in other.run("ls", "/"):
            raise Failure("NO_COLOR is not stronger than color_mode")


def colors_of_completions(t):
    t.run("set global color_path=red color_keyword=green color_parameter=blue", "/")
    t.type("cd /\t")
    t.wait("\x1b[31mbackstores/\x1b[0m")
    t.type("\x03")
    t.at("/")
    t.type("/backstores/ramdisk create r 1M nullio=\t")
    t.wait("\x1b[34mtrue\x1b[0m")
    t.type("\x03")
    t.at("/")
    t.type("set global tree_\t")
    t.wait("\x1b[32mtree_max_depth=\x1b[0m")
    t.type("\x03")
    t.at("/")


def completions_in_columns(t):
    """More than 24 commands there are, and only in lines of their own have they notes."""
    note = "Show the current path."
    for value, has_notes in (("true", False), ("false", True)):
        t.run(f"set global completions_in_columns={value}", "/")
        t.type("help \t")
        # The terminal's echo may come before the editor's: what follows "pwd" is of the list.
        said = t.wait("pwd")
        said += t.wait("help ")
        t.type("\x03")
        t.at("/")
        if (note in said) != has_notes:
            raise Failure(f"completions_in_columns={value}: {said!r}")


def preferences_of_both(t):
    """The daemon's and the shell's stand in one listing, and go where they belong."""
    t.type("set global max_b\t")
    t.wait("ackup_files=")
    t.type("5 prompt_l\t")
    t.wait("ength=")
    t.type("40\r")
    t.wait("Parameter max_backup_files is now '5'.")
    t.wait("Parameter prompt_length is now '40'.")
    t.at("/")
    said = t.run("get global", "/")
    for line in ("auto_enable_tpgt=true", "max_backup_files=5", "prompt_length=40"):
        if line + "\r\n" not in said:
            raise Failure(f"get global does not tell {line}: {said!r}")
    with open(t.preferences, encoding="ascii") as kept:
        lines = kept.read()
    if "max_backup_files" in lines or "prompt_length=40\n" not in lines:
        raise Failure(f"the preferences are {lines!r}")
    if stat.S_IMODE(os.stat(t.preferences).st_mode) != 0o600:
        raise Failure("others may read the preferences")


def wrong_preferences(daemon, scratch):
    """One line at the start says what is wrong, and the rest holds."""
    with Terminal(daemon, scratch) as t:
        t.leave()
    with open(t.preferences, "a", encoding="ascii") as file:
        file.write("prompt_lenght=3\nauto_cd_after_create=perhaps\n")
    with Terminal(daemon, scratch) as t:
        with open(t.preferences, encoding="ascii") as file:
            number = file.read().split("\n").index("prompt_lenght=3") + 1
        warning = f"farblock: {t.preferences}:{number}: Unknown parameter prompt_lenght"
        if t.greeting.count("farblock: ") != 1 or not t.greeting.startswith(warning):
            raise Failure(f"the warning is {t.greeting!r}")
        if "prompt_length=40" not in t.run("get global prompt_length", "/"):
            raise Failure("what is right in the file does not hold")
        t.leave()
    os.unlink(t.preferences)


def where_the_last_shell_was(daemon, scratch):
    with Terminal(daemon, scratch) as t:
        t.run("/backstores/ramdisk create gone 1M", "/")
        t.run("cd /backstores/ramdisk/gone", "/backstores/ramdisk/gone")
        t.leave()
    farblock.run(["farblock", "--socket", daemon.socket_path, "/backstores/ramdisk", "delete",
                  "gone"])
    with Terminal(daemon, scratch) as t:  # what it was in is still there
        if not t.greeting.endswith("/backstores/ramdisk"):
            raise Failure(f"begins at {t.greeting!r}")
        t.run("cd /iscsi", "/iscsi")
        t.run("cd /srpt", "/srpt")
        t.run("cd <", "/iscsi")
        t.leave()
    with Terminal(daemon, scratch) as t:
        if not t.greeting.endswith("/iscsi"):
            raise Failure(f"begins at {t.greeting!r}, not where the way back led")
        t.run("cd /", "/")
        t.leave()


def end_of_input(daemon, scratch):
    with Terminal(daemon, scratch) as t:
        t.run("cd /iscsi", "/iscsi")
        t.leave()
    with Terminal(daemon, scratch) as t:  # where we were, and what was typed there
        t.type("\x1b[A")
        t.wait("cd /iscsi")
        t.type("\x03")
        t.at("/iscsi")
        t.leave()


def main():
    if pexpect is None:
        raise Skip("python3-pexpect is not installed")
    with Scratch() as scratch, Farblockd(scratch, Config()) as daemon:
        with Terminal(daemon, scratch) as t:
            completion(t)
            completion_of_keys_typed_ahead(t)
            completion_of_files(t, scratch)
            completion_of_addresses(t)
            completion_of_settings(t)
            hints(t)
            ctrl_c(t)
            ctrl_c_ends_waiting(t, daemon)
            ctrl_c_is_for_the_line_while_its_hint_is_asked_for(t, daemon)
            ctrl_c_ends_top(t)
            resize(t)
            hidden_password(t)
            history(t)
            places(t)
            bookmarks(t)
            last_created(t)
            open_transaction(t)
            star(t)
            carets_and_near_words(t)
            paste(t)
            length_of_the_prompt(t)
            going_to_what_was_created(t)
            colors(t, daemon, scratch)
            colors_of_completions(t)
            completions_in_columns(t)
            preferences_of_both(t)
            t.leave()
        wrong_preferences(daemon, scratch)
        where_the_last_shell_was(daemon, scratch)
        end_of_input(daemon, scratch)
    return 0


farblock.main(main)
