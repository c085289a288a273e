#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""attach --via socket: a LUN as an NBD export on a Unix socket, with QEMU's tools as its clients."""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from attachment import Attachments  # noqa: E402
from initiator import end, start  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, eventually, main, program, run  # noqa: E402

MIB = 1 << 20
SIZE = 64 * MIB
VIA = ("--via", "socket")
ODD = os.fsdecode(b"\xff")  # not UTF-8


def image(scratch, size=SIZE):
    return scratch.file("source.img", content=random.Random(7).randbytes(size))


def convert(source, url, **options):
    return subprocess.Popen(["qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", source, url],
                            **options)


def compare(source, url):
    run(["qemu-img", "compare", "-f", "raw", "-F", "raw", source, url])


def qemu_writes_and_reads(scratch, attachments, target):
    url = attachments.attach(target.url(), "--via", "socket", "--name", "disk")
    check(url == f"nbd+unix:///?socket={attachments.run_dir}/disk.nbd", url)
    source = image(scratch)
    check(convert(source, url).wait() == 0, "qemu-img convert")
    compare(source, url)
    run(["qemu-io", "-f", "raw", "-c", "write -f -P 90 4096 1M", "-c", "write -z 2M 64k",
         "-c", "flush", "-c", "read -P 90 4096 1M", "-c", "read -P 0 2M 64k", url])
    for what in ("flush", "fua", "multi-conn"):  # whatever the disk has
        run(["nbdinfo", "--can", what, url])
    status = attachments.one("disk")
    check(status["state"] == "attached" and status["bytes"] == SIZE, f"{status}")
    check([p["state"] for p in status["paths"]] == ["up"], f"{status}")


def a_used_export_is_not_detached(attachments):
    client = attachments.client("disk")
    text = attachments.detach("disk", status=28)
    check("used by 1 client" in text, text)
    client.communicate(b"quit\n")
    eventually("the client's end",
               lambda: "used by" not in attachments.command("detach", "disk", status=None))


def is_gone(attachments):
    check(attachments.list() == [], f"{attachments.list()}")
    left = sorted(os.listdir(attachments.run_dir))
    # .nexuses: of processes that were killed, or detached by force under a target that had gone
    kept = (".disk", ".lock", ".log", ".nexuses")
    check([f for f in left if not f.endswith(kept)] == [], f"left: {left}")
    text = attachments.detach("disk", status=21)
    check("disk: not attached" in text, text)


def a_killed_target_is_waited_for(scratch, attachments, config, target):
    """Over two paths, TCP and iSER; the target dies and returns under load."""
    iser = target.url().replace("iscsi://", "iser://")
    with Farblockd(scratch, config, "first") as daemon:
        url = attachments.attach(target.url(), iser, "--via", "socket", "--name", "disk")
        source = image(scratch)
        client = convert(source, url)
        eventually("writes", lambda: attachments.one("disk")["paths"][0]["commands"] > 4)
        daemon.kill()
    eventually("no path", lambda: attachments.one("disk")["state"] == "no-path")
    with Farblockd(scratch, config, "second"):
        check(client.wait() == 0, "qemu-img convert")
        compare(source, url)
        eventually("both paths", lambda: all(p["state"] == "up"
                                             for p in attachments.one("disk")["paths"]))
        attachments.detach("disk")


def force_ends_what_waits_for_a_target(scratch, attachments, config, target):
    with Farblockd(scratch, config, "third") as daemon:
        attachments.attach(target.url(), "--via", "socket", "--name", "disk")
        daemon.kill()
    eventually("no path", lambda: attachments.one("disk")["state"] == "no-path")
    client = attachments.client("disk")
    client.stdin.write(b"write 0 64k\n")
    client.stdin.flush()
    attachments.detach("disk", "--force")
    said = client.communicate(b"quit\n")[0]
    check(b"failed" in said, f"the client's write: {said}")
    check(attachments.list() == [], "something is left")


def resized(config, size):
    config.storage_objects[0]["size"] = size


