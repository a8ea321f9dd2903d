/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of HTTP as problem details (RFC 9457). Private to this folder. */
#pragma once

#include <stddef.h>

struct exchange;

/* Answers an error. `code` is the word by which programs tell it from others,
 * as in the Redis protocol; `detail` is a sentence for people. */
void problem_answer(struct exchange *exchange, int status, const char *code,
                    const char *detail);
