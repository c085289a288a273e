# SPDX-License-Identifier: BSD-2-Clause
"""The old connection breaks while a login on another worker takes its place: two threads agree on
who ends what, and the new session is there."""

from protocol import *

main(reinstate_while_it_breaks, cpus=(0, 1))
