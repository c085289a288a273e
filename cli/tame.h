// SPDX-License-Identifier: BSD-2-Clause
// What comes from elsewhere on its way to a terminal: characters that would do something there
// (utf8_is_control()) instead of being read. Pure functions.
#pragma once

#include <stdio.h>

// Puts ? in the place of such characters in a JSON text, also where its strings have them as
// escapes. Line ends and tabs stay: trees and help have several lines.
void tame_json(char *json);

// Prints a JSON text with those of its characters as escapes, which is the same to whoever parses
// it. What is below U+0020 in its strings has to be an escape already, as RFC 8259 wants it.
void tame_print(FILE *out, const char *json);
