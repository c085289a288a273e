// SPDX-License-Identifier: BSD-2-Clause
// The status page: one static file with its style and script, and the policy that lets a browser
// run only these two.
#pragma once

#include <stddef.h>

const char *page_text(size_t *ret_len);

enum { PAGE_POLICY_MAX = 400 };
// Content-Security-Policy with the hashes of the page's style and script (CSP 3, 2.3.1).
void page_policy(char out[PAGE_POLICY_MAX]);
