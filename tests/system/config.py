#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""farblockd and farblock as an administrator meets them: flags, files, the socket, the shell.

    config.py
"""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import farblock  # noqa: E402
from farblock import Shell, check  # noqa: E402

IQN = "iqn.2025-01.org.farblock.test:config"
OTHER_USER = 65534


def call(command, status, text="", **options):
    """Runs one of our programs; exit status and part of its output are as given."""
    done = farblock.run(command, check=False, timeout=30, **options)
    what = f"{' '.join(command)}: exit status {done.returncode}: {done.stdout.strip()}"
    check(done.returncode == status, f"{what} (not {status})")
    check(text in done.stdout, f"{what} (without {text!r})")
    return done.stdout


class Daemon(farblock.Farblockd):
    """A daemon whose saved file the test writes itself, or leaves out."""

    def __init__(self, scratch, name, saved=None):
        super().__init__(scratch, farblock.Config(), name)
        if saved is None:
            os.unlink(self.config_path)
        else:
            with open(self.config_path, "w", encoding="utf-8") as out:
                out.write(saved)

    def flags(self):
        return ["farblockd", "--config", self.config_path, "--state-dir", self.state_path,
                "--socket", self.socket_path, "--metrics", "off", "--workers", "1"]

    def saved(self):
        with open(self.config_path, encoding="utf-8") as text:
            return json.load(text)


def wrong_flags(scratch):
    for flags, text in [(["--nosuch"], "unknown option: --nosuch"),
                        (["--workers", "none"], "--workers: invalid value 'none'"),
                        (["--workers"], "value missing"),
                        (["--cpus", "9-1"], "invalid list"),
                        (["--metrics", "foo"], "--metrics: "),
                        (["--log-level", "loud"], "error, warn, info, debug"),
                        (["stray"], "unexpected argument")]:
        out = call(["farblockd", *flags], 2, text)
        check(out.count("\n") == 1, f"{flags}: more than one line: {out}")
    call(["farblockd", "--version"], 0, "farblockd ")
    call(["farblockd", "--help"], 0, "--state-dir DIR")
    call(["farblock", "--nosuch"], 2, "unknown option")
    call(["farblock", "--socket", scratch.file("none.sock"), "ls"], 7, "cannot connect")


def wrong_places(scratch):
    daemon = Daemon(scratch, "places")
    occupied = scratch.file("occupied", content="x")
    flags = daemon.flags()
    flags[flags.index("--state-dir") + 1] = occupied
    call(flags, 1, "not a directory")
    call([*daemon.flags(), "--cpus", "999"], 1, "--cpus: no CPU 999 available to this process")
    flags = daemon.flags()
    flags[flags.index("--socket") + 1] = occupied
    call(flags, 1, "is not a socket")
    flags = daemon.flags()
    flags[flags.index("--socket") + 1] = occupied + "/folder/s.sock"
    call(flags, 1, "not a directory")
    flags = daemon.flags()
    flags[flags.index("--config") + 1] = occupied + "/saveconfig.json"
    call(flags, 1, "not a directory")
    flags = daemon.flags()
    flags[flags.index("--config") + 1] = scratch.path
    call(flags, 1, "not a regular file")
    with open(occupied, encoding="utf-8") as text:
        check(text.read() == "x", "a file in the way was changed")


def missing_folders(scratch):
    """Missing directories of the three paths are created, unreadable for others."""
    daemon = Daemon(scratch, "folders")
    daemon.config_path = scratch.file("a/b/saveconfig.json")
    daemon.state_path = scratch.file("a/c/state")
    daemon.socket_path = scratch.file("a/d/control.sock")
    with daemon:
        Shell(daemon)("/backstores/null", "create", "n0", "1M", text="Created")
        check(os.path.exists(daemon.config_path), "nothing was saved")
        for folder in ("a/b", "a/c", "a/c/state"):
            mode = stat.S_IMODE(os.stat(scratch.file(folder)).st_mode)
            check(mode == 0o700, f"{folder} is made with {mode:o}")


def damaged_files(scratch):
    """Told by line and column, kept aside, untouched, and nothing runs."""
    for number, saved in enumerate(["", '{\n "targets": [\n', '{"storage_objects": 7}',
                                    '{\n  "targets": [],\n  "x": nonsense\n}']):
        daemon = Daemon(scratch, f"damaged{number}", saved)
        name = os.path.basename(daemon.config_path)
        for _ in range(2):
            out = call(daemon.flags(), 1, f"kept as {name}.damaged-")
            check(out.count("error") == 1, f"more than one line of error: {out}")
        with open(daemon.config_path, encoding="utf-8") as text:
            check(text.read() == saved, "the damaged file was changed")
        kept = [f for f in os.listdir(scratch.path) if f.startswith(name + ".damaged-")]
        check(len(kept) == 1, f"kept aside as {kept}")
    out = call(Daemon(scratch, "place", '{\n  "a": [1,\n  }\n').flags(), 1, "line 3, column 3")


def twin_serials(scratch):
    """Two disks that initiators would take for one are told; the shell makes none."""
    disks = [{"plugin": "ramdisk", "name": name, "size": 1 << 20,
              "wwn": "5b0c3f0e-7c21-4f63-9a0d-2d7e41f0a911"} for name in ("one", "two")]
    with Daemon(scratch, "twins", json.dumps({"storage_objects": disks})) as daemon:
        check("two: unit serial 5b0c3f0e-7c21-4f63-9a0d-2d7e41f0a911 is also used by one" in
               daemon.log(), "two disks with one serial are not told")
        Shell(daemon)("/backstores/ramdisk", "create", "three", "1M", f"wwn={disks[0]['wwn']}",
                      status=4, text="is used by storage object ramdisk/one")


def second_daemon(scratch):
    with Daemon(scratch, "first") as first:
        call(first.flags(), 1, "another farblockd")
        # Each of the three places alone is enough.
        for taken in ("--config", "--state-dir", "--socket"):
            flags = Daemon(scratch, "second").flags()
            flags[flags.index(taken) + 1] = first.flags()[first.flags().index(taken) + 1]
            call(flags, 1, f"use {taken}")
        Shell(first)("version", text="farblock version")
        first.kill()
        check(os.path.exists(first.socket_path), "kill -9 leaves no socket")
        first.start()
        Shell(first)("version", text="farblock version")
        check(first.stop() == 0, "exit status after SIGTERM")
        check(not os.path.exists(first.socket_path), "the socket is still there")


def shell_statuses(scratch):
    with Daemon(scratch, "shell") as daemon:
        mode = stat.S_IMODE(os.stat(daemon.socket_path).st_mode)
        check(mode == 0o600, f"socket mode {mode:o}")
        shell = Shell(daemon)
        port = farblock.free_port()
        tpg = f"/iscsi/{IQN}/tpg1"
        shell("/backstores/ramdisk", "create", "rd0", "16M", text="Created ramdisk rd0")
        shell("/backstores/ramdisk", "create", "rd0", "16M", status=4, text="already exists")
        shell("/backstores/ramdisk", "create", "rd1", status=2, text="Missing required parameter")
        shell("/backstores/ramdisk", "create", "rd1", "x", status=8)
        shell("/backstores/ramdisk", "delete", "rd1", status=3)
        shell("/no/such", "ls", status=3, text="No such path")
        shell("frobnicate", status=2, text="Command not found")
        shell("/iscsi", "create", IQN, text=f"Created target {IQN}.")
        shell(f"{tpg}/portals", "delete", "0.0.0.0", "3260")
        shell(f"{tpg}/portals", "create", "127.0.0.1", str(port))
        shell(f"{tpg}/luns", "create", "/backstores/ramdisk/rd0", text="Created LUN 0.")
        shell("/backstores/ramdisk/rd0", "set", "attribute", "block_size=4096", status=5)
        shell(tpg, "set", "attribute", "authentication=0", "generate_node_acls=1")
        shell(tpg, "set", "auth", "userid=u", "password=with 'both' \"quotes\"")
        check("quotes" not in shell(tpg, "get", "auth"), "a password is shown")
        password = daemon.saved()["targets"][0]["tpgs"][0]["chap_password"]
        check(password == "with 'both' \"quotes\"", f"the password became {password}")
        out = farblock.run(["iscsi-ls", "-s", f"iscsi://127.0.0.1:{port}"]).stdout
        check("Lun:0" in out, f"iscsi-ls: {out}")
        widths = {len(line) for line in shell("ls").splitlines()}
        check(widths == {132}, f"lines of ls are {widths} wide")
        check(json.loads(shell("--json", "ls", "/", "1"))["name"] == "/", "ls --json")
        os.environ["XDG_STATE_HOME"] = scratch.file("home")  # for bookmarks
        for words, key in ((["cd", "/iscsi"], "path"), (["/iscsi"], "path"), (["pwd"], "path"),
                           (["bookmarks", "add", "b"], "messages"), (["@b"], "path"),
                           (["bookmarks", "del", "b"], "messages")):
            check(key in json.loads(shell("--json", *words)), f"--json {words}")
        out = shell("--json", "begin", status=1)
        told = json.loads(out[json.JSONDecoder().raw_decode(out)[1]:])
        check("without commit" in told["error"]["text"], told)
        shell("sessions", text="(no open sessions)")
        for words in (["saveconfig", "here.json"], ["restoreconfig", "here.json", "true"]):
            call(["farblock", "--socket", daemon.socket_path, *words], 0,
                 scratch.file("here.json"), cwd=scratch.path)
        log = daemon.log()
        check(f"uid {os.getuid()}, process " in log and f": {tpg} set auth userid password\n" in log
               and "quotes" not in log, f"the log tells of changes: {log}")
        batch(scratch, shell)


def batch(scratch, shell):
    """Stops at the first error and names its line; what came before it stays."""
    text = "# made by a test\ncd /backstores/ramdisk\ncreate b0 1M\n\ncreate b0 1M\ncreate b1 1M\n"
    path = scratch.file("batch", content=text)
    shell("-c", path, status=4, text=f"{path}:5: ")
    shell("/backstores/ramdisk/b0", "status")
    shell("/backstores/ramdisk/b1", "status", status=3)
    path = scratch.file("twice", content="/backstores/null create n0 1M\n" * 2)
    out = shell("-c", path, status=4, text=f"{path}:2: ")
    check(out.startswith("Created null n0"), f"the error stands before the answers: {out}")
    command = [farblock.program("farblock"), "--socket", shell.daemon.socket_path]
    done = subprocess.run(command, input="/backstores/ramdisk delete b0\npwd\n'open\n",
                          text=True, capture_output=True, timeout=30, check=False)
    check(done.returncode == 2 and "stdin:3: " in done.stderr, f"batch on stdin: {done}")


def batch_in_a_transaction(scratch):
    """begin and commit make a batch all or nothing; without them the lines before an error stay."""
    lines = "/backstores/ramdisk create t0 1M\n/backstores/ramdisk create t0 1M\n"
    with Daemon(scratch, "whole") as daemon:
        shell = Shell(daemon)
        shell("-c", scratch.file("whole", content=f"begin\n{lines}commit\n"), status=4)
        shell("/backstores/ramdisk/t0", "status", status=3)
        check(not os.path.exists(daemon.config_path), "something of the batch was saved")
        shell("-c", scratch.file("half", content=lines), status=4)
        check([s["name"] for s in daemon.saved()["storage_objects"]] == ["t0"], "half is not saved")


def malformed_lines(scratch):
    """What is no UTF-8 is refused before the daemon hears of it, and told with its column; what a
    terminal would obey is not shown to it again."""
    def refused(words, **options):
        done = subprocess.run([farblock.program("farblock"), "--socket", "/nonexistent/s", *words],
                              capture_output=True, timeout=30, check=False, **options)
        check(done.returncode == 2, f"{words}: {done}")
        return done.stderr.decode()
    caret = "  create \u00e9\u00e9 ?\n            ^\n"
    for words, text in (([b"create \xc3\xa9\xc3\xa9 \xff"], None),
                        ([b"create", b"\xc3\xa9\xc3\xa9", b"\xff"], None),
                        ([], b"\ncreate \xc3\xa9\xc3\xa9 \xff\n")):
        said = refused(words, input=text)
        check(said.endswith(caret) and "not UTF-8" in said, f"{words}: {said!r}")
    said = refused([], input=b"create \x1b[2J\xc2\x9b2J\t\xff\n")
    check(said.endswith("  create ?[2J??2J ?\n                  ^\n"), f"shown again: {said!r}")
    error = json.loads(refused(["--json", b"create", b"\xff"]))["error"]
    check(error["column"] == 8 and error["status"] == 2, f"as JSON: {error}")
    with Daemon(scratch, "malformed") as daemon:
        done = subprocess.run([farblock.program("farblock"), "--socket", daemon.socket_path, "/iscsi",
                               "set", "discovery_auth", "password=-"], input=b"\xff\n", timeout=30,
                              capture_output=True, check=False)
        check(done.returncode == 8 and done.stderr.startswith(b"password: not UTF-8"), f"{done}")


def wrong_flags_as_json(scratch):
    """--json is for every error, also where it never comes to a command."""
    for words, status in ((["--bogus"], 2), (["--revision", "abc", "ls"], 2),
                          (["-c", "/nonexistent/batch"], 3)):
        done = subprocess.run([farblock.program("farblock"), "--json", *words], timeout=30,
                              capture_output=True, check=False)
        try:
            told = json.loads(done.stderr)["error"]
        except ValueError:
            told = {}
        check(done.returncode == told.get("status") == status, f"{words}: {done}")


def long_batch(scratch):
    """A thousand lines are a few saves, and what was answered survives kill -9."""
    with Daemon(scratch, "long") as daemon:
        shell = Shell(daemon)
        shell("/iscsi", "create", IQN)
        before = daemon.saved()["farblock"]["generation"]
        lines = ["cd /backstores/ramdisk"] + [f"create r{i} 64k" for i in range(1000)]
        lines += [f"cd /iscsi/{IQN}/tpg1/luns"] + [f"create ramdisk/r{i}" for i in range(1000)]
        lines += ["delete lun999", "create ramdisk/r999 1000", "/backstores/ramdisk create r0 1M"]
        path = scratch.file("long", content="\n".join(lines) + "\n")
        out = shell("-c", path, status=4, text=f"{path}:{len(lines)}: ")
        daemon.kill()
        check(out.count("Created LUN ") == 1001, f"{out.count('Created LUN')} LUNs are answered")
        saves = daemon.saved()["farblock"]["generation"] - before
        check(saves <= 20, f"{len(lines)} lines are saved {saves} times")
        daemon.start()
        shell("/backstores/ramdisk", "status", text="Storage Objects: 1000")
        shell(f"/iscsi/{IQN}/tpg1/luns", "status", text="LUNs: 1000")
        shell(f"/iscsi/{IQN}/tpg1/luns/lun1000", "status", text="ramdisk/r999")


def line_by_line(scratch):
    """A writer that waits for the answer to a line before writing the next gets it."""
    with Daemon(scratch, "lines") as daemon:
        shell = subprocess.Popen([farblock.program("farblock"), "--socket", daemon.socket_path],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for number in range(3):
            shell.stdin.write(f"/backstores/ramdisk create r{number} 1M\n")
            shell.stdin.flush()
            line = shell.stdout.readline()
            check(line.startswith(f"Created ramdisk r{number} "), f"answered {line!r}")
        shell.stdin.write("pwd")
        out, _ = shell.communicate(timeout=30)
        check(shell.returncode == 0 and out == "/\n", f"ended {shell.returncode} after {out!r}")


def recoverable_errors(scratch):
    """What can be restored is, what cannot is told, and the status is 1, as targetcli's."""
    with Daemon(scratch, "recoverable") as daemon:
        shell = Shell(daemon)
        disk = {"plugin": "ramdisk", "name": "rd0", "size": 1 << 20}
        path = scratch.file("other.json", content=json.dumps(
            {"storage_objects": [disk, {"plugin": "ramdisk"}, {"name": "rd2"}]}))
        out = shell("restoreconfig", path, status=1,
                    text="Configuration restored, 2 recoverable errors:")
        check("'plugin' or missing 'name'" in out, f"the errors are not told: {out}")
        shell("/backstores/ramdisk/rd0", "status", text="(1.0MiB)")
        answer, _ = json.JSONDecoder().raw_decode(farblock.run(
            ["farblock", "--socket", daemon.socket_path, "--json", "restoreconfig", path],
            check=False).stdout)
        check(answer["recoverable_errors"] == 3, f"as JSON: {answer}")
        lines = scratch.file("lines", content=f"restoreconfig {path}\n"
                             "/backstores/ramdisk create rd3 1M\n")
        shell("-c", lines, status=1, text=f"{lines}:1: restoreconfig: 3 recoverable errors")
        shell("/backstores/ramdisk/rd3", "status", status=3)
        shell("saveconfig", scratch.file("whole.json"))
        shell("restoreconfig", scratch.file("whole.json"), "clear_existing=true", status=1)
        whole = scratch.file("good.json", content=json.dumps({"storage_objects": [disk]}))
        shell("restoreconfig", whole, "clear_existing=true", text="Configuration restored from")