def a_disk_that_grew_while_the_target_was_away_is_the_same(scratch, attachments, config, target):
    """And one that shrank is refused."""
    with Farblockd(scratch, config, "small"):
        url = attachments.attach(target.url(), "--via", "socket", "--name", "disk")
    resized(config, SIZE + MIB)
    os.truncate(scratch.file("disk.img"), SIZE + MIB)
    with Farblockd(scratch, config, "large"):
        eventually("the new size", lambda: attachments.one("disk")["bytes"] == SIZE + MIB)
        run(["qemu-io", "-f", "raw", "-c", f"write -P 7 {SIZE} 4k", "-c", f"read -P 7 {SIZE} 4k",
             url])
        check(attachments.one("disk")["state"] == "attached", f"{attachments.one('disk')}")
    resized(config, SIZE)
    os.truncate(scratch.file("disk.img"), SIZE)
    with Farblockd(scratch, config, "small again"):
        eventually("the refusal", lambda: attachments.one("disk")["state"] == "another-disk")
        said = attachments.log("disk")
        check("the size changed from" in said and "check the disk" in said, said)
        attachments.detach("disk")


def refusals_say_why(attachments, target):
    run_dir = attachments.run_dir
    port = f"{1:016x}:{2:016x}"
    srp = f"srp://127.0.0.1/{port}/0"
    for words, text in (
            ((target.url(), "--via", "floppy"), "--via 'floppy': must be one of ublk"),
            ((target.url(), "--name", "../x"), "--name '../x': must be"),
            ((target.url(), "--policy", "x"), "--policy 'x': must be service-time"),
            ((target.url(), "--no-path-retry", "-1"), "--no-path-retry"),
            ((target.url(), "--fence", "x"), "--fence 'x': must be auto or reservation"),
            ((target.url(), "--fence", "reservation", "--shared"), "not --shared"),
            ((target.url(), "--at", "x"), "--at 'x': must be an absolute path"),
            ((target.url(), *VIA, "--at", f"{run_dir}/{ODD}"), "?': must be UTF-8"),
            ((target.url().replace("127", f"{ODD}@127"), *VIA), "must be UTF-8"),
            ((target.url(), *VIA, "--chap-user", ODD), "--chap-user '?': must be UTF-8"),
            ((target.url(), target.url()), "given twice"),
            ((target.url(), target.url().replace("iscsi", "iser", 1), "--isid", "800000000001"),
             "has the initiator port 800000000001, as iscsi://"),
            ((srp, srp.replace("127.0.0.1", "localhost"), "--initiator-port", port),
             f"has the initiator port {port}, as srp://"),
            ((), "missing URL")):
        said = attachments.attach(*words, status=2)
        check(text in said, f"{words}: {said}")
    said = attachments.attach(target.url(lun=9), "--via", "socket", status=21)
    check("LUN 9" in said, said)
    said = attachments.attach(target.url(), "--via", "socket", "--at", "/proc/x", status=1)
    check("/proc/x" in said, said)


def a_state_can_be_read_whatever_files_say(scratch, attachments, target):
    directory = scratch.file("iscsi")
    os.mkdir(directory)
    with open(f"{directory}/iscsid.conf", "w", encoding="utf-8", errors="surrogateescape") as f:
        for key, value in (("authmethod", "CHAP"), ("username", ODD), ("password", 16 * "x")):
            f.write(f"node.session.auth.{key} = {value}\n")
    attachments.attach(target.url(), *VIA, "--name", "odd", "--iscsi-dir", directory)
    check(attachments.one("odd")["paths"][0]["session"]["chap_user"] == "?", "chap_user")
    attachments.detach("odd")


def as_another_user(scratch, attachments, *words):
    tool = scratch.file("tool")
    if not os.path.exists(tool):
        shutil.copy(program("farblock-initiator"), tool)
    os.chmod(scratch.path, 0o755)
    done = subprocess.run([tool, *words, "--run-dir", attachments.run_dir], user=65534,
                          group=65534, extra_groups=[], text=True, capture_output=True, timeout=60,
                          check=False)
    os.chmod(scratch.path, 0o700)
    return done


