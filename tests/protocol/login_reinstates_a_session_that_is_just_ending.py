# SPDX-License-Identifier: BSD-2-Clause
"""The old connection breaks in the moment in which the new login takes its place: whichever
comes first, the new session is there and nothing of the old one is touched again."""

from protocol import *

main(reinstate_while_it_breaks)
