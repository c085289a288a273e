// SPDX-License-Identifier: BSD-2-Clause
// Which configured objects work and which do not, for the status page. Control thread.
#pragma once

struct config;
struct json_object;

enum { HEALTH_LISTED = 100 };

// {"nodes": {class: count}, "problems": [{"path", "class", "text"}],
//  "problem_count", "luns_unavailable"}. The problems are the nodes that `ls` marks as broken, at
// most HEALTH_LISTED of them. LUNs and mapped LUNs are counted only: their disk is listed.
struct json_object *health_json(struct config *c);