def another_users_attachment_is_not_overwritten(scratch, attachments, target):
    attachments.attach(target.url(), "--via", "socket", "--name", "disk")
    done = as_another_user(scratch, attachments, "write", target.url(), "-i", "/dev/null")
    check(done.returncode and "cannot tell whether it is attached" in done.stderr,
          f"{done.returncode}: {done.stderr}")
    attachments.detach("disk")


def another_users_attachments_are_told(scratch, attachments, target):
    """In a directory that everybody may read."""
    attachments.attach(target.url(), *VIA, "--name", "disk")
    os.chmod(attachments.run_dir, 0o755)
    for words, text in ((("attached",), ""), (("attached", "--json"), "[\n]\n"),
                        (("attached", "disk"), ""), (("sessions",), ""),
                        (("sessions", "-P", "3", "disk"), "")):
        done = as_another_user(scratch, attachments, *words)
        check(done.returncode == 13 and done.stdout == text and "(run as root)" in done.stderr and
              done.stderr.count("\n") == 1, f"{words}: {done}")
    os.chmod(attachments.run_dir, 0o700)
    attachments.detach("disk")


def a_fifo_is_no_log(attachments, target):
    """To open it would wait for its reader."""
    os.mkfifo(f"{attachments.run_dir}/fifo.log")
    attachments.attach(target.url(), "--via", "socket", "--name", "fifo")
    attachments.detach("fifo")
    os.unlink(f"{attachments.run_dir}/fifo.log")


def a_name_is_attached_once(attachments, target):
    attachments.attach(target.url(), "--via", "socket", "--name", "disk")
    said = attachments.attach(target.url(), "--via", "socket", "--name", "disk", status=15)
    check("disk: attached already" in said, said)
    said = attachments.attach(target.url(), "--via", "socket", "--name", "other", status=28)
    check("is attached on this machine already" in said, said)
    for words in (("--read-only",), ("--shared",)):
        attachments.attach(target.url(), "--via", "socket", "--name", "other", *words)
        attachments.detach("other")
    said = attachments.command("write", target.url(), "-i", "/dev/null", status=1)
    check("it is attached on this machine, or another command writes it" in said, said)
    attachments.command("write", target.url(), "-i", "/dev/null", "--force")
    attachments.detach("--all")
    attachments.command("write", target.url(), "-i", "/dev/null")


def a_dead_process_leaves_its_name(attachments, target):
    attachments.attach(target.url(), "--via", "socket", "--name", "disk")
    os.kill(attachments.one("disk")["pid"], signal.SIGKILL)
    eventually("its end", lambda: attachments.one("disk")["state"] == "dead")
    attachments.attach(target.url(), "--via", "socket", "--name", "disk")
    check(attachments.one("disk")["state"] == "attached", "attached again")
    os.kill(attachments.one("disk")["pid"], signal.SIGKILL)
    eventually("its end", lambda: attachments.one("disk")["state"] == "dead")
    attachments.detach("disk")
    is_gone(attachments)


def slow_clients_delay_no_request(attachments, target):
    """More of them than there is room for; each sends half a request."""
    attachments.attach(target.url(), "--via", "socket", "--name", "disk")
    clients = []
    for _ in range(20):
        client = socket.socket(socket.AF_UNIX)
        client.connect(f"{attachments.run_dir}/disk.sock")
        client.send(b"sta")
        clients.append(client)
    since = time.monotonic()
    check(attachments.one("disk")["state"] == "attached", "attached")
    attachments.detach("disk")
    took = time.monotonic() - since
    for client in clients:
        client.close()
    check(took < 20, f"{took:.1f} s")  # each of the clients could have taken a second, or 30
    is_gone(attachments)


