// SPDX-License-Identifier: BSD-2-Clause
// Annotations for ThreadSanitizer; empty in any other build.
#pragma once

#include <stddef.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *memory, size_t len,
			     const char *why);
#endif

// Memory that serves as a medium: initiators on several workers read and write it. Ordering
// accesses to the same blocks is their task; we take no lock. Commands that must be atomic, such as
// COMPARE AND WRITE, have tests of their outcome.
static inline void sanitize_medium(const void *memory, size_t len)
{
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
	AnnotateBenignRaceSized(__FILE__, __LINE__, memory, len, "a medium");
#else
	(void)memory;
	(void)len;
#endif
}
