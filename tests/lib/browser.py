# SPDX-License-Identifier: BSD-2-Clause
"""A page in headless Chromium, driven by its DevTools protocol over a pipe: loaded at a width, asked
by JavaScript, drawn into a PNG.

    with Browser(scratch) as browser:
        browser.open(url, width=390)
        browser.until("something is there", "document.querySelector('td')")
"""

import base64
import fcntl
import json
import os
import select
import subprocess
import time

from farblock import Failure, check, program

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--remote-debugging-pipe"]


def as_descriptors(*files):
    """Chromium reads commands from descriptor 3 and answers on 4."""
    moved = [fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 10) for file in files]
    for number, file in enumerate(moved, 3):
        os.dup2(file, number)


class Browser:
    def __init__(self, scratch):
        self.scratch, self.id, self.buffer, self.session = scratch, 0, b"", None
        self.process = None

    def __enter__(self):
        chromium = program("chromium")
        (theirs_in, self.write_fd), (self.read_fd, theirs_out) = os.pipe(), os.pipe()
        try:
            with open(self.scratch.file("chromium.log"), "ab") as log:
                self.process = subprocess.Popen(
                    [chromium, *FLAGS, f"--user-data-dir={self.scratch.file('chromium')}",
                     "about:blank"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    start_new_session=True, close_fds=False,
                    preexec_fn=lambda: as_descriptors(theirs_in, theirs_out),
                    env={**os.environ, "HOME": self.scratch.path})
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return self

    def __exit__(self, *_):
        os.close(self.write_fd)  # its parent is gone: it ends, and its children with it
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read_fd)

    def call(self, method, **params):
        """The result of one command; events in between are dropped."""
        self.id += 1
        request = {"id": self.id, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write_fd, json.dumps(request).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self.id:
                check("error" not in answer, f"{method}: {answer.get('error')}")
                return answer["result"]

    def _receive(self):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_fd], [], [], 60)
            part = os.read(self.read_fd, 1 << 20) if ready else b""
            check(part, "chromium: no answer (see chromium.log)")
            self.buffer += part
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def open(self, url, width=1280, height=800, is_dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])
        self.call("Page.navigate", url=url)
        self.until("the page", f"document.readyState === 'complete' && location.href === {json.dumps(url)}")

    def ask(self, expression):
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        check("exceptionDetails" not in answer, f"{expression}: {answer.get('exceptionDetails')}")
        return answer["result"].get("value")

    def until(self, what, expression, timeout=60):
        """The first value of an expression that is true, looked at again and again."""
        end = time.monotonic() + timeout
        while True:
            value = self.ask(expression)
            if value:
                return value
            if time.monotonic() > end:
                raise Failure(f"{what}: not within {timeout} s: {self.ask('document.body.innerText')}")
            time.sleep(0.05)

    def screenshot(self, path, is_whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=is_whole)["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))
