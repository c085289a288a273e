#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The HTTP server: what it tells is OpenMetrics by the judgement of Prometheus's own parser for
Python and by the rules promtool has, follows what initiators do, and has no secrets; and it lives on
whatever clients send."""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from farblock import Config, Farblockd, Scratch, check, eventually, free_port  # noqa: E402

SECRET, MUTUAL = "secret-of-16-byt", "mutual-of-16-byt"
INITIATOR = "iqn.2025-01.org.example:client"


OPENMETRICS = "Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n"


def get(port, path="/metrics", method="GET", headers="Host: localhost\r\n" + OPENMETRICS,
        host="127.0.0.1", timeout=20):
    """Status, headers and body of one request on a connection of its own."""
    with socket.create_connection((host, port), timeout=timeout) as peer:
        peer.sendall(f"{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n".encode())
        answer = b""
        while True:
            part = peer.recv(65536)
            if not part:
                break
            answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    return int(lines[0].split()[1]), lines[1:], body.decode()


class Daemon(Farblockd):
    def __init__(self, scratch, config, name="farblockd"):
        super().__init__(scratch, config, name)
        self.port = free_port()
        self.metrics = f"127.0.0.1:{self.port}"

    def wait_http(self):
        self.wait_connect(("127.0.0.1", self.port))
        return self


def samples(text):
    """name{labels} without their order: value, of our own reading."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, labels, value = re.fullmatch(r"([a-z_]+)(?:\{(.*)\})? (\S+)", line).groups()
            pairs = re.findall(r'([a-z]+)="((?:[^"\\]|\\.)*)"', labels or "")
            found[(name, frozenset(pairs))] = float(value)
    return found


def value(text, name, **labels):
    hits = [v for (n, have), v in samples(text).items() if n == name and
            set(labels.items()) <= set(have)]
    check(len(hits) == 1, f"{name}{labels}: {len(hits)} samples")
    return hits[0]


PARSE = """import sys
from prometheus_client.openmetrics import parser
print(len(list(parser.text_string_to_metric_families(sys.stdin.read()))))"""
PARSE_PLAIN = PARSE.replace("prometheus_client.openmetrics", "prometheus_client")


def parse(text, how=PARSE):
    """By Prometheus's own parser. It is a package of the system's Python, not of any other."""
    for python in ("/usr/bin/python3", sys.executable):
        if not os.access(python, os.X_OK) or subprocess.run(
                [python, "-c", "import prometheus_client.openmetrics"], capture_output=True,
                check=False).returncode:
            continue
        done = subprocess.run([python, "-c", how], input=text, text=True, capture_output=True,
                              check=False)
        check(done.returncode == 0 and int(done.stdout) > 25, f"parser: {done.stderr[-800:]}")
        return
    raise farblock.Skip("prometheus_client for Python is not installed")


def rules(text):
    """promtool's: everything has a help; units end names; nothing is named twice, says its type in
    its name, or counts without _total; and histograms go up to +Inf."""
    check(text.endswith("# EOF\n") and text.count("# EOF") == 1, "no end")
    names = re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M)
    check(len(names) == len({n for n, _ in names}) > 25, f"{len(names)} families")
    helps = dict(re.findall(r"^# HELP (\S+) (.+)$", text, re.M))
    units = dict(re.findall(r"^# UNIT (\S+) (\S+)$", text, re.M))
    for name, kind in names:
        check(name.startswith("farblock_") and name == name.lower(), name)
        check(helps.get(name, "").endswith("."), f"{name}: no help")
        check(not re.search(r"_(total|count|sum|bucket|info|gauge|counter|histogram)$", name), name)
        for word, unit in (("_bytes", "bytes"), ("_seconds", "seconds"), ("_ratio", "ratio")):
            check(name.endswith(word) == (units.get(name) == unit), f"{name}: unit")
        check(not re.search(r"_(milli|micro|kilo|mega|percent)", name), f"{name}: no base unit")
        ours = [n for n, _ in samples(text) if re.fullmatch(
            name + {"counter": "_total", "info": "_info", "gauge": "",
                    "histogram": "_(?:bucket|count|sum)"}[kind], n)]
        check(ours or kind in ("gauge", "info", "histogram", "counter"), f"{name}: no samples")
    for (name, labels), v in samples(text).items():
        base = re.sub(r"_(total|info|bucket|count|sum)$", "", name)
        check(base in dict(names) or name in dict(names), f"{name}: of no family")
        if name.endswith("_bucket") and ("le", "+Inf") in labels:
            rest = labels - {("le", "+Inf")}
            check(samples(text)[(base + "_count", rest)] == v, f"{base}: +Inf is not the count")


