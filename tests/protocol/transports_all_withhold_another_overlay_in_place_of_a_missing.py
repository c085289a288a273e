# SPDX-License-Identifier: BSD-2-Clause
"""An overlay that was reset is the same LUN to sessions of all transports. Another overlay of the same
base in place of a missing one is withheld from them."""

from missing import *

FOLDER = "/backstores/fileio"


def make_overlays(daemon, base):
    """Two, of which none is in use."""
    make_file(base)
    for name in "own", "foreign":
        daemon.run_at(FOLDER, "create", name=name, file_or_dev=f"{daemon.path}.{name}", base=base)
        daemon.run_at(FOLDER, "delete", name=name)


def text(daemon, name, base):
    document = json.loads(daemon.document)
    for disk in document["storage_objects"]:
        if disk["name"] == "late":
            disk.update(name=name, base=base)
    return json.dumps(document).replace("fileio/late", f"fileio/{name}")


def test(daemon):
    base = f"{daemon.path}.base"
    first, second = text(daemon, "first", base), text(daemon, "second", base)
    make_overlays(daemon, base)
    apply(daemon, first)
    os.rename(f"{daemon.path}.own", daemon.path)
    daemon.run_at("/", "refresh")
    peers = daemon.sessions_of_all()
    become(peers, SERVED, TWO_LUNS)
    daemon.run_at(f"{FOLDER}/first", "reset", force=True)
    become(peers, SERVED, TWO_LUNS)
    os.rename(daemon.path, f"{daemon.path}.own")
    apply(daemon, second)
    become(peers, WAITING, TWO_LUNS)
    os.rename(f"{daemon.path}.foreign", daemon.path)
    daemon.run_at("/", "refresh")
    become(peers, WITHHELD, ONE_LUN)


main(test)