def restored_again(scratch):
    """Replacing a configuration by itself changes nothing: files are served again, and what is
    kept for others is there once."""
    with Daemon(scratch, "again") as daemon:
        shell = Shell(daemon)
        path, whole = scratch.file("again.img"), scratch.file("whole.json")
        foreign = {"fabric_modules": [{"name": "srpt", "x": 1}], "others": {"list": [1]},
                   "targets": [{"fabric": "srpt", "wwn": "x", "tpgs": []}]}
        shell("restoreconfig", scratch.file("foreign.json", content=json.dumps(foreign)), status=1)
        shell("saveconfig", whole)
        sizes = []
        for options in ((), ("clear_existing=true",), ()):
            shell("restoreconfig", whole, *options, status=1)
            sizes.append(len(json.dumps(daemon.saved()["fabric_modules"])))
        check(len(set(sizes)) == 1, f"what is kept for others grows: {sizes}")
        shell("clearconfig", "confirm=true")
        saved = daemon.saved()
        check(not saved["fabric_modules"] and "others" not in saved,
               f"clearconfig leaves {saved} in the saved file")
        shell("/backstores/fileio", "create", "f0", path, "1M")
        shell("saveconfig", whole)
        shell("restoreconfig", whole, "clear_existing=true", text="Configuration restored from")
        shell("/backstores/fileio/f0", "status", text="deactivated")


