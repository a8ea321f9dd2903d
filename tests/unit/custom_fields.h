/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registered fields for tests and fuzzers of templates, of several phases, with
 * fixed and with varying length. Each field writes a digest of all that it may
 * read; those that can parse compare it. This checks that a field sees the same
 * of a number when its text is parsed.
 */
#pragma once

#include <stdbool.h>

/*
 * Registers all of them. Call it once in a process. A name says the phase:
 *   fix0 fix3 fix5 fix9  fixed length
 *   var0 var3 var5 var9  varying length, letters "abc", "+*", "xyz", "#="
 *   any0 any9            fixed length; accept any text when parsing
 * False if one was refused.
 */
bool own_fields_register(void);