def a_stopped_process_is_not_dead(attachments, target):
    """It does not answer within the 30 s that a command waits."""
    attachments.attach(target.url(), "--via", "socket", "--name", "disk")
    pid = attachments.one("disk")["pid"]
    os.kill(pid, signal.SIGSTOP)
    place = ("--run-dir", attachments.run_dir)
    attached, sessions = start("attached", "--json", *place), start("sessions", *place)
    found, told = json.loads(end(attached)), end(sessions, status=8)
    os.kill(pid, signal.SIGCONT)
    check([a["state"] for a in found] == ["silent"], found)
    check("timed out" in told and "No active sessions" not in told, told)
    eventually("it answers", lambda: attachments.one("disk")["state"] == "attached")
    attachments.detach("disk")


def another_initiators_reservation_is_told(attachments, target):
    """Once in the log, and in attached until something can be written again."""
    url = attachments.attach(target.url(), "--via", "socket", "--name", "disk")
    check(attachments.one("disk")["notices"] == [], f"{attachments.one('disk')}")
    tool = [farblock.program("farblock-initiator"), "reserve", target.url()]
    other = ["--initiator-name", "iqn.2025-01.org.farblock:other"]
    run([*tool, "register", "--service-key", "7", *other])
    run([*tool, "reserve", "--key", "7", "--type", "write-exclusive", *other])
    said = run(["qemu-io", "-f", "raw", "-c", "write 0 64k", "-c", "write 0 64k", url],
               check=False).stdout
    check(said.count("write failed") == 2, said)
    status = attachments.one("disk")
    check(status["state"] == "reservation-conflict", f"{status}")
    check([n["notice"] for n in status["notices"]] == ["reservation-conflict"], f"{status}")
    text = "another initiator has reserved the disk"
    check(text in attachments.command("attached"), "attached")
    check(attachments.log("disk").count(text) == 1, attachments.log("disk"))
    run([*tool, "clear", "--key", "7", *other])
    run(["qemu-io", "-f", "raw", "-c", "write 0 64k", url])
    attachments.detach("disk")


def what_is_being_attached_is_told(attachments):
    """With the process that does it."""
    said = attachments.detach("disk", status=28)
    found = re.search(r"disk: a process is attaching it \(kill (\d+) ends that\)", said)
    check(found, said)
    with open(f"/proc/{found[1]}/cmdline", encoding="utf-8") as f:
        check("attach\0" in f.read(), "another process")
    check("other: not attached" in attachments.detach("other", status=21), "other")


