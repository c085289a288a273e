#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""docs/srp.md: what it tells to type is typed, with paths and addresses of this machine."""

import os
import re
import shlex
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import farblock  # noqa: E402
from farblock import check  # noqa: E402

PORT = "00000000000000000002c903000e8acd"
FOREIGN = ("restoreconfig", "import")  # of files that are not there


def lines(mark):
    with open(os.path.join(farblock.SOURCE, "docs/srp.md"), encoding="utf-8") as page:
        return re.findall(rf"^    {mark} (.+)$", page.read(), re.M)


def guide_as_typed(scratch, daemon):
    typed = "\n".join(lines(r"/\S*>")).replace("/srv/", scratch.path + "/")
    check("luns/ create" in typed and typed.endswith("exit"), f"the page has another guide: {typed}")
    done = farblock.run(["farblock", "--socket", daemon.socket_path, "-c",
                         scratch.file("guide", content=typed + "\n")], check=False)
    check(not done.returncode, done.stdout)
    for said in ("Created target ib.", "Created LUN 0.", "Created mapped LUN 0.", "port 3261."):
        check(said in done.stdout, done.stdout)
    return re.search(r"ib\.\S+", done.stdout).group(0).rstrip(".")


def commands_as_typed(scratch, daemon, portal):
    """Those of initiators with the port identifier that the ACL has."""
    count = 0
    for line in lines(r"\$"):
        words = shlex.split(line.replace("/srv/", scratch.path + "/"))
        words = [re.sub(r"192\.0\.2\.2(:3261)?", portal, word) for word in words]
        if words[1] in FOREIGN:
            continue
        if words[0] == "farblock":
            words[1:1] = ["--socket", daemon.socket_path]
        else:
            words += ["--initiator-port", f"{PORT[:16]}:{PORT[16:]}"]
        done = farblock.run(words, check=False)
        check(not done.returncode, f"{line}: status {done.returncode}: {done.stdout}")
        count += 1
    return count


def main():
    with farblock.Scratch() as scratch:
        with farblock.Farblockd(scratch, farblock.Config()) as daemon:
            name = guide_as_typed(scratch, daemon)
            portal = f"127.0.0.1:{farblock.free_port()}"
            daemon.rpc("tree.run", command="create", path=f"/srpt/{name}/portals",
                       named=dict(zip(("ip_address", "ip_port"), portal.split(":"))))
            print(commands_as_typed(scratch, daemon, portal), "commands as typed")
    return 0


if __name__ == "__main__":
    farblock.main(main)
