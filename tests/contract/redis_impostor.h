/* SPDX-License-Identifier: Apache-2.0 */
/* What passes for a Redis server that is a master: an impostor that begins with
 * the answers to a sound session. */
#pragma once

#include "contract/impostor.h"

#define RUN_ID "0123456789012345678901234567890123456789"
#define REPLID "abcdefabcdefabcdefabcdefabcdefabcdefabcd"

#define TEXT_SIZE 2048 /* of what it says */

/* Adds a text as a reply. */
void add_bulk(char out[static TEXT_SIZE], const char *text);

/* A sound beginning of a session, and then `answers`. */
void session_make(char out[static TEXT_SIZE], const char *answers);

/* Starts an impostor that says that. */
void master_start(struct impostor *impostor, const char *answers,
                  enum after after);

/* The same, and opens a backend. */
void session_start(struct impostor *impostor, const char *answers,
                   enum after after);