def what_is_no_file(scratch):
    """A device, a socket or a folder is not replaced by what is saved."""
    with Daemon(scratch, "nofile") as daemon:
        shell = Shell(daemon)
        shell("/backstores/null", "create", "n0", "1M")
        shell("saveconfig", daemon.socket_path, status=8, text="not a regular file")
        check(stat.S_ISSOCK(os.stat(daemon.socket_path).st_mode), "the socket is replaced")
        folder = scratch.file("folder")
        os.mkdir(folder)
        shell("saveconfig", folder, status=1, text="not a regular file")
        check(not os.path.exists(scratch.file("backup")), "a folder for backups of a folder")


def output_and_input_without_end(scratch):
    """An answer that cannot be written is a failure; a line without end is refused."""
    with Daemon(scratch, "endless") as daemon:
        command = [farblock.program("farblock"), "--socket", daemon.socket_path]
        with open("/dev/full", "wb") as full:
            done = subprocess.run([*command, "ls"], stdout=full, stderr=subprocess.PIPE,
                                  timeout=30, check=False)
        check(done.returncode == 1 and b"write error" in done.stderr, f"onto /dev/full: {done}")
        Shell(daemon)("-c", "/dev/zero", status=2, text="/dev/zero:1: line longer than 1048576")


def restart(scratch):
    """What was configured is there after SIGTERM and after SIGKILL."""
    with Daemon(scratch, "restart") as daemon:
        shell = Shell(daemon)
        path = scratch.file("restart.img")
        shell("/backstores/fileio", "create", "f0", path, "8M")
        shell("/iscsi", "create", IQN)
        before = daemon.saved()
        for end in (daemon.stop, daemon.kill):
            end()
            daemon.start()
            shell("/backstores/fileio/f0", "status", text="(8.0MiB)")
            shell(f"/iscsi/{IQN}/tpg1", "status")
        shell("saveconfig")
        after = daemon.saved()
        for saved in (before, after):
            del saved["farblock"]["generation"], saved["farblock"]["change"]
        check(before == after, "the saved file is another one after restarts")


