/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registered fields for tests and fuzzers of templates: of several phases, of
 * fixed and of varying length. Each writes a digest of all that it may look at,
 * and those that can parse know it again: what a view shows of a number must
 * be the same when its text is read.
 */
#pragma once

#include <stdbool.h>

/*
 * Registers all of them, once in a process. A name tells the phase:
 *   fix0 fix3 fix5 fix9  of fixed length
 *   var0 var3 var5 var9  of varying length, letters "abc", "+*", "xyz", "#="
 *   any0 any9            of fixed length; take any text for theirs
 * False if one was refused.
 */
bool own_fields_register(void);
