/* SPDX-License-Identifier: Apache-2.0 */
/* The templates of a topology's sequences, compiled, and the keys of those
 * that shuffle, each read once. */
#pragma once

#include "config/arena.h"
#include "config/schema.h"
#include "config/secret.h"
#include "queue/queue.h"

struct compiled;
struct key_file;

/* Zeroed holds none. */
struct templates {
    struct arena *arena; /* of the lists and the keys, not of the templates */
    struct compiled *first;
    struct key_file *keys;
};

/* Compiles the sequence's template, if it has one, into the options, whose
 * period is known, and adds to their terms what it shuffles with. What is wrong
 * with it or its key file is a mistake. */
void templates_add(struct templates *templates,
                   const struct secret_reader *reader,
                   const struct draft_sequence *sequence,
                   struct queue_sequence_options *out);

/* Before the arena is freed, and what the templates point to. */
void templates_free(struct templates *templates);