def late_binding(scratch):
    """A file that comes late is taken, at the next look or at SIGHUP at the latest."""
    path = scratch.file("late.img")
    config = farblock.Config()
    disk = config.storage("fileio", "late", dev=path, size=1 << 20, write_back=True)
    target = config.target([disk])
    with Daemon(scratch, "late", config.text()) as daemon:
        shell = Shell(daemon)
        shell(disk, "status", text="waiting")
        url = f"iscsi://127.0.0.1:{target.port}"
        check("Lun:" not in farblock.run(["iscsi-ls", "-s", url], check=False).stdout,
               "a LUN without its storage is shown")
        scratch.file("late.img", size=1 << 20)
        daemon.signal(signal.SIGHUP)
        end = time.monotonic() + 20
        while "waiting" in shell(disk, "status"):
            check(time.monotonic() < end, "the file is there and the storage still waits")
        check("Lun:0" in farblock.run(["iscsi-ls", "-s", url]).stdout, "the LUN is not shown")


def hostile_clients(scratch):
    """Garbage, half requests and too many clients leave the daemon answering."""
    with Daemon(scratch, "hostile") as daemon:
        shell = Shell(daemon)
        clients = []
        for number in range(100):
            client = socket.socket(socket.AF_UNIX)
            client.connect(daemon.socket_path)
            clients.append(client)
            try:
                client.sendall(b"\xff\x00{[" * (number + 1))
            except (BrokenPipeError, ConnectionResetError):
                pass  # one more than the daemon takes
        told = daemon.log().count("the idlest one is closed")
        check(told == 1, f"too many clients are told {told} times")
        for client in clients:
            client.close()
        end = time.monotonic() + 20
        while farblock.run(["farblock", "--socket", daemon.socket_path, "version"],
                           check=False).returncode:
            check(time.monotonic() < end, "clients that are gone keep others out")


