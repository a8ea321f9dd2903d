/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP errors as problem details (RFC 9457). Private to this folder. */
#pragma once

#include <stddef.h>

struct exchange;

/* Answers an error. `code` is its machine-readable code, as in the Redis
 * protocol; `detail` is a sentence for people. */
void problem_answer(struct exchange *exchange, int status, const char *code,
                    const char *detail);

/* Answers that memory was short. */
void problem_answer_short(struct exchange *exchange);
