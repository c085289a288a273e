#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures what hostile peers cost the others. Needs no rights; by hand, on a quiet machine.

    tests/bench/hostile.py latency    the slowest answer that four sessions get on the worker that
                                      one unauthenticated peer floods with 3 MB of discovery
                                      requests, in five ways (to be below 100 ms)
    tests/bench/hostile.py crowd      the memory that 2,000 hostile connections of each kind take
                                      (to be at most 64 MiB), and how long a login takes meanwhile
                                      (to be at most 1 s)

FARBLOCK_BUILD names another build to measure. Exit status 1: a limit was passed.
"""

import argparse
import collections
import multiprocessing
import os
import resource
import select
import socket
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(os.path.dirname(HERE), folder) for folder in ("protocol", "lib")]
import farblock  # noqa: E402
import iser_raw  # noqa: E402
from iser import IserPeer  # noqa: E402
from protocol import (F, LOGIN, NONE, NOP_IN, NOP_OUT, TEXT, Daemon, Pdu, Peer,  # noqa: E402
                      make_config, text)

FLOOD = 3 << 20
SECONDS = 10  # of a flood, at most
CROWD = 2000
ALL = text({"SendTargets": "All"})
FORK = multiprocessing.get_context("fork")


def serve(targets, arguments=(), **options):
    """A daemon with one worker, in a context manager."""
    scratch = farblock.Scratch(in_memory=True)
    config = make_config(scratch, targets=targets, **options)
    daemon = Daemon(scratch, config, cpus=(0,), arguments=arguments)
    portal = config.targets[0]["tpgs"][0]["portals"][0]
    daemon.target = farblock.Target(config.targets[0]["wwn"],
                                    [(portal["ip_address"], portal["port"])])
    return daemon


# --- latency ---

def victim(daemon, number, results, is_over):
    peer = daemon.session(isid=bytes([0x80, 0, 0, 0, 2, number]), timeout=300)
    peer.log = collections.deque(maxlen=16)
    results.put(None)
    worst = count = 0
    while not is_over.is_set():
        begin = time.monotonic()
        if number % 2:
            pdu = peer.send(peer.request(NOP_OUT, immediate=True, ttt=NONE))
            peer.expect(NOP_IN, itt=pdu.itt)
        else:
            peer.read(0, 8)
        worst, count = max(worst, time.monotonic() - begin), count + 1
    results.put((worst, count))


def requests(peer, data, immediate, size=FLOOD):
    out, have = [], 0
    while have < size:
        out.append(peer.request(TEXT, data=data, ttt=NONE, immediate=immediate).wire())
        have += len(out[-1])
    return b"".join(out)


def flood(daemon, peers, data, immediate, reads):
    """Sends the flood over all of peers and takes the answers, until the last one has come or the
    time is over."""
    end, left, poll, silent = time.monotonic() + SECONDS, {}, select.epoll(), 0
    for peer in peers:
        raw = memoryview(requests(peer, data, immediate, FLOOD // len(peers)))
        left[peer.socket.fileno()] = [peer.socket, raw]
        peer.socket.setblocking(False)
        poll.register(peer.socket, select.EPOLLIN * reads | select.EPOLLOUT)
    while time.monotonic() < end and left and silent < 5:
        silent += 1
        for fd, events in poll.poll(0.2):
            one, silent = left[fd], 0
            try:
                if events & select.EPOLLOUT:
                    one[1] = one[1][one[0].send(one[1][:65536]):]
                if events & ~select.EPOLLOUT and not one[0].recv(1 << 20):
                    raise ConnectionError
            except BlockingIOError:
                continue
            except OSError:
                poll.unregister(fd)
                del left[fd]
                continue
            if not one[1]:
                poll.modify(fd, select.EPOLLIN * reads)


KEYS = text([("SendTargets", "All")] * 128)
FLOODS = [  # what, connections, data of a request, immediate, reads the answers
    ("no other sessions (for comparison)", 0, ALL, True, True),
    ("128 times the key in each request", 1, KEYS, True, True),
    ("small immediate requests", 1, ALL, True, True),
    ("small requests in turn", 1, ALL, False, True),
    ("small immediate requests, unread", 1, ALL, True, False),
    ("the same over 64 connections, read", 64, ALL, True, True),
]


def latency(_):
    failed = False
    for what, count, data, immediate, reads in FLOODS:
        with serve(300) as daemon:
            results, is_over = FORK.Queue(), FORK.Event()
            victims = [FORK.Process(target=victim, args=(daemon, n, results, is_over))
                       for n in range(4)]
            for one in victims:
                one.start()
            for _ in victims:
                results.get(timeout=60)
            peers = [daemon.connect(isid=bytes([0x80, 0, 0, 0, 3, n])) for n in range(count)]
            for peer in peers:
                peer.login(discovery=True)
            if peers:
                flood(daemon, peers, data, immediate, reads)
            else:
                time.sleep(SECONDS / 2)
            is_over.set()
            found = [results.get(timeout=300) for _ in victims]
            for peer in peers:
                peer.close()
            for one in victims:
                one.join()
        worst = max(w for w, _ in found)
        failed |= count and worst >= 0.1
        print(f"{what}: worst of four sessions {1000 * worst:.1f} ms "
              f"({sum(n for _, n in found)} answers)", flush=True)
    return failed


# --- crowd ---

def silent(daemon, n):
    return socket.create_connection(daemon.target.portals[0], 20)


def cut_login(daemon, n):
    peer = daemon.connect(isid=bytes((0x80, 1, 0, 0, n >> 8, n & 255)))
    raw = Pdu(LOGIN, 0x87, text(peer.names()) + b"X-a=" + b"a" * 7000 + b"\0", immediate=True,
              itt=1, isid=peer.isid, cmd_sn=1).wire()
    peer.send_bytes(raw[:-4])
    return peer.socket


def half_login(daemon, n):
    peer = daemon.connect(isid=bytes((0x80, 2, 0, 0, n >> 8, n & 255)))
    for _ in range(2):
        peer.send_bytes(peer.login_pdu(b"a" * 8000, stage=0, transit=False, more=True).wire())
    return peer.socket


def discovery(daemon, n):
    return daemon.connect(isid=bytes((0x80, 3, 0, 0, n >> 8, n & 255))).login(discovery=True)


def idle_discovery(daemon, n):
    return discovery(daemon, n).socket


def cut_text(daemon, n):
    peer = discovery(daemon, n)
    peer.send_bytes(peer.request(TEXT, data=bytes(262140), ttt=NONE, immediate=True).wire()[:262000])
    return peer.socket


def cut_short_text(daemon, n):
    peer = discovery(daemon, n)
    peer.send_bytes(peer.request(TEXT, data=bytes(8188), ttt=NONE, immediate=True).wire()[:8000])
    return peer.socket


def held_texts(daemon, n):
    peer = discovery(daemon, n)
    peer.next_cmd_sn()
    for _ in range(8):
        peer.send(peer.request(TEXT, data=ALL + b"X-a=" + b"a" * 8000 + b"\0", ttt=NONE))
    return peer.socket


def unread_text(daemon, n):
    peer = discovery(daemon, n)
    peer.send_bytes(b"".join(peer.request(TEXT, data=ALL, ttt=NONE, immediate=True).wire()
                             for _ in range(64)))
    return peer.socket


def open_text(daemon, n):
    peer = discovery(daemon, n)
    peer.send(peer.request(TEXT, 0x40, data=b"a" * 8000, ttt=NONE, immediate=True))
    return peer.socket


def greeting(daemon, n):
    s = silent(daemon, n)
    s.sendall(iser_raw.mpa_request()[:10])
    return s


def idle_iser_discovery(daemon, n):
    peer = daemon.connect(IserPeer, isid=bytes((0x80, 4, 0, 0, n >> 8, n & 255)))
    return peer.login(discovery=True).socket


def login_loop(daemon, n):
    peer = daemon.session(isid=bytes((0x80, 5, 0, 0, n >> 8, n & 255)))
    peer.logout()
    return peer.socket


CROWDS = [silent, greeting, cut_login, half_login, idle_discovery, idle_iser_discovery, cut_text,
          cut_short_text, held_texts, unread_text, open_text, login_loop]


def tolerant(make, daemon, n):
    """A connection of the crowd; one that is refused or displaced meanwhile counts as made."""
    try:
        return make(daemon, n)
    except (farblock.Failure, OSError):
        return None


def log_in(daemon, isid):
    """Logs in, and tries again when that is refused, as initiators do."""
    for _ in range(100):
        try:
            daemon.session(isid=isid).logout()
            return
        except farblock.Failure:
            time.sleep(0.02)


def crowd(options):
    failed = False
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    for make in CROWDS:
        if options.only and make.__name__ not in options.only:
            continue
        with serve(300, arguments=("--log-level", "info")) as daemon:
            daemon.session().logout()
            before, most, slowest = daemon.memory(), 0, 0
            kept = []
            for n in range(CROWD):
                kept.append(tolerant(make, daemon, n))
                if n % 250 == 249:
                    begin = time.monotonic()
                    log_in(daemon, bytes((0x80, 9, 0, 0, n >> 8, n & 255)))
                    slowest = max(slowest, time.monotonic() - begin)
                    most = max(most, daemon.memory() - before)
            log = len(daemon.log())
            for one in kept:
                if one:
                    one.close()
            daemon.settle()
            after = daemon.memory() - before
        failed |= most > 64 << 20 or slowest > 1
        print(f"{make.__name__}: {most / (1 << 20):.1f} MiB, {after / (1 << 20):.1f} MiB when they "
              f"have gone; a login took {1000 * slowest:.0f} ms; {log >> 10} KiB of log",
              flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=("latency", "crowd"))
    parser.add_argument("--only", nargs="*", help="kinds of the crowd")
    options = parser.parse_args()
    return {"latency": latency, "crowd": crowd}[options.what](options)


farblock.main(main)
