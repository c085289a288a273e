// SPDX-License-Identifier: BSD-2-Clause
// UTF-8 [RFC 3629] in text that somebody else wrote. Pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Bytes of the sequence at s (left bytes remain, at least 1), 0 when it is malformed. Overlong
// forms, surrogates and values past U+10FFFF are malformed: one text must have one spelling.
size_t utf8_len(const uint8_t *s, size_t left);

// Whether a text is well-formed to its end.
bool utf8_is_fine(const char *text);
// Puts a ? in place of every byte that is none of a well-formed sequence.
void utf8_mend(char *text);
