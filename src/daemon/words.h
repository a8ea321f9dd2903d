/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a request: what one says, and the errors that many commands
 * answer alike. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/resp.h"

struct session;

/* Whether a word is `text`, letter case aside. */
bool word_is(struct resp_slice word, const char *text);

/* Parses a whole decimal integer; false if it is anything else. */
bool word_to_integer(struct resp_slice word, long long *out);

/* How many bytes of a client's own word an error shows. */
int word_shown(struct resp_slice word);

/* As word_to_integer; false after answering the error, in Redis's words. */
bool command_integer(struct session *session, struct resp_slice word,
                     long long *out);

/* Reads what may stand behind the first `count` words: STR, and then `*out` is
 * true. False, after answering the error, if anything else does. */
bool command_is_text(struct session *session,
                     const struct resp_request *request, size_t count,
                     bool *out);