def a_signal_undoes_an_attachment(attachments):
    """The target accepts and does not answer."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"iscsi://127.0.0.1:{silent.getsockname()[1]}/iqn.2025-01.org.farblock:x/0"
        tool = start("attach", url, "--via", "socket", "--name", "disk",
                     "--run-dir", attachments.run_dir, "--login-timeout", "600")
        with silent.accept()[0] as connection:
            connection.recv(48)  # the login request
            what_is_being_attached_is_told(attachments)
            tool.send_signal(signal.SIGINT)
            said = end(tool, 130)
    check("disk: interrupted" in said, said)
    check(attachments.list() == [], "something is left")


def a_broken_state_file_is_told(attachments):
    path = f"{attachments.run_dir}/broken.json"
    with open(path, "w", encoding="utf-8") as f:
        f.write("{")
    check(path in attachments.command("attached"), "attached")
    attachments.detach("broken", "--force")


def urls_of_two_disks_are_refused(attachments, target):
    said = attachments.attach(target.url(), target.url(1), "--via", "socket", "--name", "disk",
                              status=1)
    check("another disk (" in said and said.endswith(": the URLs are not paths of one disk"), said)
    check(attachments.list() == [], "something is left")


def paths_that_are_not_up_are_told(attachments, target):
    dead = f"iscsi://127.0.0.1:{farblock.free_port()}/{target.iqn}/0"
    said = attachments.attach(target.url(), dead, "--via", "socket", "--name", "disk").splitlines()
    check(len(said) == 2 and said[0].startswith(f"farblock-initiator: disk: path {dead} is not up: connecting: ")
          and "refused" in said[0] and said[1].startswith("nbd+unix://"), f"{said}")
    attachments.detach("disk")


def entries_are_attached(scratch, attachments, target):
    directory = scratch.file("attach.d")
    os.mkdir(directory)
    for name, text in (("one", f"# a disk\nurl = {target.url()}\nvia = socket\nread-only = yes\n"),
                       ("two", f"url = {target.url()}\nvia = socket\nstartup = manual\n"),
                       ("bad", "url = x\nurl\n")):
        with open(f"{directory}/{name}.conf", "w", encoding="utf-8") as f:
            f.write(text)
    said = attachments.attach("--all", "--entry-dir", directory, status=6)
    check("bad.conf: line 2: must be 'key = value'" in said, said)
    check([a["name"] for a in attachments.list()] == ["one"], f"{attachments.list()}")
    check(attachments.one("one")["read_only"], "read-only = yes")
    attachments.attach("two", "--entry-dir", directory)
    attachments.detach("--all")
    check(attachments.list() == [], "something is left")


def errors_of_entries_name_their_lines(scratch, attachments, target):
    """Those of options on the command line do not."""
    directory = scratch.file("odd.d")
    os.mkdir(directory)

    def attach(line, *words, status):
        with open(f"{directory}/odd.conf", "w", encoding="utf-8") as f:
            f.write(f"url = {target.url()}\nvia = socket\n{line}\n")
        return attachments.attach("odd", "--entry-dir", directory, *words, status=status)
    for line, text in (
            ("policy = x", "line 3: --policy 'x': must be service-time"),
            ("fence = x", "line 3: --fence 'x': must be auto or reservation"),
            ("depth = x", "line 3: --depth x: must be"),
            ("isid = 12", "line 3: --isid '12': must be 12 hex digits"),
            ("url = iscsi://127.0.0.1", "line 3: invalid URL: iscsi://127.0.0.1: no target"),
            (f"url = {target.url()}", f"{target.url()}: given twice"),
            ("name = x", "line 3: unknown key 'name'")):
        said = attach(line, status=6)
        check(f"initiator: {directory}/odd.conf: {text}" in said, f"{line}: {said}")
    for option in ("policy", "no-path-retry"):
        said = attach("policy = queue-depth", f"--{option}", "y", status=2)
        check(f"initiator: --{option} 'y': must be" in said, said)


def test():
    with Scratch() as scratch, Attachments(scratch) as attachments:
        config = Config()
        target = config.target([config.fileio("disk", scratch.file("disk.img"), SIZE),
                                config.fileio("other", scratch.file("other.img"), SIZE)])
        with Farblockd(scratch, config):
            qemu_writes_and_reads(scratch, attachments, target)
            a_used_export_is_not_detached(attachments)
            is_gone(attachments)
            refusals_say_why(attachments, target)
            a_state_can_be_read_whatever_files_say(scratch, attachments, target)
            a_name_is_attached_once(attachments, target)
            another_users_attachment_is_not_overwritten(scratch, attachments, target)
            another_users_attachments_are_told(scratch, attachments, target)
            a_fifo_is_no_log(attachments, target)
            a_dead_process_leaves_its_name(attachments, target)
            slow_clients_delay_no_request(attachments, target)
            a_stopped_process_is_not_dead(attachments, target)
            another_initiators_reservation_is_told(attachments, target)
            a_signal_undoes_an_attachment(attachments)
            a_broken_state_file_is_told(attachments)
            urls_of_two_disks_are_refused(attachments, target)
            paths_that_are_not_up_are_told(attachments, target)
            entries_are_attached(scratch, attachments, target)
            errors_of_entries_name_their_lines(scratch, attachments, target)
        a_killed_target_is_waited_for(scratch, attachments, config, target)
        force_ends_what_waits_for_a_target(scratch, attachments, config, target)
        a_disk_that_grew_while_the_target_was_away_is_the_same(scratch, attachments, config, target)


main(test)
