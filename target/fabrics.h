// SPDX-License-Identifier: BSD-2-Clause
// The fabrics of farblockd: a line for each.
#pragma once

struct fabric_ops;

extern struct fabric_ops *const farblockd_fabrics[]; // ends with NULL
