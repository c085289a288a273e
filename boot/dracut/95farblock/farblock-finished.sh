#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The queue is not finished before the root disk is attached.
! getarg farblock.root= >/dev/null || [ -e /run/farblock-boot/root-attached ]
