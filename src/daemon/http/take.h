/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command of the Redis protocol that is executed for an exchange. It is
 * checked, waits in a waitlist and fails as if a client of the Redis protocol
 * had sent it. Private to this folder.
 */
#pragma once

#include <stdbool.h>

struct exchange;
struct take;

/* Returns a new command. If its reply is a list, the answer is an object with
 * the sequence's key and the list as member `list`; a map is the answer itself.
 * NULL after answering that memory is short. */
struct take *take_new(struct exchange *exchange, const char *list);

/* Adds the next word of the command, which is copied. Words beyond
 * RESP_ARGUMENTS_MAX are dropped, and take_start refuses the command then. */
void take_add(struct take *take, const char *word);

/* Executes the command, and answers now or later. Takes ownership of the
 * take. */
void take_start(struct take *take);
