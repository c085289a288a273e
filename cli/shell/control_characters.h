// SPDX-License-Identifier: BSD-2-Clause
// Makes untrusted text safe for a terminal: replaces characters that a terminal would interpret
// (utf8_is_control()). Pure functions.
#pragma once

#include <stdio.h>

// Replaces such characters in a JSON text with ?, also if they are escaped in strings. Line ends
// and tabs stay: trees and help have several lines.
void control_mask_json(char *json);

// Prints a JSON text with these characters as escapes, which is equivalent for a parser. Characters
// below U+0020 in strings must be escaped already (RFC 8259).
void control_print_json(FILE *out, const char *json);
