// SPDX-License-Identifier: BSD-2-Clause
// UTF-8 [RFC 3629] in untrusted text. Pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Bytes of the sequence at s (left bytes remain, at least 1), 0 when it is malformed. Overlong
// forms, surrogates and values past U+10FFFF are malformed: one text must have one spelling.
size_t utf8_len(const uint8_t *s, size_t left);

// Whether a well-formed sequence of n bytes is a control character (C0, DEL, C1) or one that
// reverses the direction of text, has no width or ends a line: anything that a terminal interprets
// instead of showing it [RFC 3722 prohibits them in iSCSI names].
bool utf8_is_control(const uint8_t *s, size_t n);
bool utf8_is_control_number(uint32_t c); // the same of a code point

// Whether a text is well-formed to its end.
bool utf8_is_fine(const char *text);
// Replaces every byte outside a well-formed sequence with '?'.
void utf8_mend(char *text);
// The same, and every byte of a control character: the result is one line that terminals, logs and
// JSON viewers show unchanged.
void utf8_tame(char *text);
// The same without loss: control characters become \u009b, malformed bytes
// \xff. Writes as many whole characters as fit into size bytes (at least 4); a truncated
// result ends with "...".
void utf8_show(const char *text, char *ret, size_t size);