def who_asks_for_nothing_gets_plain_text(daemon):
    """The format of every client that does not know OpenMetrics; promtool is one."""
    rich = get(daemon.port)[2]
    status, headers, text = get(daemon.port, headers="Host: localhost\r\nAccept: */*\r\n")
    check(status == 200 and "Content-Type: text/plain; version=0.0.4; charset=utf-8" in headers,
          f"{status}: {headers}")
    parse(text, PARSE_PLAIN)
    check({n for n, _ in samples(text)} == {n for n, _ in samples(rich)}, "other samples")
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    check(set(kinds.values()) == {"counter", "gauge", "histogram"}, f"types {set(kinds.values())}")
    check(kinds["farblock_lun_read_bytes_total"] == "counter", "a counter is called otherwise")
    tool = shutil.which("promtool")
    done = tool and subprocess.run([tool, "check", "metrics"], input=text, text=True,
                                   capture_output=True, check=False)
    check(not done or (done.returncode, done.stderr) == (0, ""), f"promtool: {done and done.stderr}")


def config_of(scratch):
    config = Config()
    disks = [config.ramdisk("rd0", 16 << 20),
             config.fileio('we"ird\\name', scratch.file("weird.img"), 8 << 20)]
    config.fileio("gone", scratch.file("gone.img"), 8 << 20)
    os.unlink(scratch.file("gone.img"))
    target = config.target(disks, attributes={"authentication": 1, "generate_node_acls": 0})
    config.targets[0]["tpgs"][0]["node_acls"] = [{
        "node_wwn": INITIATOR, "attributes": {}, "chap_userid": "user", "chap_password": SECRET,
        "chap_mutual_userid": "target", "chap_mutual_password": MUTUAL,
        "mapped_luns": [{"index": i, "tpg_lun": i, "write_protect": False, "alias": f"m{i}"}
                        for i in range(2)]}]
    return config, target


def initiator(target, scratch, *words, name=INITIATOR, lun=0, **options):
    return farblock.run(["farblock-initiator", words[0], target.url(lun), *words[1:],
                         "--initiator-name", name, "--chap-user", "user", "--chap-secret-file",
                         scratch.file("secret", content=SECRET)], **options)


def tells_what_happens(daemon, target, scratch):
    before = get(daemon.port)[2]
    initiator(target, scratch, "write", "--input", scratch.file("data", size=1 << 20))
    initiator(target, scratch, "luns", name=INITIATOR + "x", check=False)
    after = get_fresh(daemon.port, before)
    disk = "/backstores/ramdisk/rd0"
    check(value(after, "farblock_lun_written_bytes_total", backstore=disk) == 1 << 20, "written")
    writes = value(after, "farblock_lun_commands_total", backstore=disk, op="write")
    check(writes > 0, "no commands")
    check(value(after, "farblock_lun_command_duration_seconds_count", backstore=disk,
                op="write") == writes, "histogram")
    check(value(after, "farblock_logins_total", result="acl") == 1, "refused login")
    check(value(after, "farblock_logins_total", result="ok") == 1, "login")
    check(value(after, "farblock_lun_up", backstore="/backstores/fileio/gone") == 0, "waiting")
    check(value(after, "farblock_lun_size_bytes", backstore=disk) == 16 << 20, "size")
    check(value(after, "farblock_portal_up", target=target.iqn) == 1, "portal")
    check(value(after, "farblock_lun_info", target=target.iqn, lun="0", backstore=disk) == 1, "lun")
    check(value(after, "farblock_sessions", target=target.iqn, transport="tcp") == 0, "sessions")
    check(value(after, "farblock_rdma_cq_errors_total", worker="0") == 0, "completions in error")
    rules(after)
    return after


def get_fresh(port, old):
    """An answer is kept for a moment; the next one after it differs by the CPU time."""
    eventually("another answer", lambda: get(port)[2] != old)
    eventually("what a session did", lambda: "farblock_lun_written_bytes_total{backstore=\"/backst"
               "ores/ramdisk/rd0\"} 0\n" not in get(port)[2])
    return get(port)[2]


def live_sessions_are_there(daemon, target, scratch):
    words = ["farblock-initiator", "bench", target.url().replace("iscsi:", "iser:"), "--time",
             "600", "--initiator-name", INITIATOR, "--chap-user", "user", "--chap-secret-file",
             scratch.file("secret")]
    bench = farblock.Process(scratch, "bench")
    bench.spawn(words)
    try:
        eventually("a session over iSER", lambda: value(
            get(daemon.port)[2], "farblock_sessions", target=target.iqn, transport="iser") == 1)
        text = get(daemon.port)[2]
        check(value(text, "farblock_session_info", initiator=INITIATOR, transport="iser",
                    carrier="iWARP", acl="static") == 1, "session")
        status = json.loads(get(daemon.port, "/status.json")[2])
        session, = status["sessions"]
        check(session["auth"].startswith("CHAP SHA3-256"), session["auth"])
        return text + json.dumps(status)
    finally:
        bench.kill()


