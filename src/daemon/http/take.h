/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command of the Redis protocol that is carried out for an exchange: it
 * checks, waits in line and fails as if a client had sent it. Private to this
 * folder.
 */
#pragma once

#include <stdbool.h>

struct exchange;
struct take;

/* One whose reply, if it is a list, becomes the member `list` of an object with
 * the sequence's key; a map is the object. NULL after answering that memory is
 * short. */
struct take *take_new(struct exchange *exchange, const char *list);

/* The next word of the command; of it only the first RESP_ARGUMENTS_MAX count,
 * and take_start refuses more. */
void take_add(struct take *take, const char *word);

/* Carries it out, and answers now or later. Owns the take. */
void take_start(struct take *take);