def request_without_end(scratch):
    """A client whose request is longer than the limit is dropped. A slow machine does not reach
    root's limit within the time of a request, so for root the client is another user."""
    own = os.geteuid()
    with Daemon(scratch, "request") as daemon, socket.socket(socket.AF_UNIX) as client:
        if own == 0:
            os.chmod(scratch.path, 0o755)
            os.chmod(daemon.socket_path, 0o666)
            os.seteuid(OTHER_USER)
        try:
            client.connect(daemon.socket_path)
        finally:
            os.seteuid(own)
        client.settimeout(10)
        try:
            while True:
                client.sendall(b"x" * 65536)
        except (BrokenPipeError, ConnectionResetError):
            pass
        Shell(daemon)("version", text="farblock version")
        check("longer than" in daemon.log(), "a request without end is not told")


def main():
    for test in (wrong_flags, wrong_places, missing_folders, damaged_files, twin_serials,
                 second_daemon, shell_statuses, batch_in_a_transaction, malformed_lines,
                 wrong_flags_as_json, long_batch, line_by_line, recoverable_errors,
                 restored_again, what_is_no_file, output_and_input_without_end, restart,
                 late_binding, hostile_clients, request_without_end):
        with farblock.Scratch() as scratch:
            test(scratch)
        print(f"{test.__name__}: passed")
    return 0


if __name__ == "__main__":
    farblock.main(main)
