#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whole configurations: plan and apply, undo, transactions, revisions, restoring one object.

    documents.py
"""

import json
import os
import pwd
import socket
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import farblock  # noqa: E402
from farblock import check  # noqa: E402
import iscsi  # noqa: E402


class Client:
    """One connection of the control socket: a transaction is its."""

    def __init__(self, daemon):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(daemon.socket_path)
        self.lines = self.socket.makefile("rb")

    def call(self, method, **params):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        return json.loads(self.lines.readline())

    def run(self, command, *values, path="/", **more):
        """Sends the content of a file that it names, and writes the file of the answer."""
        values = list(values)
        while True:
            answer = self.call("tree.run", path=path, command=command, positional=values, **more)
            if answer.get("error", {}).get("data", {}).get("errno") != "EREMOTE":
                break
            at = answer["error"]["data"]["index"]
            values[at] = {"name": values[at], "document": None}
            if os.path.exists(values[at]["name"]):
                with open(values[at]["name"], encoding="utf-8") as text:
                    values[at]["document"] = json.load(text)
        if "error" in answer:
            raise farblock.Failure(answer["error"]["message"])
        result = answer["result"]
        if "file" in result:
            with open(result["file"]["name"], "w", encoding="utf-8") as text:
                text.write(result["file"]["text"])
        return result

    def refused(self, text, command, *values, path="/", **more):
        try:
            self.run(command, *values, path=path, **more)
        except farblock.Failure as why:
            check(text in str(why), f"{command}: '{why}' (without '{text}')")
        else:
            raise farblock.Failure(f"{command} {values} is not refused")

    def close(self):
        self.lines.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def start(scratch, **keys):
    config = farblock.Config()
    target = config.target(luns=[config.ramdisk("rd0", 8 << 20)], **keys)
    return farblock.Farblockd(scratch, config), target


def names(daemon, path="/backstores/ramdisk"):
    return [c["name"] for c in daemon.rpc("tree.ls", path=path, depth=1)["children"]]


def saved(daemon):
    with open(daemon.config_path, encoding="utf-8") as text:
        return json.load(text)


def put(scratch, name, doc):
    return scratch.file(name, content=json.dumps(doc))


def apply_touches_only_what_differs(scratch):
    daemon, target = start(scratch)
    with daemon, Client(daemon) as client:
        session = iscsi.Session(target.url())
        session.ready()
        client.run("create", "rd1", "4M", path="/backstores/ramdisk")
        doc = saved(daemon)
        doc["storage_objects"] = [s for s in doc["storage_objects"] if s["name"] == "rd0"]
        doc["storage_objects"].append({"plugin": "ramdisk", "name": "rd2", "size": 4 << 20})
        doc["targets"][0]["tpgs"][0]["luns"].append(
            {"index": 5, "storage_object": "/backstores/ramdisk/rd2"})
        doc["targets"][0]["tpgs"][0]["attributes"]["login_timeout"] = 20
        path, before = put(scratch, "wish.json", doc), saved(daemon)
        lines = client.run("plan", path)["messages"]
        check("- /backstores/ramdisk/rd1" in lines and "+ /backstores/ramdisk/rd2" in lines and
               f"+ /iscsi/{target.iqn}/tpg1/luns/lun5" in lines and
               f"  /iscsi/{target.iqn}/tpg1: attributes login_timeout: 15 -> 20" in lines, lines)
        check(saved(daemon) == before and names(daemon) == ["rd0", "rd1"], "plan has changed it")
        done = client.run("apply", path)["messages"]
        check(done[:4] == lines[:4], f"planned {lines}, done {done}")
        check(names(daemon) == ["rd0", "rd2"], names(daemon))
        again = client.run("apply", path)["messages"]
        check("Nothing to do" in again[-1] and len(again) == 1, again)
        sessions = daemon.rpc("session.list")
        session.ready()
        check(len(sessions) == 1, "the session has not gone on")
        session.logout()


def a_setting_that_only_farblock_has_is_applied(scratch):
    """The first one of an object, and the end of the last one."""
    daemon, target = start(scratch)
    path = f"/iscsi/{target.iqn}/tpg1"
    with daemon, Client(daemon) as client:
        client.run("saveconfig")
        doc = saved(daemon)
        doc["farblock"]["objects"][path]["attribute"] = {"allowed_addresses": "127.0.0.0/8"}
        for wish, line in ((doc, "nothing -> 127.0.0.0/8"), (saved(daemon), "127.0.0.0/8 -> nothing")):
            lines = client.run("apply", put(scratch, "wish.json", wish))["messages"]
            check(f"  {path}: attribute allowed_addresses: {line}" in lines, lines)
            row = client.run("get", "attribute", "allowed_addresses", path=path)["data"]["rows"][0]
            check(row["value"] == ("" if line.endswith("nothing") else "127.0.0.0/8"), row)


def apply_refuses_what_would_have_no_effect(scratch):
    """A value or an entry that is invalid, unless it is there already, as other targets' files have
    such; the portal that serves stays. With force=true it is kept."""
    daemon, target = start(scratch)
    with daemon, Client(daemon) as client:
        client.run("saveconfig")
        doc = saved(daemon)
        tpg = doc["targets"][0]["tpgs"][0]
        for part, key, value in ((tpg["attributes"], "nopin_timeout", "x"),
                                 (tpg["portals"][0], "port", 99999)):
            part[key] = value
            path = put(scratch, "wish.json", doc)
            check("would be refused: tpg1: " in client.run("plan", path)["messages"][-1], key)
            client.refused(key, "apply", path)
            iscsi.Session(target.url()).logout()
            if key != "port":
                client.run("apply", path, "true")
                client.run("apply", path)


def write(target, initiator="iqn.2025-01.org.farblock:writer"):
    session = iscsi.Session(target.url(), initiator=initiator)
    session.ready()
    check(session.run(iscsi.write16(0, 8), data_out=b"x" * 4096).is_good, "WRITE")
    session.logout()


def holds_what_was_written(target):
    session = iscsi.Session(target.url())
    session.ready()
    data = session.run(iscsi.read16(0, 8), read_len=4096).data_in
    session.logout()
    return bytes(data) == b"x" * 4096


def resized(scratch, daemon):
    doc = saved(daemon)
    doc["storage_objects"][0]["size"] = 16 << 20
    return put(scratch, "size.json", doc)


def size_of(daemon):
    return daemon.rpc("tree.info", path="/backstores/ramdisk/rd0")["size"]


def apply_recreates_what_is_another_disk(scratch):
    """A RAM disk that was never written is replaced without a question."""
    daemon, target = start(scratch)
    with daemon, Client(daemon) as client:
        check(not holds_what_was_written(target), "blocks that were only read")
        lines = client.run("apply", resized(scratch, daemon))["messages"]
        check(not any("data" in l for l in lines), lines)
        check(names(daemon, f"/iscsi/{target.iqn}/tpg1/luns") == ["lun0"], "its LUN is gone")
        check(size_of(daemon) == 16 << 20, "size")
        client.refused("everything would be deleted", "apply", put(scratch, "empty.json", {"targets": []}))


def apply_asks_before_data_is_lost(scratch):
    daemon, target = start(scratch)
    with daemon, Client(daemon) as client:
        write(target)
        path, before = resized(scratch, daemon), saved(daemon)
        lines = client.run("plan", path)["messages"]
        check("Note: ramdisk rd0 will be recreated; its data will be lost" in lines and
              any("force=true" in l for l in lines), lines)
        client.refused("the data of RAM disk rd0 would be lost (force=true)", "apply", path)
        check(saved(daemon) == before and size_of(daemon) == 8 << 20, "refused and changed")
        check(holds_what_was_written(target), "the data is gone")
        lines = client.run("apply", path, named={"force": "true"})["messages"]
        check("Note: ramdisk rd0 will be recreated; its data will be lost" in lines, lines)
        check(size_of(daemon) == 16 << 20 and not holds_what_was_written(target), "not applied")


def undo_asks_before_data_is_lost(scratch):
    """Of a disk that it would delete; one that has grown keeps its size and data."""
    daemon, target = start(scratch)
    with daemon, Client(daemon) as client:
        client.run("resize", "12M", path="/backstores/ramdisk/rd0")
        write(target)
        client.refused("ramdisk rd0: size: cannot shrink", "undo")
        check(holds_what_was_written(target) and size_of(daemon) == 12 << 20, "undone")
        farblock.eventually("the session ends", lambda: not daemon.rpc("session.list"))
        client.run("delete", "0", path=f"/iscsi/{target.iqn}/tpg1/luns")
        client.refused("block_size: the data of RAM disk rd0 would be lost", "set", "attribute",
                       path="/backstores/ramdisk/rd0", named={"block_size": 4096})
        client.run("undo")
        check(holds_what_was_written(target), "the LUN is back, its data is not")
        doc = saved(daemon)
        doc["storage_objects"][0]["name"] = "other"
        doc["targets"][0]["tpgs"][0]["luns"] = []
        lines = client.run("plan", put(scratch, "gone.json", doc))["messages"]
        check("Note: ramdisk rd0 will be deleted; its data will be lost" in lines, lines)
        client.run("undo", "3", named={"force": "true"})
        check(size_of(daemon) == 8 << 20, "not undone")


def undo_goes_back_change_by_change(scratch):
    daemon, target = start(scratch)
    with daemon, Client(daemon) as client:
        session = iscsi.Session(target.url())
        session.ready()
        for name in ("a", "b", "c"):
            client.run("create", name, "4M", path="/backstores/ramdisk")
        listed = client.run("generations")
        check([g["undo"] for g in listed["data"]] == [1, 2, 3], listed)
        numbers = [g["generation"] for g in listed["data"]]
        check(numbers[0] == numbers[1] + 1, f"generations {numbers}")
        client.run("undo")
        check(names(daemon) == ["a", "b", "rd0"], names(daemon))
        client.run("undo")
        check(names(daemon) == ["a", "b", "c", "rd0"], "undo of undo")
        client.run("undo", "4")
        check(names(daemon) == ["a", "rd0"], names(daemon))
        client.refused("no generation 99 steps back", "undo", "99")
        session.ready()
        session.logout()


def each_generation_names_its_change(scratch):
    """What undo of it takes back, by whom, whether it was one command, a batch or a transaction."""
    daemon, target = start(scratch)
    tpg = f"/iscsi/{target.iqn}/tpg1"
    with daemon, Client(daemon) as client:
        client.run("create", "a", "4M", path="/backstores/ramdisk")
        client.run("set", "auth", path=tpg, named={"userid": "u", "password": "top-secret-12"})
        client.refused("already exists", "create", "a", "4M", path="/backstores/ramdisk")
        client.run("begin")
        client.run("create", "b", "4M", path="/backstores/ramdisk")
        client.refused("already exists", "create", "b", "4M", path="/backstores/ramdisk")
        client.run("disable", path=tpg)
        client.run("commit")
        client.run("begin")
        client.run("enable", path=tpg)
        client.run("abort")
        client.call("tree.batch", commands=[
            {"path": "/backstores/ramdisk", "command": "create", "positional": [f"r{i}", "64k"]}
            for i in range(25)])
        client.run("create", "quiet", "64k", path="/backstores/ramdisk")
        rows = client.run("generations")["data"]
        batch = "; ".join(f"/backstores/ramdisk create r{i} 64k" for i in range(20))
        wanted = ["/backstores/ramdisk create quiet 64k", f"{batch}; and 5 more",
                  f"/backstores/ramdisk create b 4M; {tpg} disable",
                  f"{tpg} set auth userid password", "/backstores/ramdisk create a 4M"]
        check([row["change"] for row in rows] == wanted, rows)
        who = f"{pwd.getpwuid(os.getuid()).pw_name}, process {os.getpid()}"
        check(all(row["by"] == who and row["replaced"] for row in rows), rows)
        check("top-secret-12" not in json.dumps(saved(daemon)["farblock"]), "a secret")
        client.run("undo", "3")
        check("b" not in names(daemon) and "a" in names(daemon), names(daemon))
    with daemon, Client(daemon) as client:  # started again
        client.run("create", "late", "4M", path="/backstores/ramdisk")
        rows = client.run("generations")["data"]
        check([row["change"] for row in rows][1:4] == ["undo 3", *wanted[:2]], rows)


def every_path_that_is_named_exists(scratch):
    """Before or after: of iSCSI, SRP, and what is only kept."""
    daemon, target = start(scratch)
    gid, port = "ib.fe800000000000000002c903000a1b2c", "ib.0002c903000d5f010002c903000d5f01"
    srpt, host = f"/srpt/{gid}", "iqn.2025-01.org.example:h"
    with daemon, Client(daemon) as client:
        empty = scratch.file("empty.json")
        client.run("saveconfig", empty)
        client.run("create", gid, path="/srpt")
        client.run("create", "ramdisk/rd0", "3", path=f"{srpt}/luns")
        client.run("create", port, path=f"{srpt}/acls")
        client.run("set", "attribute", path=srpt, named={"use_srq": 1})
        client.run("create", host, path=f"/iscsi/{target.iqn}/tpg1/acls")
        client.run("create", "::1", "3999", path=f"/iscsi/{target.iqn}/tpg1/portals")
        client.run("create", "g", "7", path="/backstores/ramdisk/rd0/alua")
        doc = saved(daemon)
        doc["storage_objects"].append({"plugin": "user:rbd", "name": "i", "alua_tpgs": [{"name": "x"}]})
        doc["targets"].append({"fabric": "vhost", "wwn": "naa.1", "tpgs": [{"tag": 1, "luns": []}]})
        full = put(scratch, "full.json", doc)
        lines, there = [], set()
        for wish in (full, empty, full):
            lines += client.run("apply", wish)["messages"]
            there |= paths_of(daemon)
        named = {line[2:].split(": ")[0] for line in lines if line[:2] in ("+ ", "- ", "  ")}
        check(f"{srpt}/luns/lun3" in named and "/vhost/naa.1" in named, sorted(named))
        check(not named - there, f"no such paths: {sorted(named - there)}")


def paths_of(daemon):
    def walk(node, path):
        yield path
        for child in node.get("children", []):
            yield from walk(child, f"{path}/{child['name']}" if path != "/" else f"/{child['name']}")
    return set(walk(daemon.rpc("tree.ls"), "/"))


def an_edited_file_is_told_of_and_can_be_applied(scratch):
    daemon, _ = start(scratch)
    with daemon, Client(daemon) as client:
        client.run("create", "a", "4M", path="/backstores/ramdisk")
        doc = saved(daemon)
        next(o for o in doc["storage_objects"] if o["name"] == "a")["name"] = "edited"
        with open(daemon.config_path, "w", encoding="utf-8") as file:
            json.dump(doc, file)
        told = client.run("create", "b", "4M", path="/backstores/ramdisk")["messages"]
        check(any("had been edited" in line for line in told), told)
        told = client.run("create", "c", "4M", path="/backstores/ramdisk")["messages"]
        check(len(told) == 1, f"told twice: {told}")
        client.run("undo", "2")
        check(names(daemon) == ["edited", "rd0"], names(daemon))


def transaction_takes_effect_with_commit(scratch):
    daemon, target = start(scratch)
    with daemon, Client(daemon) as client, Client(daemon) as other:
        before = saved(daemon)
        luns = f"/iscsi/{target.iqn}/tpg1/luns"
        check(client.run("begin").get("transaction") is True, "begin tells of no transaction")
        check("transaction" not in other.run("generations"), "another client's transaction")
        client.run("create", "rd1", "4M", path="/backstores/ramdisk")
        client.run("create", "/backstores/ramdisk/rd1", path=luns)
        lines = client.run("diff")["messages"]
        check("+ /backstores/ramdisk/rd1" in lines and f"+ {luns}/lun1" in lines, lines)
        check(saved(daemon) == before, "saved before commit")
        session = iscsi.Session(target.url())
        session.ready()
        code = session.run(bytes.fromhex("a00000000000000001000000"), read_len=256)
        check(int.from_bytes(code.data_in[:4], "big") == 8, "a LUN is visible before commit")
        other.refused(f"process {os.getpid()} (uid {os.getuid()}) has a transaction open since",
                      "create", "x", "4M", path="/backstores/ramdisk")
        client.refused("a transaction is open", "saveconfig")
        done = client.run("commit")
        check("Committed" in done["messages"][0] and "transaction" not in done, f"commit: {done}")
        check(len(saved(daemon)["targets"][0]["tpgs"][0]["luns"]) == 2, "not saved")
        other.run("create", "x", "4M", path="/backstores/ramdisk")
        client.run("begin")
        client.run("delete", "x", path="/backstores/ramdisk")
        client.run("delete", "0", path=luns, named={"force": "true"})
        client.run("set", "attribute", path="/backstores/ramdisk/rd1", named={"emulate_tpu": 1})
        client.run("abort")
        check(names(daemon) == ["rd0", "rd1", "x"] and names(daemon, luns) == ["lun0", "lun1"],
               "abort")
        check("No differences" in client.run("diff")["messages"][0], "abort leaves something")
        client.refused("no transaction is open", "commit")
        session.logout()


def aborted_resize_is_saved(scratch):
    """A disk cannot shrink: the saved file has its size, and everything else as before."""
    daemon, _ = start(scratch)
    with daemon, Client(daemon) as client:
        client.run("create", "f", scratch.file("f.img"), "1M", path="/backstores/fileio")
        wish = saved(daemon)
        client.run("begin")
        client.run("resize", "2M", path="/backstores/fileio/f")
        client.run("create", "gone", "4M", path="/backstores/ramdisk")
        told = client.run("abort")["messages"]
        check(told == ["Undone, except resize: a disk cannot shrink."], told)
        check("No differences" in client.run("diff")["messages"][0], client.run("diff"))
        next(o for o in wish["storage_objects"] if o["name"] == "f")["size"] = 2 << 20
        check(saved(daemon)["storage_objects"] == wish["storage_objects"], saved(daemon))
        client.run("undo")
        check(names(daemon, "/backstores/fileio") == [], "undo of the change before begin")


def transaction_ends_with_its_client_or_its_time(scratch):
    daemon, _ = start(scratch)
    with daemon, Client(daemon) as other:
        with Client(daemon) as client:
            client.run("begin")
            client.run("create", "gone", "4M", path="/backstores/ramdisk")
        farblock.eventually("a client that leaves ends its transaction",
                            lambda: names(daemon) == ["rd0"])
        other.run("begin", "1")
        other.run("create", "late", "4M", path="/backstores/ramdisk")
        farblock.eventually("a transaction ends in time", lambda: names(daemon) == ["rd0"])
        other.refused("was undone", "create", "alone", "4M", path="/backstores/ramdisk")
        other.refused("was undone", "commit")
        other.run("abort")
        other.run("create", "alone", "4M", path="/backstores/ramdisk")
        check(names(daemon) == ["alone", "rd0"], names(daemon))


def stale_write_is_refused(scratch):
    daemon, _ = start(scratch)
    with daemon, Client(daemon) as one, Client(daemon) as two:
        seen = one.run("create", "a", "4M", path="/backstores/ramdisk")["revision"]
        newer = two.run("create", "b", "4M", path="/backstores/ramdisk", revision=seen)["revision"]
        check(newer == seen + 1, f"revision {newer} after {seen}")
        one.refused("another client changed it", "create", "c", "4M", path="/backstores/ramdisk",
                    revision=seen)
        check(names(daemon) == ["a", "b", "rd0"], "two shells do not see each other's changes")
        shell = ["farblock", "--socket", daemon.socket_path, "--revision"]
        words = ["/backstores/ramdisk", "create", "c", "4M"]
        done = farblock.run([*shell, str(seen), *words], check=False)
        check(done.returncode == 9 and "read it again" in done.stdout, done.stdout)
        farblock.run([*shell, str(newer), *words])
        check("c" in names(daemon), "the shell with the right revision is refused")


def failures_have_their_exit_status(scratch):
    daemon, target = start(scratch)
    file = scratch.file("file.img")
    with open(file, "wb") as image:
        image.truncate(1 << 20)
    rows = [(["commit"], 3), (["abort"], 3), (["-c", scratch.file("none")], 3), (["undo"], 5),
            (["/backstores/block", "create", "b", file], 8), (["--revision", "99", "commit"], 9)]
    with daemon, Client(daemon) as client:
        client.run("resize", "12M", path="/backstores/ramdisk/rd0")
        write(target)
        for words, status in rows:
            done = farblock.run(["farblock", "--socket", daemon.socket_path, *words], check=False)
            check(done.returncode == status, f"{words}: {done.returncode}, {done.stdout}")


def one_object_is_restored_alone(scratch):
    daemon, target = start(scratch)
    with daemon, Client(daemon) as client:
        copy = scratch.file("copy.json")
        client.run("saveconfig", copy)
        session = iscsi.Session(target.url())
        session.ready()
        client.run("set", "attribute", path="/backstores/ramdisk/rd0", named={"emulate_tpu": 1})
        client.run("create", "rd9", "4M", path="/backstores/ramdisk")
        client.run("restoreconfig", copy, "true", path="/", named={"storage_object": "rd0"})
        value = daemon.rpc("tree.get", path="/backstores/ramdisk/rd0", group="attribute",
                           parameter="emulate_tpu")["rows"][0]["value"]
        check(value == "0" and names(daemon) == ["rd0", "rd9"], f"{value}, {names(daemon)}")
        session.ready()
        path = f"/iscsi/{target.iqn}/tpg1"
        client.run("set", "attribute", path=path, named={"login_timeout": 30})
        client.run("restoreconfig", copy, "no", named={"target": target.iqn})
        kept = lambda: daemon.rpc("tree.get", path=path, group="attribute",
                                  parameter="login_timeout")["rows"][0]["value"]
        check(kept() == "30", "clear_existing=no has replaced the target")
        client.run("restoreconfig", copy, "yes", named={"target": target.iqn})
        check(kept() == "15", "the target is not restored")
        session.ready()
        session.logout()


def main():
    for test in (apply_touches_only_what_differs, apply_refuses_what_would_have_no_effect, a_setting_that_only_farblock_has_is_applied,
                 apply_recreates_what_is_another_disk, apply_asks_before_data_is_lost,
                 undo_asks_before_data_is_lost,
                 undo_goes_back_change_by_change, each_generation_names_its_change, every_path_that_is_named_exists, an_edited_file_is_told_of_and_can_be_applied,
                 transaction_takes_effect_with_commit, aborted_resize_is_saved,
                 transaction_ends_with_its_client_or_its_time, stale_write_is_refused,
                 failures_have_their_exit_status, one_object_is_restored_alone):
        with farblock.Scratch() as scratch:
            test(scratch)
        print(f"{test.__name__}: passed")
    return 0


if __name__ == "__main__":
    farblock.main(main)
