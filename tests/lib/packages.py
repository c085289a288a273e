# SPDX-License-Identifier: BSD-2-Clause
"""The Debian packages that have nothing to compile, from the working tree."""

import os
import shutil

import farblock


def build(scratch):
    """Builds them; returns the path of each by its name."""
    source = scratch.file("build/farblock")
    for folder in ("boot", "debian", "etc"):
        shutil.copytree(f"{farblock.SOURCE}/{folder}", f"{source}/{folder}")
    farblock.run(["fakeroot", "debian/rules", "binary-indep"], cwd=source)
    return {name.partition("_")[0]: scratch.file(f"build/{name}")
            for name in os.listdir(scratch.file("build")) if name.endswith(".deb")}


def unpack(deb, root):
    """Returns the paths of the files below root."""
    farblock.run(["dpkg-deb", "-x", deb, root])
    return sorted(os.path.relpath(os.path.join(folder, name), root)
                  for folder, _, names in os.walk(root) for name in names)


def field(deb, name):
    return farblock.run(["dpkg-deb", "-f", deb, name]).stdout.strip()