def only_three_paths(daemon):
    status, headers, page = get(daemon.port, "/")
    check(status == 200 and "<title>farblock</title>" in page, "no page")
    policy, = (h for h in headers if h.startswith("Content-Security-Policy: "))
    check("default-src 'none'" in policy and "unsafe" not in policy, policy)
    check(not re.search(r'(?:src|href)\s*=|https?://(?!www\.w3\.org/2000/svg)|@import|url\(', page),
          "the page loads something")
    for path in ("/metricsx", "//", "/../etc/passwd", "/metrics/", "/%00", "/status.json/.."):
        check(get(daemon.port, path)[0] in (400, 404), path)
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "HEAD", "BREW", "CONNECT"):
        check(get(daemon.port, method=method)[0] == 405, method)
    check(get(daemon.port, headers="Host: x.example\r\n")[0] == 403, "a foreign name was answered")
    for host in ("127.0.0.1", "localhost:9287", "[::1]:80", "LOCALHOST"):
        check(get(daemon.port, headers=f"Host: {host}\r\n")[0] == 200, host)
    check(get(daemon.port, headers="Host: a\r\nContent-Length: 9\r\n")[0] == 400, "a body")


def lives_on(daemon):
    """Garbage, endless headers, floods of connections that say nothing, or half a request."""
    garbage = [b"\0" * 4096, os.urandom(65536), b"GET " + b"/" * 100000, b"\r\n" * 5000,
               b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20000, b"GET / HTTP/9.9\r\n\r\n",
               b"GET /metrics HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
               b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"\x16\x03\x01\x02\x00"]
    for data in garbage:
        with socket.create_connection(("127.0.0.1", daemon.port), timeout=20) as peer:
            try:
                peer.sendall(data)
            except OSError:
                pass  # it was closed over that
        check(get(daemon.port)[0] == 200, f"not answered after {data[:20]}")
    crowd = []
    for i in range(60):
        peer = socket.create_connection(("127.0.0.1", daemon.port), timeout=20)
        if i % 2:
            peer.sendall(b"GET /metrics HTTP/1.1\r\nHost: a")
        crowd.append(peer)
    check(daemon.rpc("version")["pid"] == daemon.pid, "the control socket is held up")
    for peer in crowd:
        peer.close()
    eventually("an answer after the crowd", lambda: answers(daemon))


def slow_ones_keep_nobody_out(daemon):
    """However many say nothing, half a request, or read no answer: the next one gets its own. The
    server gives each of them 30 seconds; newcomers do not wait for that."""
    for text in (b"", b"GET /metrics HTTP/1.1\r\nHost: a", b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        with contextlib.ExitStack() as crowd:
            for _ in range(150):
                peer = socket.create_connection(("127.0.0.1", daemon.port), timeout=10)
                crowd.enter_context(peer).sendall(text)
            for _ in range(3):
                check(get(daemon.port, timeout=10)[0] == 200, f"not answered beside {text}")


def answers(daemon):
    try:
        return get(daemon.port)[0] == 200
    except (OSError, IndexError):
        return False


def has_no_secrets(text, daemon):
    for secret in (SECRET, MUTUAL):
        check(secret not in text and secret not in daemon.log(), "a secret is told")


def waits_for_its_port(scratch):
    """Serving disks does not wait for the address of the metrics; they come when it is free."""
    daemon = Daemon(scratch, Config(), "second")
    # With SO_REUSEADDR: closed connections of an earlier test may be left on the port.
    with socket.create_server(("127.0.0.1", daemon.port)) as taken:
        with daemon:
            eventually("a word about it", lambda: "metrics: 127.0.0.1" in daemon.log())
            taken.close()
            eventually("the server", lambda: answers(daemon))


def main():
    with Scratch() as scratch:
        config, target = config_of(scratch)
        with Daemon(scratch, config) as daemon:
            daemon.wait_http()
            text = tells_what_happens(daemon, target, scratch)
            text += live_sessions_are_there(daemon, target, scratch)
            only_three_paths(daemon)
            lives_on(daemon)
            slow_ones_keep_nobody_out(daemon)
            has_no_secrets(text, daemon)
            rules(get(daemon.port)[2])
            parse(get(daemon.port)[2])
            who_asks_for_nothing_gets_plain_text(daemon)
        waits_for_its_port(scratch)


if __name__ == "__main__":
    farblock.main(main)
